/** Goes on after failures: a piece of work that fails holds up no other, and all of them are told at the end. */

export interface Failures {
  /** Does the work; if it fails, keeps the error for later. */
  collect(work: () => Promise<void>): Promise<void>;
  /** @throws the error that was kept, or an AggregateError of several. @param what could not be done, in the plural */
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
