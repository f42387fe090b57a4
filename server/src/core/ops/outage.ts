/** An outage of the database: logged once when it begins and once when it is over, however many requests and jobs fail. */
import type { Logger } from 'pino';
import { outageReason } from '../db/errors.js';

export interface CurrentOutage {
  /** For operators. */
  readonly reason: string;
  readonly error: unknown;
}

export type Outage = ReturnType<typeof createOutage>;

export interface OutageOptions {
  readonly log: Logger;
  /** Rejects while the database does not work. */
  readonly probe: () => Promise<void>;
  readonly intervalMs?: number;
}

export function createOutage({ log, probe, intervalMs = 1000 }: OutageOptions) {
  let current: (CurrentOutage & { readonly since: number }) | undefined;
  let overAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  /** Tries until the database works again: without requests, nothing else would notice. */
  function schedule(): void {
    timer = setTimeout(() => {
      probe().then(
        () => {
          const seconds = Math.round((performance.now() - (current?.since ?? 0)) / 1000);
          current = undefined;
          overAt = performance.now();
          log.info({ seconds }, 'The database works again');
        },
        () => {
          if (timer) schedule();
        },
      );
    }, intervalMs);
    timer.unref();
  }

  return {
    /** True if the error is due to an outage. The first one starts it. */
    note(error: unknown): boolean {
      const reason = outageReason(error);
      if (reason === undefined) return false;
      // Work that began before the end of the outage may fail after it. If it continues, there will be more errors.
      const isLate = performance.now() - overAt < intervalMs;
      if (!current && !isLate) {
        current = { reason, error, since: performance.now() };
        log.warn(
          { err: error },
          `The database is out of service: ${reason}. Requests get 503 until it works again`,
        );
        schedule();
      }
      return true;
    },
    /** Why the database does not work, with the first error; undefined while it does. */
    current: (): CurrentOutage | undefined => current,
    stop(): void {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** A log that leaves out errors that are due to an outage, which is logged already. */
export function withoutOutages(log: Logger, outage: Outage): Logger {
  const quiet = Object.create(log) as Logger;
  for (const level of ['warn', 'error'] as const) {
    quiet[level] = (...args: unknown[]) => {
      const [first] = args;
      const error = typeof first === 'object' && first !== null && 'err' in first ? first.err : undefined;
      if (!outage.note(error)) Reflect.apply(log[level], log, args);
    };
  }
  return quiet;
}
