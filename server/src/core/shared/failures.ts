/** Collects failures, so that one failed item does not stop the others. All are reported at the end. */

export function createFailures() {
  const errors: unknown[] = [];
  return {
    /** Runs the work. If it fails, collects the error instead of throwing it. */
    async collect(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        errors.push(error);
      }
    },
    /**
     * Throws if anything failed.
     * @param what describes the failures, in the plural, for the message of an AggregateError
     * @throws the only error, or an AggregateError of all
     */
    report(what: string): void {
      if (errors.length === 1) throw errors[0];
      if (errors.length > 1) throw new AggregateError(errors, `${errors.length} ${what}`);
    },
  };
}
