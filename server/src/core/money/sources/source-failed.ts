/**
 * The failures of a source of exchange rates. The messages are for the operator, and hold no URL: it may have a key
 * in it.
 */

/** The source did not answer as documented. */
export class SourceFailed extends Error {
  override readonly name: string = 'SourceFailed';
  /** The time for which the source asks to receive no requests; 0 if it names none. */
  readonly retryAfterMs: number;

  constructor(message: string, options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** The source refuses the request as it is. Asked for fewer markets, it may answer. */
export class RequestRefused extends SourceFailed {
  override readonly name = 'RequestRefused';
}
