/** The two calls of the claim page. The token is only in their bodies: never in a path, a query or a header. */
import { parseRetryAfter } from '../src/contract/retry-after.js';
import { refundClaim, refundClaims, type RefundClaim } from '../src/contract/refunds.js';

/**
 * The reason that a call returned no claim. `gone`: no refund has this link. `wrongAddress` and `refused` describe the
 * problem with the address or the state of the refund, in English.
 */
export class ClaimFailure extends Error {
  override readonly name = 'ClaimFailure';
  readonly kind: 'gone' | 'wrongAddress' | 'refused' | 'busy' | 'offline';
  readonly waitMs: number | undefined;

  constructor(kind: ClaimFailure['kind'], message: string, waitMs?: number) {
    super(message);
    this.kind = kind;
    this.waitMs = waitMs;
  }
}

export interface ClaimApi {
  /** @throws ClaimFailure, and the signal's reason if the caller aborted */
  retrieve(body: { readonly token: string }, signal: AbortSignal): Promise<RefundClaim>;
  /** @throws ClaimFailure, and the signal's reason if the caller aborted */
  setAddress(
    body: {
      readonly token: string;
      readonly address: string;
      readonly signature?: string;
      readonly checkOnly?: boolean;
    },
    signal: AbortSignal,
  ): Promise<RefundClaim>;
}

const timeoutMs = 15_000;

/** @param apiUrl the part before `/v1`; empty on the server's own pages */
export function createClaimApi(apiUrl: string): ClaimApi {
  async function call(path: string, body: object, signal: AbortSignal): Promise<RefundClaim> {
    const { response, json } = await send(apiUrl + path, body, signal);
    if (response.ok) {
      const claim = refundClaim.safeParse(json.data);
      if (claim.success) return claim.data;
    }
    throw failureOf(response, json);
  }
  return {
    retrieve: (body, signal) => call(refundClaims.retrieve.path, body, signal),
    setAddress: (body, signal) => call(refundClaims.setAddress.path, body, signal),
  };
}

interface ReplyBody {
  readonly message?: unknown;
  readonly data?: { readonly code?: unknown };
}

async function send(
  url: string,
  body: object,
  signal: AbortSignal,
): Promise<{ response: Response; json: ReplyBody }> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal.throwIfAborted();
  signal.addEventListener('abort', abort);
  const timer = setTimeout(abort, timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: controller.signal,
      // The cookie with which the browser that gave the address may change it.
      credentials: 'same-origin',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    });
    return { response, json: readJson(await response.text()) };
  } catch (error) {
    signal.throwIfAborted();
    throw new ClaimFailure('offline', String(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function readJson(text: string): ReplyBody {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Only the server says that a link is dead. A proxy or a firewall in front of it may refuse a request that works later. */
function failureOf({ status, headers }: Response, { message, data }: ReplyBody): ClaimFailure {
  const text = typeof message === 'string' ? message : `HTTP ${status}`;
  if (status === 429) {
    const now = Date.parse(headers.get('Date') ?? '') || Date.now();
    return new ClaimFailure('busy', text, parseRetryAfter(headers.get('Retry-After'), now));
  }
  if (data?.code === 'invalid_address') return new ClaimFailure('wrongAddress', text);
  if (data?.code === 'not_found') return new ClaimFailure('gone', text);
  const isRefused = data?.code === 'invalid_state' || data?.code === 'validation_error';
  return new ClaimFailure(isRefused ? 'refused' : 'offline', text);
}
