/** Typed errors of the widget and the client: what happened, what to do, a stable code and a link to the docs. */
import type { ErrorCode } from './contract/errors.js';

export interface CheckoutErrorDetails {
  /** Stable and machine-readable: `network_error`, or one of the API's codes. */
  readonly code: string;
  /** The remedy, for a developer. */
  readonly remedy: string;
  /** URL of the API that was called. Its docs explain the code, unless `docsUrl` says otherwise. */
  readonly apiUrl?: string | undefined;
  /** Absolute URL of the page that explains the code. */
  readonly docsUrl?: string | undefined;
  readonly cause?: unknown;
}

/** The base class. `message` is the short message, the remedy and the docs URL, on lines of their own. */
export class CheckoutError extends Error {
  override readonly name: string = 'CheckoutError';
  declare readonly code: string;
  /** The event: the first line of `message`. */
  declare readonly shortMessage: string;
  declare readonly remedy: string;
  /** Absolute URL of the page that explains `code`; undefined when no server is known. */
  declare readonly docsUrl: string | undefined;

  /** Subclasses pass further details; each becomes a property. */
  constructor(shortMessage: string, { cause, apiUrl, ...details }: CheckoutErrorDetails) {
    const {
      code,
      remedy,
      docsUrl = apiUrl && `${apiUrl.replace(/\/{1,20}$/, '')}/docs/errors#${code}`,
    } = details;
    super(`${shortMessage}\n\n${remedy}${docsUrl ? `\nDocs: ${docsUrl}` : ''}`, { cause });
    Object.assign(this, details, { shortMessage, docsUrl });
  }
}

/** A request field that failed validation; `path` uses dots for nested fields (`customer.email`). */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** A code from the API's closed list, or one that a newer server has added. */
export type ApiErrorCode = ErrorCode | (string & Record<never, never>);

export interface ApiErrorDetails extends CheckoutErrorDetails {
  readonly code: ApiErrorCode;
  /** The HTTP status, such as 409. */
  readonly status: number;
  /** Identifies the request in the server's log; empty if the server sent no id. */
  readonly requestId: string;
  /** The delay that the server asked for before the next attempt. */
  readonly retryAfterSeconds?: number | undefined;
  /** The request field at fault. */
  readonly param?: string | undefined;
  /** Every field at fault; only with `validation_error`. */
  readonly errors?: readonly FieldError[] | undefined;
  /** Only with `duplicate_tx_ref` and a secret key: the payment that already has the reference. */
  readonly paymentId?: string | undefined;
}

/** The API refused the request. */
export class ApiError extends CheckoutError implements ApiErrorDetails {
  override readonly name = 'ApiError';
  declare readonly code: ApiErrorCode;
  declare readonly status: number;
  declare readonly requestId: string;
  declare readonly retryAfterSeconds: number | undefined;
  declare readonly param: string | undefined;
  declare readonly errors: readonly FieldError[] | undefined;
  declare readonly paymentId: string | undefined;

  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- it requires the details of an API error
  constructor(shortMessage: string, details: ApiErrorDetails) {
    super(shortMessage, details);
  }
}

type Origin = Pick<CheckoutErrorDetails, 'apiUrl' | 'cause'>;

/** No complete response arrived: offline, blocked, or the server is down. The request may have taken effect. */
export class NetworkError extends CheckoutError {
  override readonly name = 'NetworkError';

  constructor(shortMessage: string, origin: Origin = {}) {
    super(shortMessage, {
      code: 'network_error',
      remedy: 'Check the connection, `api-url` and the page’s Content-Security-Policy.',
      ...origin,
    });
  }
}

/** A response arrived that does not match the contract. */
export class ReplyError extends CheckoutError {
  override readonly name = 'ReplyError';

  constructor(shortMessage: string, origin: Origin = {}) {
    super(shortMessage, {
      code: 'malformed_reply',
      remedy: 'Check `api-url`, and that no proxy changes replies.',
      ...origin,
    });
  }
}
