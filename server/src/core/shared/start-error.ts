/** Errors that prevent the server from starting, such as a database that cannot be opened. */
import { errorMessage } from './error-message.js';

/** The message names the environment variable and says what went wrong. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(what: string, options?: { readonly cause: unknown }) {
    super(options ? `${what}: ${errorMessage(options.cause)}` : what, options);
  }
}

/**
 * Runs one step of the start, and turns any error into a StartError.
 * @param what names the environment variable and what failed
 */
export async function orStartError<T>(what: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw new StartError(what, { cause: error });
  }
}
