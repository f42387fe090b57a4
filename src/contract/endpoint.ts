/** The definition of an endpoint. The whole API is a table of these, which the server, the docs and the tests share. */
import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * Allowed callers: a `public` endpoint accepts secret keys too, and `none` reads no key at all. People who are signed
 * in to the console count as a secret key with the permissions of their role; `session` accepts only them.
 */
export type KeyKind = 'secret' | 'public' | 'none' | 'session';

/**
 * An endpoint's address. In a path, `{name}` matches one segment. `{*name}`, allowed only at the end, matches the rest of
 * the path: any number of segments, or none (`/v1/meta/{*endpoint}` also matches `/v1/meta`). Literal paths are matched
 * before paths with placeholders; the order in the table does not matter.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** Other paths of the same endpoint, with the same placeholders. */
  readonly aliases?: readonly string[];
  readonly key: KeyKind;
  /**
   * True for a GET that changes something, which the specification has two of. Such a path does not accept HEAD, and keys
   * that may only read cannot call it.
   */
  readonly changesOnGet?: true;
  /**
   * True for endpoints that move money or change keys or the team: a person must have signed in within the last 10
   * minutes, so that a stolen session is not enough. Does not apply to keys.
   */
  readonly stepUp?: true;
}

export interface Endpoint extends Route {
  /** One or two sentences for developers. Shown in `/v1/meta`, OpenAPI and the API reference. */
  readonly description: string;
  readonly params?: z.ZodMiniObject;
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniObject;
  /** The shape of `data` in the reply; absent if the reply has only `status` and `message`. */
  readonly data?: z.ZodMiniType;
  /** True for lists of records. Their replies have `meta.pagination`. */
  readonly paginated?: true;
  /** Its own error codes, in addition to the common ones: keys, validation, unknown ids, rate limits, outages. */
  readonly errors?: readonly ErrorCode[];
  readonly sample: Sample;
}

/** Endpoints by resource and verb. */
export type Endpoints = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** An example request and its reply. Both are valid under the endpoint's schemas. */
export interface Sample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The `message` of each successful reply: the server takes it from here. */
  readonly message: string;
  readonly data?: unknown;
}

/** Declares an endpoint and keeps its literal types. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

type Parsed<T> = T extends z.ZodMiniType ? z.output<T> : undefined;
type Unparsed<T> = T extends z.ZodMiniType ? z.input<T> : undefined;

/** A handler's input, already parsed. */
export interface Input<E extends Endpoint> {
  readonly params: Parsed<E['params']>;
  readonly query: Parsed<E['query']>;
  readonly body: Parsed<E['body']>;
}

/** A handler's `data`, before the contract parses it; `ParsedData` is what a client gets. */
export type Data<E extends Endpoint> = Unparsed<E['data']>;
export type ParsedData<E extends Endpoint> = Parsed<E['data']>;

/** `meta.pagination` of a list. `from` and `to` are row numbers from 1; both are 0 if the list is empty. */
export interface Pagination {
  readonly total: number;
  readonly count: number;
  readonly from: number;
  readonly to: number;
}
