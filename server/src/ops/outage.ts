/** An outage of the database: logged once when it begins and once when it is over, however many requests and jobs fail. */
import type { Logger } from 'pino';
import { outageReason } from '../db/errors.js';

export interface Outage {
  /** Whether the error is due to an outage. The first one starts it. */
  note(error: unknown): boolean;
  /** Why the database does not work; undefined while it does. */
  reason(): string | undefined;
  stop(): void;
}

export interface OutageOptions {
  readonly log: Logger;
  /** Rejects while the database does not work. */
  readonly probe: () => Promise<void>;
  readonly intervalMs?: number;
}

export function createOutage({ log, probe, intervalMs = 1000 }: OutageOptions): Outage {
  let current: { readonly reason: string; readonly since: number } | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** Tries until the database works again: without requests, nothing else would notice. */
  function schedule(): void {
    timer = setTimeout(() => {
      probe().then(
        () => {
          const seconds = Math.round((performance.now() - (current?.since ?? 0)) / 1000);
          current = undefined;
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
    note(error) {
      const reason = outageReason(error);
      if (reason === undefined) return false;
      if (!current) {
        current = { reason, since: performance.now() };
        log.warn(
          { err: error },
          `The database is out of service: ${reason}. Requests get 503 until it works again`,
        );
        schedule();
      }
      return true;
    },
    reason: () => current?.reason,
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** A log that leaves out errors that are due to an outage, which is logged already. */
export function withoutOutages(log: Logger, outage: Outage): Logger {
  const quiet: Logger = Object.create(log);
  for (const level of ['warn', 'error'] as const) {
    const write = log[level].bind(log) as (...args: unknown[]) => void;
    quiet[level] = (...args: unknown[]) => {
      const [first] = args;
      const error = typeof first === 'object' && first !== null && 'err' in first ? first.err : undefined;
      if (!outage.note(error)) write(...args);
    };
  }
  return quiet;
}
