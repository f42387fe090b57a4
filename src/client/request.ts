/** One call of the API: a request out, a parsed reply or a typed error back, within a time limit. */
import * as z from 'zod/mini';
import { ApiError, NetworkError, ReplyError } from '../errors.js';

export interface Connection {
  /** The API's origin, such as `https://pay.example.com`, with or without a path in front of `/v1`. */
  readonly apiUrl: string;
  readonly key: string;
  /** Stands in for the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How long one try may take, reply included; 15 seconds when absent. */
  readonly timeoutMs?: number | undefined;
}

export interface Call {
  readonly method: string;
  /** `{name}` in it stands for one segment. */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Follows the path: empty, or a `?` and what is asked. */
  readonly search?: string | undefined;
  readonly body?: unknown;
  /** Makes a repeated POST or PATCH happen once: up to 255 characters, the same for every try. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply<T> {
  readonly data: T;
  /** The server's clock when it answered, in epoch milliseconds; undefined if a proxy hid the `Date` header. */
  readonly serverTime: number | undefined;
}

/** A reply with what else was in its envelope, unparsed. */
export interface WholeReply<T> extends Reply<T> {
  readonly meta: unknown;
}

const failure = z.object({
  message: z.string(),
  data: z.object({
    code: z.string(),
    requestId: z.optional(z.string()),
    param: z.optional(z.string()),
    errors: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
    paymentId: z.optional(z.string()),
  }),
});

/**
 * Sends one request and parses its reply's `data` with `schema`; without a schema there is no data.
 * Nothing is tried again here: whoever calls knows what may be repeated.
 *
 * @throws ApiError when the API refused, also when a server or proxy answered 429 or 5xx in another format
 * @throws NetworkError when no whole reply came in time
 * @throws ReplyError when a reply came that is none of the API's
 * @throws RangeError when a path parameter cannot be sent: it is empty, `.` or `..`
 * @throws the signal's reason (an `AbortError` unless the caller gave another) when the caller aborted
 */
export async function request<S extends z.ZodMiniType | undefined>(
  connection: Connection,
  call: Call,
  schema: S,
): Promise<WholeReply<S extends z.ZodMiniType ? z.output<S> : undefined>> {
  const { response, text } = await exchange(connection, call);
  const json = parseJson(text);
  if (!response.ok) throw refusal(call, response, json);

  const expected: z.ZodMiniType = schema ?? z.optional(z.unknown());
  const success = { status: z.enum(['success']), data: expected, meta: z.optional(z.unknown()) };
  const parsed = z.safeParse(z.object(success), json);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.');
    throw new ReplyError(`${name(call)} was answered with an unexpected ${where || 'body'}`, parsed.error);
  }
  const { data, meta } = parsed.data;
  return {
    data: (schema && data) as S extends z.ZodMiniType ? z.output<S> : undefined,
    serverTime: serverTime(response),
    meta,
  };
}

async function exchange(connection: Connection, call: Call): Promise<{ response: Response; text: string }> {
  const { apiUrl, key, timeoutMs = 15_000, fetch = globalThis.fetch } = connection;
  const { method, search = '', body, idempotencyKey, signal } = call;
  const url = apiUrl.replace(/\/+$/, '') + filledPath(call) + search;
  const text = body === undefined ? null : JSON.stringify(body);
  // By hand, since AbortSignal.any is missing from the browsers of phones that are still in use.
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    const response = await fetch(url, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      body: text,
      signal: controller.signal,
      // The key is all the authority there is, and a payment's state must never come from a cache.
      credentials: 'omit',
      cache: 'no-store',
    });
    return { response, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    const failed = controller.signal.aborted ? `took more than ${timeoutMs / 1000} s` : 'got no reply';
    throw new NetworkError(`${name(call)} ${failed}`, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The error for a reply whose HTTP status is none of success. */
function refusal(call: Call, response: Response, json: unknown): ApiError | ReplyError {
  const { status, headers } = response;
  const parsed = z.safeParse(failure, json);
  const { message, data } = parsed.success
    ? parsed.data
    : { message: `${name(call)} was answered with HTTP ${status}`, data: undefined };
  const code = data?.code ?? fallbackCode(status);
  if (code === undefined) return new ReplyError(message, parsed.error);
  return new ApiError(message, {
    ...data,
    code,
    status,
    remedy: remedy(status),
    requestId: data?.requestId ?? headers.get('X-Request-Id') ?? '',
    retryAfterSeconds: retryAfterSeconds(response),
  });
}

/** What a reply without a code of the API still says for certain: a proxy in front of it answers in its own words. */
function fallbackCode(status: number): string | undefined {
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'internal_error' : undefined;
}

function remedy(status: number): string {
  if (status === 401 || status === 403)
    return 'Check that the key is right, and of the kind this call needs.';
  if (status === 404) return 'Check the id, and that the key is of the account and mode that made it.';
  if (status === 429 || status === 503) return 'Wait for `retryAfterSeconds`, then try again.';
  if (status >= 500) return 'Try again; if it stays, give the request id to whoever runs the API.';
  return 'Change the request as the message says.';
}

/** `Retry-After` in either of its forms, a number of seconds or a date by the server's clock. */
function retryAfterSeconds(response: Response): number | undefined {
  const value = response.headers.get('Retry-After');
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = Math.ceil((Date.parse(value) - (serverTime(response) ?? Date.now())) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function serverTime(response: Response): number | undefined {
  const time = Date.parse(response.headers.get('Date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function filledPath({ path, params = {} }: Call): string {
  return path.replace(/\{(\w+)\}/g, (_placeholder, name: string) => segment(params[name] ?? '', name));
}

/**
 * A value as one segment of a path, whatever characters it holds.
 *
 * @throws RangeError for one that would be lost: a URL with it is resolved to another path before it is sent
 */
export function segment(value: string, name: string): string {
  if (/^\.{0,2}$/.test(value)) throw new RangeError(`"${value}" cannot be a ${name}`);
  return encodeURIComponent(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function name({ method, path }: Call): string {
  return `${method} ${path}`;
}
