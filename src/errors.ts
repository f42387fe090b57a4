/** The errors of widget and client: what happened, what to do, a stable code, where to read more, and the cause. */
import type { ErrorCode } from './contract/errors.js';

export interface CheckoutErrorDetails {
  /** Stable and machine-readable, such as `network_error` or one of the API's codes. */
  readonly code: string;
  /** One sentence for a developer: what to do now. */
  readonly remedy: string;
  readonly cause?: unknown;
}

export class CheckoutError extends Error {
  override readonly name: string = 'CheckoutError';
  readonly code: string;
  readonly remedy: string;

  constructor(message: string, { code, remedy, cause }: CheckoutErrorDetails) {
    super(message, { cause });
    this.code = code;
    this.remedy = remedy;
  }

  /** Where the code is explained, relative to the project's root. */
  get docsUrl(): string {
    return `docs/errors.md#${this.code}`;
  }
}

/** A field of the request that did not parse; `path` has dots for nested ones (`customer.email`). */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** What the API said no to, from its closed list; a server of another version may know further codes. */
export type ApiErrorCode = ErrorCode | (string & Record<never, never>);

export interface ApiErrorDetails extends CheckoutErrorDetails {
  readonly code: ApiErrorCode;
  /** The HTTP status, such as 409. */
  readonly status: number;
  /** Names the request in the server's log; empty where the server named none. */
  readonly requestId: string;
  /** Seconds that the server asked to wait before the next try. */
  readonly retryAfterSeconds?: number | undefined;
  /** The request's field that was wrong. */
  readonly param?: string | undefined;
  /** Every field that was wrong; only with `validation_error`. */
  readonly errors?: readonly FieldError[] | undefined;
  /** With `duplicate_tx_ref`, for secret keys: the payment that has the reference already. */
  readonly paymentId?: string | undefined;
}

/** The API answered, and refused. */
export class ApiError extends CheckoutError implements ApiErrorDetails {
  override readonly name = 'ApiError';
  declare readonly code: ApiErrorCode;
  declare readonly status: number;
  declare readonly requestId: string;
  declare readonly retryAfterSeconds: number | undefined;
  declare readonly param: string | undefined;
  declare readonly errors: readonly FieldError[] | undefined;
  declare readonly paymentId: string | undefined;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    Object.assign(this, details);
  }
}

/** No answer came: offline, blocked, or the server is unreachable. The request may have taken effect. */
export class NetworkError extends CheckoutError {
  override readonly name = 'NetworkError';

  constructor(message: string, cause?: unknown) {
    super(message, {
      code: 'network_error',
      remedy: 'Check the connection, `api-url` and the page’s Content-Security-Policy.',
      cause,
    });
  }
}

/** An answer came that is not of the contract's shape. */
export class ReplyError extends CheckoutError {
  override readonly name = 'ReplyError';

  constructor(message: string, cause?: unknown) {
    super(message, {
      code: 'malformed_reply',
      remedy: 'Check that `api-url` names a payment API, unchanged by a proxy.',
      cause,
    });
  }
}

/** True for a failure that the same request may not meet again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  if (!(error instanceof ApiError)) return false;
  return error.status >= 500 || error.status === 429 || error.code === 'idempotency_in_progress';
}
