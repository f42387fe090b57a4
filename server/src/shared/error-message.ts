/** Why something failed, in words for whoever runs the server. */

/** The error's message; a host with several addresses fails with one error for each and no message of its own. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join(', ');
  return error instanceof Error ? error.message : String(error);
}
