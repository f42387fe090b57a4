/** Runs the rules that time alone sets off, one run at a time, until the server stops. */
import type { Logger } from 'pino';

export interface Job {
  readonly name: string;
  readonly intervalMilliseconds: number;
  run(signal: AbortSignal): Promise<void>;
}

export interface Jobs {
  start(): void;
  /** Waits for the runs that are under way. */
  stop(): Promise<void>;
}

export function createJobs(jobs: readonly Job[], logger: Logger): Jobs {
  const controller = new AbortController();
  const timers = new Map<Job, NodeJS.Timeout>();
  const running = new Map<Job, Promise<void>>();

  function schedule(job: Job): void {
    timers.set(
      job,
      setTimeout(() => {
        const run = job
          .run(controller.signal)
          .catch((error: unknown) => {
            // A job runs again; what failed once is logged and tried at its next turn.
            if (!controller.signal.aborted) logger.error({ err: error, job: job.name }, 'A job failed');
          })
          .then(() => {
            running.delete(job);
            if (!controller.signal.aborted) schedule(job);
          });
        running.set(job, run);
      }, job.intervalMilliseconds),
    );
  }

  return {
    start() {
      for (const job of jobs) schedule(job);
    },
    async stop() {
      controller.abort();
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
