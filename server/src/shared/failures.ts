/** Collects failures, so that one failed item does not stop the others. All are reported at the end. */

export interface Failures {
  /** Runs the work. If it fails, collects the error instead of throwing it. */
  collect(work: () => Promise<void>): Promise<void>;
  /**
   * Throws if anything failed.
   * @param what describes the failures, in the plural, for the message of an AggregateError
   * @throws the only error, or an AggregateError of all
   */
  report(what: string): void;
}

export function createFailures(): Failures {
  const errors: unknown[] = [];
  return {
    async collect(work) {
      try {
        await work();
      } catch (error) {
        errors.push(error);
      }
    },
    report(what) {
      if (errors.length === 1) throw errors[0];
      if (errors.length > 1) throw new AggregateError(errors, `${errors.length} ${what}`);
    },
  };
}
