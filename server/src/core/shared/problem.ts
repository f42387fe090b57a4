/** An error that a caller can act on. `api/problem.ts` is the only place that turns it into an HTTP reply. */
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';

export interface FieldError {
  /** The field, with dots for nested ones: `amount`, `customer.email`. */
  readonly path: string;
  readonly message: string;
}

export interface ProblemDetails {
  readonly param?: string;
  readonly errors?: readonly FieldError[];
  /** The payment that already has the reference. Sent to secret keys only. */
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

/** A `validation_error` about one field. */
export function invalidField(path: string, message: string): Problem {
  return new Problem('validation_error', `${path}: ${message}`, { param: path, errors: [{ path, message }] });
}

/** The error for a change that the state of a record does not allow. */
export function invalidState(message: string): Problem {
  return new Problem('invalid_state', message);
}

/** The error for an unknown id. Ids that belong to somebody else get the same one, so that nobody can probe for them. */
export function notFound(record: string): Problem {
  return new Problem('not_found', `No such ${record}`);
}

/** The record that was looked up. Problem: `not_found` if there is none. */
export function orNotFound<T>(found: T | undefined, record: string): T {
  if (found === undefined) throw notFound(record);
  return found;
}
