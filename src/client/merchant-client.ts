/** The whole API for a merchant's server: one method per endpoint of the contract, made from its table. */
import type * as z from 'zod/mini';
import { api, type Api, type Endpoint, type ParsedData } from '../contract/index.js';
import { request, type Call, type Connection, type Reply } from './request.js';

export interface MerchantClientOptions extends Omit<Connection, 'key'> {
  /** `sk_test_…` or `sk_live_…`. It opens the whole account: never send it to a page. */
  readonly secretKey: string;
}

/** What is given for one part of a request: left out where there is none, optional where all of it is. */
type Part<E extends Endpoint, Name extends 'params' | 'query' | 'body'> =
  E extends Record<Name, infer S extends z.ZodMiniType>
    ? Partial<z.input<S>> extends z.input<S>
      ? Readonly<Partial<Record<Name, z.input<S>>>>
      : Readonly<Record<Name, z.input<S>>>
    : unknown;

/** `params`, `query` and `body` as the endpoint declares them, with `signal` and `idempotencyKey`. */
export type MerchantCall<E extends Endpoint> = Part<E, 'params'> &
  Part<E, 'query'> &
  Part<E, 'body'> &
  Pick<Call, 'signal' | 'idempotencyKey'>;

type Method<E extends Endpoint> =
  Partial<MerchantCall<E>> extends MerchantCall<E>
    ? (call?: MerchantCall<E>) => Promise<Reply<ParsedData<E>>>
    : (call: MerchantCall<E>) => Promise<Reply<ParsedData<E>>>;

type Methods<Verbs> = {
  readonly [Verb in keyof Verbs]: Verbs[Verb] extends Endpoint ? Method<Verbs[Verb]> : never;
};

/** `client.<resource>.<verb>({params, query, body})`, as the contract names them. */
export type MerchantClient = { readonly [Resource in keyof Api]: Methods<Api[Resource]> };

/**
 * A client for every endpoint, by the secret key.
 *
 *     const merchant = createMerchantClient({ apiUrl: 'https://pay.example.com', secretKey });
 *     const { data } = await merchant.transactions.verify({ params: { transaction_id } });
 *
 * Methods reject with `ApiError`, `NetworkError`, `ReplyError`, or the reason of the caller's own abort.
 */
export function createMerchantClient({ secretKey, ...options }: MerchantClientOptions): MerchantClient {
  const connection = { ...options, key: secretKey };
  const method =
    ({ method, path, data }: Endpoint) =>
    (call?: Omit<Call, 'method' | 'path'>) =>
      request(connection, { ...call, method, path }, data);
  const methods = (verbs: Readonly<Record<string, Endpoint>>) => mapValues(verbs, method);
  return mapValues(api, methods) as unknown as MerchantClient;
}

function mapValues<V, R>(table: Readonly<Record<string, V>>, change: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}
