/** What can go wrong in a way that a caller can act on. `http/problem.ts` is the one place that turns it into HTTP. */
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';

export interface FieldError {
  /** Where in the request: `amount`, `customer.email`. */
  readonly path: string;
  readonly message: string;
}

export interface ProblemDetails {
  readonly param?: string;
  readonly errors?: readonly FieldError[];
  /** The payment that already has the reference, for secret keys alone. */
  readonly paymentId?: string;
  readonly retryAfterSeconds?: number;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ProblemDetails;

  constructor(code: ErrorCode, message: string, details: ProblemDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = errorStatus[code];
    this.details = details;
  }
}

/** A 400 about one field. */
export function invalidField(path: string, message: string): Problem {
  return new Problem('validation_error', `${path}: ${message}`, { param: path, errors: [{ path, message }] });
}

/** The one answer for an id that is unknown, or that belongs to somebody else. */
export function notFound(record: string): Problem {
  return new Problem('not_found', `No such ${record}`);
}
