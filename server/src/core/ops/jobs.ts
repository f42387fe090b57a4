/** Runs background jobs at their intervals until the server stops. Runs of one job never overlap. */
import type { Logger } from 'pino';
import { NodesUnavailable } from '../chains/nodes-unavailable.js';
import type { Job } from '../shared/feature.js';

/** Called after every run. */
export type WatchRun = (run: {
  readonly job: string;
  readonly seconds: number;
  readonly isFailed: boolean;
}) => void;

export function createJobs(jobs: readonly Job[], logger: Logger, watchRun?: WatchRun) {
  const controller = new AbortController();
  const timers = new Map<Job, NodeJS.Timeout>();
  const running = new Map<Job, Promise<void>>();

  async function run(job: Job): Promise<void> {
    const startedAt = performance.now();
    let isFailed = false;
    try {
      await job.run(controller.signal);
    } catch (error) {
      isFailed = true;
      // The next run tries again.
      if (error instanceof NodesUnavailable) {
        // An outage of somebody else's node is no bug of ours: the message says which node and why.
        if (!controller.signal.aborted)
          logger.warn({ job: job.name, problem: error.message }, 'A job waits for a node');
      } else if (!controller.signal.aborted) logger.error({ err: error, job: job.name }, 'Job failed');
    }
    watchRun?.({ job: job.name, seconds: (performance.now() - startedAt) / 1000, isFailed });
  }

  function schedule(job: Job): void {
    timers.set(
      job,
      setTimeout(() => {
        const current = run(job).then(() => {
          running.delete(job);
          if (!controller.signal.aborted) schedule(job);
        });
        running.set(job, current);
      }, job.intervalMs),
    );
  }

  return {
    start(): void {
      for (const job of jobs) schedule(job);
    },
    /** Aborts the current runs and waits for them to end. */
    async stop(): Promise<void> {
      controller.abort();
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
