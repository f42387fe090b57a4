/** What an endpoint is. The whole API is a table of these; the server, the docs and the tests walk it. */
import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The least powerful key that is accepted: a `public` endpoint takes both kinds, a `secret` one only secret keys. */
export type KeyKind = 'secret' | 'public';

/**
 * Where an endpoint lives. `{name}` in a path stands for one segment; `{*name}`, at the end of a path only,
 * for all that is left of it: several segments, or none (`/v1/meta/{*endpoint}` is also `/v1/meta`).
 * A path without placeholders is matched before one with them, whatever the order in the table.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** Further paths that answer the same, with the same placeholders. */
  readonly aliases?: readonly string[];
  readonly key: KeyKind;
}

export interface Endpoint extends Route {
  /** One or two sentences for a developer who reads `/v1/meta`, OpenAPI or the reference page. */
  readonly description: string;
  readonly params?: z.ZodMiniObject;
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniObject;
  /** The shape of `data` in the reply; absent where the reply is only `status` and `message`. */
  readonly data?: z.ZodMiniType;
  /** True for lists of records, whose reply carries `meta.pagination`. */
  readonly paginated?: true;
  /** What it refuses with beside what is refused everywhere: keys, validation, unknown ids, limits, outages. */
  readonly errors?: readonly ErrorCode[];
  readonly sample: Sample;
}

/** One example call and its reply; both parse under the endpoint's own schemas. */
export interface Sample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The reply's `message`. */
  readonly message: string;
  readonly data?: unknown;
}

/** Declares an endpoint and keeps its exact types. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

type Parsed<T> = T extends z.ZodMiniType ? z.output<T> : undefined;
type Given<T> = T extends z.ZodMiniType ? z.input<T> : undefined;

/** What a handler receives: everything parsed. */
export interface Input<E extends Endpoint> {
  readonly params: Parsed<E['params']>;
  readonly query: Parsed<E['query']>;
  readonly body: Parsed<E['body']>;
}

/** What a handler's `data` must be before the contract parses it, and what a client's caller gets after. */
export type Data<E extends Endpoint> = Given<E['data']>;
export type ParsedData<E extends Endpoint> = Parsed<E['data']>;

/** `meta.pagination` of a list: `from` and `to` are 1-based row numbers, 0 when the list is empty. */
export interface Pagination {
  readonly total: number;
  readonly count: number;
  readonly from: number;
  readonly to: number;
}
