/** Why a server cannot start: something that the configuration names cannot be used. */
import { errorMessage } from './error-message.js';

/** The message names the variable, and says what went wrong. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(what: string, options: { readonly cause: unknown }) {
    super(`${what}: ${errorMessage(options.cause)}`, options);
  }
}

/** Runs one step of the start. @param what names the variable and what cannot be done */
export async function orStartError<T>(what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw new StartError(what, { cause: error });
  }
}
