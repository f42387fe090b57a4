/** The whole API for a merchant's server: one method per endpoint of the contract, made from its table. */
import * as z from 'zod/mini';
import { api, type Api, type Endpoint, type Pagination, type ParsedData } from '../contract/index.js';
import { ReplyError } from '../errors.js';
import { rowsOf, type Row } from './pages.js';
import { request, segment, type Call, type Connection, type Reply } from './request.js';
import { withRetries, type RetryOptions } from './retry.js';

export interface MerchantClientOptions extends Omit<Connection, 'key'>, RetryOptions {
  /** `sk_test_…` or `sk_live_…`. It opens the whole account: never send it to a page. */
  readonly secretKey: string;
}

/** A list's reply tells where its rows stand among all of them. */
export type ListReply<T> = Reply<T> & { readonly pagination?: Pagination };

/** What is given for one part of a request: left out where there is none, optional where all of it is. */
type Part<E extends Endpoint, Name extends 'params' | 'query' | 'body'> =
  E extends Record<Name, infer S extends z.ZodMiniType>
    ? Partial<z.input<S>> extends z.input<S>
      ? Readonly<Partial<Record<Name, z.input<S>>>>
      : Readonly<Record<Name, z.input<S>>>
    : unknown;

/** Only what changes something needs a key, and gets a random one if none is given. */
type Options<E extends Endpoint> = Pick<Call, 'signal'> &
  (E extends { method: 'POST' | 'PATCH' } ? Pick<Call, 'idempotencyKey'> : unknown);

/** `params`, `query` and `body` as the endpoint declares them, with `signal` and, for changes, `idempotencyKey`. */
export type MerchantCall<E extends Endpoint> = Part<E, 'params'> &
  Part<E, 'query'> &
  Part<E, 'body'> &
  Options<E>;

type ReplyOf<E extends Endpoint> = E extends { paginated: true }
  ? ListReply<ParsedData<E>>
  : Reply<ParsedData<E>>;

type Method<E extends Endpoint> =
  Partial<MerchantCall<E>> extends MerchantCall<E>
    ? (call?: MerchantCall<E>) => Promise<ReplyOf<E>>
    : (call: MerchantCall<E>) => Promise<ReplyOf<E>>;

type Methods<Verbs> = {
  readonly [Verb in keyof Verbs]: Verbs[Verb] extends Endpoint ? Method<Verbs[Verb]> : never;
};

/** Every row of a list, page after page: `for await (const customer of client.customers.iterate()) …` */
type Iterable<Verbs> = Verbs extends { list: infer E extends Endpoint & { paginated: true } }
  ? {
      readonly iterate: (
        call?: MerchantCall<E>,
      ) => AsyncGenerator<ParsedData<E> extends readonly (infer One)[] ? One : never, void, void>;
    }
  : unknown;

/** `client.<resource>.<verb>({params, query, body})`, as the contract names them, and `iterate` for lists of records. */
export type MerchantClient = {
  readonly [Resource in keyof Api]: Methods<Api[Resource]> & Iterable<Api[Resource]>;
};

type AnyCall = Omit<Call, 'method' | 'path' | 'search'> & {
  readonly query?: Readonly<Record<string, unknown>>;
};

const listMeta = z.object({
  pagination: z.object({ total: z.number(), count: z.number(), from: z.number(), to: z.number() }),
});

/**
 * A client for every endpoint, by the secret key.
 *
 *     const merchant = createMerchantClient({ apiUrl: 'https://pay.example.com', secretKey });
 *     const { data } = await merchant.transactions.verify({ params: { transaction_id } });
 *
 * A call that got no reply, 429, 5xx or `idempotency_in_progress` is tried again, each time with the same
 * `Idempotency-Key`, so that it happens once. A DELETE whose first reply was lost may answer `not_found`: it is done.
 *
 * Methods reject with `ApiError`, `NetworkError`, `ReplyError`, or the reason of the caller's own abort.
 */
export function createMerchantClient({
  secretKey,
  retries,
  retryDelayMs,
  ...options
}: MerchantClientOptions): MerchantClient {
  const connection = { ...options, key: secretKey };
  const method = (endpoint: Endpoint) => (call?: AnyCall) => {
    const ready = prepared(endpoint, call);
    const attempt = () => send(connection, ready, endpoint);
    return withRetries(attempt, { retries, retryDelayMs }, call?.signal);
  };
  const methods = (verbs: Readonly<Record<string, Endpoint>>) => {
    const all = mapValues(verbs, method);
    const { list } = all;
    if (!list || !verbs['list']?.paginated) return all;
    return { ...all, iterate: (call?: AnyCall) => rowsOf((query) => list({ ...call, query }), call?.query) };
  };
  return mapValues(api, methods) as unknown as MerchantClient;
}

/** The call as every try sends it. */
function prepared({ method, path }: Endpoint, { query, ...call }: AnyCall = {}): Call {
  const changes = method === 'POST' || method === 'PATCH';
  return {
    ...call,
    method,
    path: withRest(path, call.params),
    search: queryString(query),
    idempotencyKey: changes ? (call.idempotencyKey ?? randomKey()) : undefined,
  };
}

async function send(connection: Connection, call: Call, { data, paginated }: Endpoint) {
  const { meta, ...reply } = await request(connection, call, data);
  if (!paginated || meta === undefined) return reply as Reply<readonly Row[]>;
  const parsed = z.safeParse(listMeta, meta);
  if (!parsed.success) {
    throw new ReplyError(`${call.method} ${call.path} was answered with an unexpected meta`, parsed.error);
  }
  return { ...reply, pagination: parsed.data.pagination } as ListReply<readonly Row[]>;
}

/** The path with `{*name}` filled in: any number of segments, or none. */
function withRest(path: string, params: Call['params'] = {}): string {
  return path.replace(/\/\{\*(\w+)\}/, (_placeholder, name: string) =>
    (params[name] ?? '')
      .split('/')
      .filter((one) => one !== '')
      .map((one) => `/${segment(one, name)}`)
      .join(''),
  );
}

function queryString(query: AnyCall['query'] = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}`;
}

/** 128 random bits. `crypto.randomUUID` is missing on pages without https. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) =>
    word.toString(16).padStart(8, '0'),
  ).join('');
}

function mapValues<V, R>(table: Readonly<Record<string, V>>, change: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}
