/** One API call: sends a request and returns the parsed reply, or throws a typed error. */
import { parseRetryAfter } from '../contract/retry-after.js';
import * as s from '../contract/shape.js';
import { ApiError, NetworkError, ReplyError } from '../errors.js';

export interface Connection {
  /** The API's base URL, such as `https://pay.example.com`; a path before `/v1` is allowed. */
  readonly apiUrl: string;
  readonly key: string;
  /** Time limit for one attempt, including the response body; 15 seconds by default. */
  readonly timeoutMs?: number | undefined;
}

export interface Call {
  readonly method: string;
  /** May contain `{name}` placeholders, one path segment each. */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** The query string, including its `?`; empty for none. */
  readonly search?: string | undefined;
  readonly body?: unknown;
  /** Up to 255 characters, the same for every attempt: a repeated POST or PATCH then happens once. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply<T> {
  readonly data: T;
  /** The server's clock when it replied, in epoch milliseconds; undefined if a proxy hid the `Date` header. */
  readonly serverTime: number | undefined;
}

/** A reply with the rest of its envelope, unparsed. */
export interface WholeReply<T> extends Reply<T> {
  readonly meta: unknown;
}

const failureReply = s.object({
  message: s.string,
  data: s.object({
    code: s.string,
    docsUrl: s.optional(s.string),
    requestId: s.optional(s.string),
    param: s.optional(s.string),
    errors: s.optional(s.array(s.object({ path: s.string, message: s.string }))),
    paymentId: s.optional(s.string),
  }),
});

const successReply = s.object({ status: s.oneOf(['success']) });

/**
 * Sends one request, and parses the reply's `data` with `parseData`; without it, `data` is undefined.
 * It never retries: only the caller knows which calls are safe to repeat.
 *
 * @param parseData throws a `ShapeError` if the data is not of its shape
 * @throws ApiError if the API refused, or a server or proxy answered 429 or 5xx in a format of its own
 * @throws NetworkError if no complete response arrived in time
 * @throws ReplyError if the response is not one of the API's
 * @throws RangeError if a path parameter is empty, `.` or `..`
 * @throws the signal's reason (an `AbortError` unless the caller gave another) if the caller aborted
 */
export async function request<T>(
  connection: Connection,
  call: Call,
  parseData: (data: unknown) => T,
): Promise<WholeReply<T>> {
  const { apiUrl } = connection;
  const { response, text } = await send(connection, call);
  const json = parseJson(text);
  if (!response.ok) throw errorOf(apiUrl, call, response, json);
  try {
    s.parseShape(successReply, json);
    const { data, meta } = json as { data?: unknown; meta?: unknown };
    return { data: parseData(data), serverTime: serverTimeOf(response), meta };
  } catch (cause) {
    const path = cause instanceof s.ShapeError ? cause.path : '';
    throw new ReplyError(`${nameOf(call)} returned an unexpected ${path || 'body'}`, { apiUrl, cause });
  }
}

async function send(connection: Connection, call: Call): Promise<{ response: Response; text: string }> {
  const { apiUrl, key, timeoutMs = 15_000 } = connection;
  const { method, search = '', body, idempotencyKey, signal } = call;
  signal?.throwIfAborted();
  const url = apiUrl.replace(/\/{1,20}$/, '') + fillPath(call) + search;
  const text = body === undefined ? null : JSON.stringify(body);
  // Not AbortSignal.any: browsers of phones that are still in use do not have it.
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort);
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
      // The key is the only credential, and a payment's status must never come from a cache.
      credentials: 'omit',
      cache: 'no-store',
    });
    return { response, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const failure = controller.signal.aborted ? `took longer than ${timeoutMs / 1000} s` : 'got no response';
    throw new NetworkError(`${nameOf(call)} ${failure}`, { apiUrl, cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The error for a response whose HTTP status is not a success. */
function errorOf(apiUrl: string, call: Call, response: Response, json: unknown): ApiError | ReplyError {
  const { status, headers } = response;
  const waitMs = parseRetryAfter(headers.get('Retry-After'), serverTimeOf(response) ?? Date.now());
  const { message, data, cause } = readFailure(call, status, json);
  const code = data?.code ?? fallbackCode(status);
  if (code === undefined) return new ReplyError(message, { apiUrl, cause });
  return new ApiError(message, {
    ...data,
    code,
    status,
    // A server without docs links to none.
    apiUrl: data ? undefined : apiUrl,
    remedy: remedyFor(status),
    requestId: data?.requestId ?? headers.get('X-Request-Id') ?? '',
    retryAfterSeconds: waitMs && Math.ceil(waitMs / 1000),
  });
}

function readFailure(
  call: Call,
  status: number,
  json: unknown,
): Partial<s.Output<typeof failureReply>> & { readonly message: string; readonly cause?: unknown } {
  try {
    return s.parseShape(failureReply, json);
  } catch (cause) {
    return { message: `${nameOf(call)} returned HTTP ${status}`, cause };
  }
}

/** The code for a response without one: proxies in front of the API answer in their own format. */
function fallbackCode(status: number): string | undefined {
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'internal_error' : undefined;
}

function remedyFor(status: number): string {
  if (status === 401 || status === 403) return 'Check the key and its kind.';
  if (status === 404) return 'Check `apiUrl`, the id, and the key’s mode.';
  if (status === 429 || status === 503) return 'Try again after `retryAfterSeconds`.';
  return status >= 500 ? 'Try again, or give the API’s operator the request id.' : 'Correct the request.';
}

function serverTimeOf(response: Response): number | undefined {
  const time = Date.parse(response.headers.get('Date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function fillPath({ path, params = {} }: Call): string {
  return path.replace(/\{(\w+)\}/g, (_placeholder, name: string) => encodeSegment(params[name] ?? '', name));
}

/**
 * Encodes a value as one path segment.
 *
 * @throws RangeError for an empty value, `.` and `..`: URL parsing would drop them and call another path
 */
export function encodeSegment(value: string, name: string): string {
  if (/^\.{0,2}$/.test(value)) throw new RangeError(`"${value}" is not a valid ${name}`);
  return encodeURIComponent(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path}`;
}
