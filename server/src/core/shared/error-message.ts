/** The message of any thrown value, for the log and the operator. */

/**
 * Joins the messages of an AggregateError: a connection to a host with several addresses fails with one error for each,
 * and no message of its own.
 */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join(', ');
  return error instanceof Error ? error.message : String(error);
}
