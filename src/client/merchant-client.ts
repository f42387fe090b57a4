/** The whole API for a merchant's server: one method per endpoint, generated from the contract. */
import * as z from 'zod/mini';
import { api, type Api, type Endpoint, type Pagination, type ParsedData } from '../contract/index.js';
import { ShapeError } from '../contract/shape.js';
import { ReplyError } from '../errors.js';
import { createIdempotencyKey } from './idempotency-key.js';
import { iterateRows, type Row } from './pages.js';
import { encodeSegment, request, type Call, type Connection, type Reply } from './request.js';
import { retry, retryAfterSecondsOf } from './retry.js';

export interface RetryOptions {
  /** Maximum number of retries of a failed call; 3 by default, 0 to never retry. */
  readonly retries?: number | undefined;
  /** The delay before the first retry, in milliseconds. It doubles with each retry, up to 8 seconds; 500 by default. */
  readonly retryDelayMs?: number | undefined;
}

export interface MerchantClientOptions extends Omit<Connection, 'key'>, RetryOptions {
  /** `sk_test_…` or `sk_live_…`. It gives access to the whole account: never send it to a browser. */
  readonly secretKey: string;
}

/** A list's reply, with the position of its rows in the whole list. */
export type ListReply<T> = Reply<T> & { readonly pagination?: Pagination };

/** One part of a request: omitted if the endpoint has none, optional if all of its fields are. */
type Part<E extends Endpoint, Name extends 'params' | 'query' | 'body'> =
  E extends Record<Name, infer S extends z.ZodMiniType>
    ? Partial<z.input<S>> extends z.input<S>
      ? Readonly<Partial<Record<Name, z.input<S>>>>
      : Readonly<Record<Name, z.input<S>>>
    : unknown;

/** Only calls that change something take an idempotency key; without one they get a random key. */
type Options<E extends Endpoint> = Pick<Call, 'signal'> &
  (E extends { method: 'POST' | 'PATCH' } ? Pick<Call, 'idempotencyKey'> : unknown);

/** The endpoint's `params`, `query` and `body`, plus `signal` and, for changes, `idempotencyKey`. */
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

/** Iterates over all rows of a list, page by page: `for await (const customer of client.customers.iterate()) …` */
type Iterable<Verbs> = Verbs extends { list: infer E extends Endpoint & { paginated: true } }
  ? {
      readonly iterate: (
        call?: MerchantCall<E>,
      ) => AsyncGenerator<ParsedData<E> extends readonly (infer One)[] ? One : never, void, void>;
    }
  : unknown;

/** `client.<resource>.<verb>({params, query, body})`, named as in the contract. Lists of records have `iterate` too. */
export type MerchantClient = {
  readonly [Resource in keyof Api]: Methods<Api[Resource]> & Iterable<Api[Resource]>;
};

const maxRetryDelayMs = 8_000;
/** For longer waits, the caller can use the time better than we can. */
const maxRetryAfterSeconds = 30;

type AnyCall = Omit<Call, 'method' | 'path' | 'search'> & {
  readonly query?: Readonly<Record<string, unknown>>;
};

const listMeta = z.object({
  pagination: z.object({ total: z.number(), count: z.number(), from: z.number(), to: z.number() }),
});

/**
 * A client for every endpoint, authenticated with the secret key.
 *
 *     const merchant = createMerchantClient({ apiUrl: 'https://pay.example.com', secretKey });
 *     const { data } = await merchant.transactions.verify({ params: { transaction_id } });
 *
 * Calls that got no response, 429, 5xx or `idempotency_in_progress` are retried with the same `Idempotency-Key`, so a
 * change happens once. If the response to a DELETE was lost, the retry may fail with `not_found`: the delete worked.
 *
 * Methods reject with `ApiError`, `NetworkError`, `ReplyError`, or the abort reason of the caller's own signal.
 *
 * @throws RangeError if `secretKey` or `apiUrl` cannot be one
 */
export function createMerchantClient({
  secretKey,
  retries = 3,
  retryDelayMs = 500,
  ...options
}: MerchantClientOptions): MerchantClient {
  const connection = { ...options, key: secretKey };
  // Checked now, not at the first payment.
  if (!/^sk_(test|live)_[!-~]+$/.test(secretKey)) {
    throw new RangeError('secretKey is missing, or is not a secret key (sk_test_… or sk_live_…)');
  }
  if (!/^https?:\/\/./.test(options.apiUrl)) {
    throw new RangeError(`apiUrl is not a web address: ${options.apiUrl}`);
  }
  const method = (endpoint: Endpoint) => (call?: AnyCall) => {
    // Built once, so that all attempts share one idempotency key.
    const prepared = prepareCall(endpoint, call);
    const attempt = () => send(connection, prepared, endpoint);
    const wait = (error: unknown, retried: number) =>
      sleep(backoffMs(error, retryDelayMs * 2 ** retried), call?.signal);
    return retry(attempt, { retries, maxRetryAfterSeconds, wait });
  };
  const methods = (verbs: Readonly<Record<string, Endpoint>>) => {
    const all = mapValues(verbs, method);
    const { list } = all;
    if (!list || !verbs['list']?.paginated) return all;
    return {
      ...all,
      iterate: (call?: AnyCall) => iterateRows((query) => list({ ...call, query }), call?.query),
    };
  };
  return mapValues(api, methods) as unknown as MerchantClient;
}

function prepareCall({ method, path }: Endpoint, { query, ...call }: AnyCall = {}): Call {
  const isChange = method === 'POST' || method === 'PATCH';
  return {
    ...call,
    method,
    path: fillRestParam(path, call.params),
    search: queryString(query),
    idempotencyKey: isChange ? (call.idempotencyKey ?? createIdempotencyKey()) : undefined,
  };
}

/** Jittered by up to half, so that clients do not all come back at once, and never shorter than `Retry-After`. */
function backoffMs(error: unknown, delayMs: number): number {
  const jitter = 0.5 + Math.random() / 2;
  return Math.max(Math.min(maxRetryDelayMs, delayMs) * jitter, retryAfterSecondsOf(error) * 1000);
}

/** Resolves after the delay, or as soon as the signal is aborted. */
function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

async function send(connection: Connection, call: Call, { data, paginated }: Endpoint) {
  const { meta, ...reply } = await request(connection, call, (value) => data && parseData(data, value));
  if (!paginated || meta === undefined) return reply as Reply<readonly Row[]>;
  const parsed = z.safeParse(listMeta, meta);
  if (!parsed.success) {
    const { apiUrl } = connection;
    throw new ReplyError(`${call.method} ${call.path} returned an unexpected meta`, {
      apiUrl,
      cause: parsed.error,
    });
  }
  return { ...reply, pagination: parsed.data.pagination } as ListReply<readonly Row[]>;
}

function parseData(schema: z.ZodMiniType, value: unknown): unknown {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  throw new ShapeError(['data', ...(parsed.error.issues[0]?.path ?? [])].join('.'), { cause: parsed.error });
}

/** Fills in `{*name}`, which stands for any number of path segments, or none. */
function fillRestParam(path: string, params: Call['params'] = {}): string {
  return path.replace(/\/\{\*(\w+)\}/, (_placeholder, name: string) =>
    (params[name] ?? '')
      .split('/')
      .filter((one) => one !== '')
      .map((one) => `/${encodeSegment(one, name)}`)
      .join(''),
  );
}

function queryString(query: AnyCall['query'] = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}`;
}

function mapValues<V, R>(table: Readonly<Record<string, V>>, change: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}
