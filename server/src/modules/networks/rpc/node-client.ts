/** Talks JSON-RPC to one node over HTTP: timeouts, batches of a size that the node accepts, and waiting when it asks for it. */
import { parseRetryAfter } from 'crypto-checkout/contract';
import { errorMessage } from '../../../core/shared/error-message.js';
import { groupBy } from '../../../core/shared/group-by.js';
import { createBatching, type RpcCall } from './batching.js';
import { NodeError, RpcFailure } from './node-error.js';
import { readNodeUrl, type NodeTarget } from './node-url.js';
import {
  isObject,
  isOfCall,
  isRateLimit,
  pauseIn,
  quote,
  refusalIn,
  refusalInBody,
  type Refusal,
} from './refusals.js';
import type { RequestBudget } from './request-budget.js';

export { isObject, type RpcCall };

export type NodeClient = ReturnType<typeof createNodeClient>;

export interface NodeClientOptions {
  readonly name: string;
  /** Can contain credentials. */
  readonly url: string;
  /** Sent with each request, such as a provider's key. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Adds to the URL what a node is logged in to with, before each request: it can change when the node is started. @throws NodeError */
  readonly logIn?: ((url: URL, name: string) => URL) | undefined;
  /** The longest duration of one request, 15 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** The most calls in one request, 50 by default. Fewer are sent to nodes that refuse as many. */
  readonly maxBatch?: number | undefined;
  /** Called with the node's words when it turns out to take fewer calls in one request. Never contains a URL. */
  readonly onLimit?: ((message: string) => void) | undefined;
  /** The budget of requests to all nodes of the network; no limit by default. */
  readonly budget?: RequestBudget | undefined;
  /** Epoch milliseconds; real time by default. */
  readonly now?: (() => number) | undefined;
}

/** The most calls in one request. */
export const usualBatch = 50;
/** A block of a busy network has a few megabytes. Whatever is longer is not an answer. */
const longestAnswerBytes = 128 * 1024 * 1024;
/** For a node that refuses requests without saying for how long. */
const defaultPauseMs = 1000;
/** A mistake in `Retry-After` must not turn a node off for days. */
const longestPauseMs = 10 * 60_000;

export function createNodeClient(options: NodeClientOptions) {
  const { name, timeoutMs = 15_000, maxBatch = usualBatch, now = Date.now, budget, logIn } = options;
  let target = readNodeUrl(options.url, options.headers);
  const used = {
    /** HTTP requests. */
    requests: 0,
    /** JSON-RPC calls; a batch has several. Most providers charge for these. */
    calls: 0,
    /** Requests that failed, those included that the node refused as too many. */
    failures: 0,
    /** Requests that the node refused as too many. */
    limited: 0,
    /** The duration of all requests together, until the whole answer was there or they failed. */
    durationMs: 0,
  };
  let pausedUntil = 0;
  let refusals = 0;
  let nextId = 1;

  const fail = (fault: NodeError['fault'], what: string, more?: ConstructorParameters<typeof NodeError>[2]) =>
    new NodeError(fault, `${name} ${target.redact(what)}`, more);

  /** As the end of a sentence. Cut after the credentials are hidden, or a part of one would be left. */
  const says = (words: string): string => (words === '' ? '' : `: ${quote(target.redact(words))}`);

  function currentTarget(): NodeTarget {
    if (logIn) target = readNodeUrl(logIn(new URL(options.url), name).href, options.headers);
    return target;
  }

  function pause(header: string | null, words: string): NodeError {
    refusals += 1;
    used.limited += 1;
    const asked = parseRetryAfter(header, now()) ?? pauseIn(words);
    const pauseMs = Math.min(asked ?? defaultPauseMs * 2 ** Math.min(refusals - 1, 6), longestPauseMs);
    pausedUntil = Math.max(pausedUntil, now() + pauseMs);
    return fail('limited', `takes no more requests for ${seconds(pauseMs)}${says(words)}`, {
      retryAfterMs: pauseMs,
    });
  }

  async function exchange({ url, headers }: NodeTarget, body: unknown, signal: AbortSignal) {
    // Not AbortSignal.any: on a signal that lives as long as the scanner, Node 20 keeps every signal made from it.
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal.addEventListener('abort', abort);
    const isLate = () =>
      controller.abort(fail('timeout', `did not answer within ${seconds(timeoutMs)}`, { fewer: 'later' }));
    const timer = setTimeout(isLate, timeoutMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify(body),
        // A redirect would send the credentials to another address than the configured one.
        redirect: 'error',
        signal: controller.signal,
      });
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of response.body ?? []) {
        const bytes = chunk as Uint8Array;
        length += bytes.length;
        if (length > longestAnswerBytes) throw fail('too-large', 'answered with too much', { fewer: 'now' });
        chunks.push(bytes);
      }
      const retryAfter = response.headers.get('retry-after');
      return { status: response.status, retryAfter, text: Buffer.concat(chunks).toString('utf8') };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      controller.abort();
    }
  }

  async function send(to: NodeTarget, body: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const waitMs = pausedUntil - now();
    if (waitMs > 0) {
      throw fail('limited', `takes no more requests for ${seconds(waitMs)}`, { retryAfterMs: waitMs });
    }
    // Providers count each call of a batch.
    if (budget) await budget.take(Array.isArray(body) ? body.length : 1, signal);
    signal.throwIfAborted();
    used.requests += 1;
    const startedAt = performance.now();
    try {
      const answer = await exchange(to, body, signal);
      const value = parseJson(answer.text);
      const isFine = answer.status >= 200 && answer.status < 300;
      const refusal =
        isFine && value !== undefined ? { code: 0, text: '' } : refusalInBody(answer.text, value);
      const words = refusal.text;
      const isBusy = answer.status === 429 || (answer.status === 503 && answer.retryAfter !== null);
      if (isBusy || isRateLimit(refusal)) throw pause(answer.retryAfter, words);
      if (isFine) {
        if (value !== undefined) return value;
        throw fail('garbage', `answered with something that is not JSON${says(words)}`, { fewer: 'later' });
      }
      // Some providers send a JSON-RPC error with a status of its own.
      if (Array.isArray(value) || (isObject(value) && isObject(value['error']))) return value;
      throw refusalOf(answer.status, words);
    } catch (error) {
      signal.throwIfAborted();
      used.failures += 1;
      if (error instanceof NodeError) throw error;
      // Some nodes break the connection when a request has too many calls. One that does not run takes none.
      const fewer = hasConnected(error) ? 'now' : undefined;
      throw fail('unreachable', `cannot be reached: ${to.redact(describe(error))}`, { fewer });
    } finally {
      used.durationMs += performance.now() - startedAt;
    }
  }

  function refusalOf(status: number, words: string): NodeError {
    if (status === 413) {
      return fail('too-large', `answered HTTP 413: the request is too large${says(words)}`, { fewer: 'now' });
    }
    const fewer = notOfSize.has(status) ? undefined : status === 502 || status === 504 ? 'later' : 'now';
    return fail('refused', describeStatus(status) + says(words), { fewer });
  }

  /** The node's error about a call, for the caller, or a pause that the node asks for. */
  function failureOf({ code, text }: Refusal): RpcFailure | NodeError {
    if (isRateLimit({ code, text })) return pause(null, text);
    return new RpcFailure(code, `${name} answered: ${quote(target.redact(text))} (${code})`);
  }

  /** The result of one answer, or what the node refuses the call with. */
  function readAnswer(answer: Readonly<Record<string, unknown>>): unknown {
    const refusal = refusalIn(answer);
    if (refusal) return failureOf(refusal);
    return 'result' in answer ? answer['result'] : fail('garbage', 'answered without a result');
  }

  async function sendCall(call: RpcCall, signal: AbortSignal): Promise<unknown> {
    const id = nextId++;
    const answer = await send(currentTarget(), { jsonrpc: '2.0', id, ...call }, signal);
    // An answer that is an error can lack the id: the node could not read it.
    if (!isObject(answer) || (String(answer['id']) !== String(id) && !refusalIn(answer))) {
      throw fail('garbage', 'did not answer the call');
    }
    return readAnswer(answer);
  }

  async function sendBatch(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    const requests = calls.map((call) => ({ jsonrpc: '2.0', id: nextId++, ...call }));
    const answers = await send(currentTarget(), requests, signal);
    if (!Array.isArray(answers)) {
      const refusal = isObject(answers) ? refusalIn(answers) : undefined;
      const error = refusal && failureOf(refusal);
      if (error instanceof NodeError) throw error;
      throw new NodeError('too-large', error?.message ?? `${name} refused a batch of calls`, {
        fewer: 'now',
      });
    }
    // Some gateways write ids as text. An answer under the id of no call, or of several, only gives the reason.
    const byId = groupBy(answers.filter(isObject), (answer) => String(answer['id']));
    const rest = new Set(answers.filter(isObject));
    const own = requests.map(({ id }) => {
      const [answer, ...more] = byId.get(String(id)) ?? [];
      if (!answer || more.length > 0) return undefined;
      rest.delete(answer);
      return answer;
    });
    // Asked for by many calls of a batch, a pause is one.
    const failures = new Map<string, RpcFailure | NodeError>();
    const read = (answer: Readonly<Record<string, unknown>>): unknown => {
      const refusal = refusalIn(answer);
      if (!refusal) return readAnswer(answer);
      const failure = failures.get(refusal.text) ?? failureOf(refusal);
      failures.set(refusal.text, failure);
      return failure;
    };
    const results = own.map((answer) => (answer ? { answer: read(answer) } : undefined));
    if (!results.includes(undefined)) return results.map((one) => one?.answer);
    const reported = [...[...rest].filter(refusalIn).map(read), ...results.map((one) => one?.answer)];
    const reason = reported.find(
      (one) => one instanceof NodeError || (one instanceof RpcFailure && !isOfCall(one)),
    );
    const unanswered =
      reason instanceof RpcFailure
        ? new NodeError('too-large', reason.message, { fewer: 'now' })
        : (reason ?? fail('garbage', 'left calls of a batch unanswered'));
    return results.map((one) => (one ? one.answer : unanswered));
  }

  const batching = createBatching(
    maxBatch,
    async (calls, signal) => {
      const [only] = calls;
      used.calls += calls.length;
      // A single call is not sent as a batch: some nodes refuse those.
      const answers =
        calls.length === 1 && only ? [await sendCall(only, signal)] : await sendBatch(calls, signal);
      if (answers.some((answer) => !(answer instanceof NodeError))) refusals = 0;
      return answers;
    },
    (size, words) => options.onLimit?.(limitText(size, words)),
  );

  const limitText = (size: number, words: string) =>
    `${name} is asked ${size === 1 ? 'single calls' : `no more than ${size} calls`} in one request, because ${words}`;

  /**
   * Makes several calls in as few requests as the node accepts. Answers in the order of the calls; a call that the node
   * answers with an error has an RpcFailure as its answer.
   * @throws NodeError
   */
  const batch = batching.run;

  return {
    /** `node 1` for the first of the configuration. */
    name,

    batch,

    /** Makes one call. @throws NodeError, or RpcFailure if the node answers with an error */
    async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
      const [result] = await batch([{ method, params }], signal);
      if (result instanceof RpcFailure) throw result;
      return result;
    },

    /** Posts JSON to a path next to the node's own, such as one of Tron's HTTP API. @throws NodeError */
    async post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
      const url = new URL(path, options.url);
      url.search = new URL(options.url).search;
      const answer = await send(readNodeUrl(url.href, options.headers), body, signal);
      const refusal = isObject(answer) && 'Error' in answer ? refusalIn(answer) : undefined;
      if (!refusal) return answer;
      const error = failureOf(refusal);
      throw error instanceof NodeError ? error : new NodeError('refused', error.message);
    },

    /** The requests to it since the start, for the metrics. */
    usage: () => ({ ...used }),
    /** The most calls that are sent in one request now. */
    batchSize: batching.size,
    /** Why fewer calls are sent in one request than might be, in the node's words; undefined if they are not. */
    limit() {
      const words = batching.words();
      return words === undefined ? undefined : limitText(batching.size(), words);
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Statuses that say nothing about the size of a request. */
const notOfSize: ReadonlySet<number> = new Set([401, 404, 503]);

const noConnection: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** True if a connection was there, and broke. */
function hasConnected(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  return typeof code === 'string' && /^(UND_ERR|E)/.test(code) && !noConnection.has(code);
}

function describeStatus(status: number): string {
  if (status === 401 || status === 403) return `answered HTTP ${status}: check the key in its URL`;
  return `answered HTTP ${status}`;
}

/** `fetch` itself only reports "fetch failed". The reason is its cause. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorMessage(cause) || 'the connection failed';
}

function seconds(durationMs: number): string {
  return `${Math.ceil(durationMs / 100) / 10} s`;
}
