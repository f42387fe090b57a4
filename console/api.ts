/** Calls of the contract in a signed-in person's name: the cookie names the person, and `X-Checkout-Mode` the mode. */
import * as z from 'zod/mini';
import { createIdempotencyKey } from '../src/client/idempotency-key.js';
import type { Endpoint, Pagination, ParsedData } from '../src/contract/endpoint.js';
import { parseRetryAfter } from '../src/contract/retry-after.js';

export type Mode = 'test' | 'live';

/**
 * The reason that a call failed. `code` is the API's, or `offline` if no answer came, or `unexpected` if it could not
 * be read.
 */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly code: string;
  /** Undefined without an answer. */
  readonly requestId: string | undefined;
  readonly waitSeconds: number | undefined;

  constructor(code: string, message: string, requestId?: string, waitSeconds?: number) {
    super(message);
    this.code = code;
    this.requestId = requestId;
    this.waitSeconds = waitSeconds;
  }
}

type Part<E extends Endpoint, Name extends 'params' | 'query' | 'body'> =
  E extends Record<Name, infer S extends z.ZodMiniType>
    ? Partial<z.input<S>> extends z.input<S>
      ? Readonly<Partial<Record<Name, z.input<S>>>>
      : Readonly<Record<Name, z.input<S>>>
    : unknown;
export type Input<E extends Endpoint> = Part<E, 'params'> & Part<E, 'query'> & Part<E, 'body'>;

export interface Reply<T> {
  readonly data: T;
  /** Only for lists. */
  readonly pagination: Pagination | undefined;
}

export type Api = <const E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  signal?: AbortSignal,
) => Promise<Reply<ParsedData<E>>>;

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const envelope = z.object({
  status: z.string(),
  message: z.optional(z.string()),
  data: z.optional(z.unknown()),
  meta: z.optional(
    z.object({
      pagination: z.optional(
        z.object({ total: z.number(), count: z.number(), from: z.number(), to: z.number() }),
      ),
    }),
  ),
});
const failure = z.object({ code: z.string(), requestId: z.optional(z.string()) });

const timeoutMs = 20_000;

/**
 * @param apiUrl the part before `/v1` and `/console/api`
 * @param mode the mode of the records
 * @param hearClock gets the time of the mode, which is ahead where the test clock was moved
 */
export function createApi(apiUrl: string, mode: Mode, hearClock?: (at: number) => void): Api {
  return async (endpoint, input, signal) => {
    const { params = {}, query = {}, body } = input as Parts;
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const isChange = endpoint.method !== 'GET';
    const headers: Record<string, string> = { 'Content-Type': 'application/json', 'X-Checkout-Mode': mode };
    // The same for each attempt, so that a change whose reply was lost is not made twice.
    if (isChange) headers['Idempotency-Key'] = createIdempotencyKey();
    const request = {
      method: endpoint.method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
    } satisfies RequestInit;
    const url = apiUrl + path + queryOf(query);
    const response = await send(url, request, signal).catch((error: unknown) => {
      if (error instanceof CallFailure) return send(url, request, signal);
      throw error;
    });
    const date = Date.parse(response.response.headers.get('Date') ?? '');
    if (!Number.isNaN(date)) hearClock?.(date);
    return read(endpoint, response);
  };
}

async function send(
  url: string,
  request: RequestInit,
  signal?: AbortSignal,
): Promise<{ response: Response; text: string }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      ...request,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return { response, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    throw new CallFailure('offline', String(error));
  }
}

function read<E extends Endpoint>(
  { data: schema }: E,
  { response, text }: { response: Response; text: string },
): Reply<ParsedData<E>> {
  const { status, headers } = response;
  const requestId = headers.get('X-Request-Id') ?? undefined;
  const parsed = envelope.safeParse(parse(text));
  if (!response.ok) {
    const { message = `HTTP ${status}`, data } = parsed.data ?? {};
    const reported = failure.safeParse(data);
    const waitMs = parseRetryAfter(headers.get('Retry-After'), Date.now());
    const seconds = waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
    throw new CallFailure(
      reported.data?.code ?? (status === 429 ? 'rate_limited' : 'unexpected'),
      message,
      reported.data?.requestId ?? requestId,
      seconds,
    );
  }
  const value = schema ? schema.safeParse(parsed.data?.data) : { success: true, data: undefined };
  if (!parsed.success || !value.success) throw new CallFailure('unexpected', `HTTP ${status}`, requestId);
  return { data: value.data as ParsedData<E>, pagination: parsed.data.meta?.pagination };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}
