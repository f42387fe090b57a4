/** The errors of widget and client: what happened, what to do, a stable code, where to read more, and the cause. */

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

export interface ApiErrorDetails extends CheckoutErrorDetails {
  /** The HTTP status, such as 409. */
  readonly status: number;
  /** Names the request in the server's log; empty where the server named none. */
  readonly requestId: string;
  /** Seconds that the server asked to wait before the next try. */
  readonly retryAfterSeconds?: number | undefined;
  /** The request's field that was wrong. */
  readonly param?: string | undefined;
}

/** The API answered, and refused. */
export class ApiError extends CheckoutError {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly requestId: string;
  readonly retryAfterSeconds: number | undefined;
  readonly param: string | undefined;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.param = details.param;
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
