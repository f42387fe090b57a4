/** How a source of exchange rates fails. The messages are for the operator, and hold no URL: it may have a key in it. */

/** The source did not answer as documented. */
export class SourceFailed extends Error {
  override readonly name: string = 'SourceFailed';
  /** How long the source asks to be left alone; 0 if it does not say. */
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
