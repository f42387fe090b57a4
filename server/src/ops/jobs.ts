/** Runs the rules that time alone sets off, one run at a time, until the server stops. */
import type { Logger } from 'pino';

export interface Job {
  readonly name: string;
  readonly intervalMs: number;
  run(signal: AbortSignal): Promise<void>;
}

export interface Jobs {
  start(): void;
  /** Waits for the runs that are under way. */
  stop(): Promise<void>;
}

/** Is told of every run that has ended. */
export type WatchRun = (run: {
  readonly job: string;
  readonly seconds: number;
  readonly isFailed: boolean;
}) => void;

export function createJobs(jobs: readonly Job[], logger: Logger, watchRun?: WatchRun): Jobs {
  const controller = new AbortController();
  const timers = new Map<Job, NodeJS.Timeout>();
  const running = new Map<Job, Promise<void>>();

  async function run(job: Job): Promise<void> {
    const started = performance.now();
    let isFailed = false;
    try {
      await job.run(controller.signal);
    } catch (error) {
      isFailed = true;
      // A job runs again; what failed once is logged and tried at its next turn.
      if (!controller.signal.aborted) logger.error({ err: error, job: job.name }, 'A job failed');
    }
    watchRun?.({ job: job.name, seconds: (performance.now() - started) / 1000, isFailed });
  }

  function schedule(job: Job): void {
    timers.set(
      job,
      setTimeout(() => {
        const ended = run(job).then(() => {
          running.delete(job);
          if (!controller.signal.aborted) schedule(job);
        });
        running.set(job, ended);
      }, job.intervalMs),
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
