/** Runs one endpoint at one path: reads and validates the request, calls the handler and serializes its reply. */
import type { Data, Endpoint } from 'crypto-checkout/contract';
import type { Request, Response } from 'express';
import type { Database } from '../db/database.js';
import { invalidField } from '../shared/problem.js';
import { replyWith, type Context, type Handler, type Reply } from './handler.js';
import {
  readIdempotencyKey,
  type Idempotency,
  type KeyedReply,
  type OpenRecord,
  type PayerChange,
} from './idempotency.js';
import { checkEncoding } from './check-encoding.js';
import { readBody } from './read-body.js';
import type { AuditLog, NewAuditEntry } from '../merchants/audit-log.js';
import { requestIdOf } from '../ops/request.js';
import { placeholderNames } from './path-tree.js';
import type { Cookies, CookiesOf } from './cookies.js';
import type { Sessions } from './session.js';
import { createFindUnknown } from './unknown-fields.js';
import { createSerialize, createValidate } from './validate.js';
import type { Caller, PersonCaller, Visitor } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface OperationDeps {
  readonly database: Database;
  /** Undefined if the endpoints ignore `Idempotency-Key`. */
  readonly idempotency: Idempotency | undefined;
  /** Aborted when the server stops waiting for running requests. */
  readonly stopping: AbortSignal;
  /** Undefined if nobody can sign in. */
  readonly sessions: Sessions | undefined;
  readonly cookiesOf: CookiesOf;
  readonly auditLog: Pick<AuditLog, 'recordUnlessDone'>;
}

/** A request whose key has been checked. */
export interface Call {
  readonly request: Request;
  readonly response: Response;
  /** Undefined if the endpoint needs no key. */
  readonly caller?: Caller | undefined;
  /** Finds the caller again, as the request named it, and checks again that it may call. */
  readonly identify?: (() => Promise<Caller>) | undefined;
  /** The values of the path's placeholders, still percent-encoded. */
  readonly values: readonly string[];
}

/** If reading the body takes longer, the caller is authenticated again. */
const slowBodyMs = 1000;

/** Reads, validates and handles a call. */
export type RunOperation = (call: Call) => Promise<KeyedReply>;

/** @param name of the endpoint, `payments.create` */
export function createOperation<E extends Endpoint>(
  name: string,
  endpoint: E,
  path: string,
  handler: Handler<E>,
  deps: OperationDeps,
): RunOperation {
  const { database, idempotency, auditLog } = deps;
  const names = placeholderNames(path);
  const validate = createValidate(endpoint);
  const serialize = createSerialize(endpoint);
  const findUnknown = createFindUnknown(endpoint);
  const hasBody = endpoint.method !== 'GET';
  const isKeyed = endpoint.method === 'POST' || endpoint.method === 'PATCH';

  /** Runs the handler. With a record, its change and the stored reply commit together. */
  async function handle(
    call: Call,
    input: Parameters<typeof handler>[0],
    { record, note = '' }: { readonly record?: OpenRecord; readonly note?: string } = {},
  ): Promise<string> {
    const serialized = (reply: Reply<Data<E>>) => serialize(reply, note);
    let committed: string | undefined;
    const commit = async <D>(work: (transaction: Transaction) => Promise<Reply<D>>) => {
      if (committed !== undefined) throw new Error('A handler may call change() only once');
      let json = '';
      const reply = await database.write(async (transaction) => {
        await record?.claim(transaction);
        const result = await work(transaction);
        if (call.caller?.person && deps.sessions) {
          await auditLog.recordUnlessDone(
            transaction,
            entryOf(deps.sessions, name, call.caller, decodeParams(names, call.values), result.data),
          );
        }
        // Serialized inside the transaction, so that a reply that breaks the contract rolls its change back.
        json = serialized(result as Reply<Data<E>>);
        await record?.save(transaction, json);
        return result;
      });
      committed = json;
      return reply;
    };
    const context = new RequestContext(call, deps, (work) =>
      commit((transaction) => replyWith(work(transaction))),
    );
    const reply = await handler(input, context as unknown as Parameters<typeof handler>[1]);
    // The reply is stored even if the handler changed nothing.
    if (committed === undefined && record) await commit(() => Promise.resolve(reply));
    return committed ?? serialized(reply);
  }

  /** A public key changes only payments; the reply is the changed payment, or just a message. */
  function payersChange({ kind }: Caller, params: Readonly<Record<string, string>>): PayerChange | undefined {
    const paymentId = params['payment_id'];
    if (kind !== 'public' || endpoint.method !== 'PATCH' || paymentId === undefined) return undefined;
    return { paymentId, replyWith: (payment) => serialize({ data: payment } as Reply<Data<E>>) };
  }

  return async (given) => {
    const { request, values } = given;
    const params = decodeParams(names, values);
    checkEncoding(request.url);
    const startedAt = performance.now();
    const body = hasBody ? await readBody(request) : {};
    // The body can come as slowly as the sender likes, and a key or a session can end meanwhile.
    const isSlow = performance.now() - startedAt > slowBodyMs;
    const call = isSlow && given.identify ? { ...given, caller: await given.identify() } : given;
    const { caller } = call;
    const input = validate({ params, query: queryOf(request), body });
    // Live payments have no developer who watches.
    const note = caller?.mode === 'test' ? findUnknown(body) : '';
    const keyHeader = isKeyed && caller ? request.headers['idempotency-key'] : undefined;
    if (!idempotency || !caller || keyHeader === undefined)
      return { json: await handle(call, input, { note }), isReplay: false };
    return idempotency.once(
      {
        caller,
        method: endpoint.method,
        path: concretePath(path, params),
        key: readIdempotencyKey(String(keyHeader)),
        body: input.body,
        change: payersChange(caller, params),
      },
      (record) => handle(call, input, { record, note }),
    );
  };
}

/** Exposes to a handler what its kind of caller may see. */
class RequestContext implements Context {
  readonly requestId: string;
  readonly change: Context['change'];
  readonly setSession: Context['setSession'];
  readonly #call: Call;
  readonly #deps: OperationDeps;
  #signal: AbortSignal | undefined;

  constructor(call: Call, deps: OperationDeps, change: Context['change']) {
    this.#call = call;
    this.#deps = deps;
    this.requestId = requestIdOf(call.response);
    this.change = change;
    // Bound, as handlers take it out of the context.
    this.setSession = (token) => this.#sessions().send(call.response, token);
  }

  get cookies(): Cookies {
    return this.#deps.cookiesOf(this.#call.request, this.#call.response);
  }

  get visitor(): Visitor {
    return this.#sessions().visitorOf(this.#call.request, this.#call.response);
  }

  #sessions(): Sessions {
    if (!this.#deps.sessions) throw new Error('Nobody can sign in');
    return this.#deps.sessions;
  }

  /** Handlers of endpoints without a key cannot name it: their context has none. */
  get caller(): Caller {
    if (!this.#call.caller) throw new Error('This endpoint has no caller');
    return this.#call.caller;
  }

  /** Created on first use: most handlers do not need it, and it costs more than everything else here. */
  get signal(): AbortSignal {
    if (!this.#signal) {
      const disconnected = new AbortController();
      // A client can leave while its request waits for its turn.
      if (this.#call.response.destroyed) disconnected.abort();
      else this.#call.response.once('close', () => disconnected.abort());
      this.#signal = AbortSignal.any([disconnected.signal, this.#deps.stopping]);
    }
    return this.#signal;
  }
}

function decodeParams(names: readonly string[], values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    params[name] = decode(name, values[index] ?? '');
  });
  return params;
}

function decode(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw invalidField(name, 'Must be percent-encoded UTF-8');
  }
}

/** Express parses the query at every access, and most requests have none. */
function queryOf(request: Request): Readonly<Record<string, unknown>> {
  return request.url.includes('?') ? request.query : {};
}

/** The path with its values in canonical encoding, however the caller encoded them. */
function concretePath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{\*?(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** The audit entry of a person's change that has none of its own. Never a body, which can have personal data. */
function entryOf(
  { auditAction: action }: Sessions,
  name: string,
  { merchantId, mode, person }: PersonCaller,
  params: Readonly<Record<string, string>>,
  data: unknown,
): NewAuditEntry {
  const subjectId = Object.values(params)[0] ?? idIn(data) ?? '';
  return {
    merchantId,
    mode,
    actor: person,
    action,
    subjectId,
    after: { call: name, ...params },
  };
}

/** The id of the record in a reply. That of a new payment is nested one level deeper. */
function idIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  if ('payment' in data) return idIn(data.payment);
  return 'id' in data && typeof data.id === 'string' ? data.id : undefined;
}
