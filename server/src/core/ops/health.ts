/** Health checks: `/healthz` (the process is up) and `/readyz` (it can serve). They need no key and expose no merchant data. */
import { Router, type Response } from 'express';
import { describeNetwork, publicProblems, type ShownHealth } from '../scanning/network-health.js';
import { describeSkew, maxSkewMs } from '../db/server-time.js';
import { Problem } from '../shared/problem.js';
import type { CurrentOutage } from './outage.js';

/** The current condition of the server and of everything that it depends on. */
export interface Condition {
  isStopping(): boolean;
  /** Undefined while the database works. */
  outage(): CurrentOutage | undefined;
  /** True if an error of the database is that of an outage, which then begins. */
  noteOutage(error: unknown): boolean;
  /** Rejects if the database does not respond, or takes no writes. */
  pingDatabase(): Promise<void>;
  /** The time that this machine's clock is ahead of the server's time. */
  clockSkewMs(): number;
  networks(): readonly ShownHealth[];
  /** Reasons why the server cannot do its work. */
  stops(): readonly string[];
  /** The longest that any webhook delivery is overdue. */
  webhookLagMs(): Promise<number>;
  /** The time since this process last polled for due deliveries. */
  webhooksIdleMs(): number;
}

export interface ReadyLimits {
  readonly chainLagSeconds: number;
  readonly webhookLagSeconds: number;
}

/** Rejects while the server is not ready. The message of a `NotReady` is safe to show to anybody. */
export type CheckReady = () => Promise<void>;

class NotReady extends Error {
  override readonly name = 'NotReady';
}

function refuseOutage(condition: Condition): void {
  const outage = condition.outage();
  if (!outage) return;
  throw new NotReady(`the database is out of service: ${outage.reason}`, { cause: outage.error });
}

export function createCheckReady(condition: Condition, limits: ReadyLimits): CheckReady {
  return async () => {
    if (condition.isStopping()) throw new NotReady('the server is shutting down');
    refuseOutage(condition);
    try {
      await condition.pingDatabase();
    } catch (error) {
      if (condition.noteOutage(error)) refuseOutage(condition);
      throw new NotReady('the database is not responding', { cause: error });
    }
    const skewMs = condition.clockSkewMs();
    if (Math.abs(skewMs) > maxSkewMs) throw new NotReady(describeSkew(skewMs));
    const [stop] = condition.stops();
    if (stop !== undefined) throw new NotReady(stop);
    for (const one of condition.networks()) {
      const { mode, network, lagMs } = one;
      const why = publicProblems(one)
        .map((problem) => `. ${problem}`)
        .join('');
      if (lagMs === undefined) throw new NotReady(`${network} (${mode}) has not been scanned yet${why}`);
      const lagSeconds = Math.floor(lagMs / 1000);
      if (lagSeconds > limits.chainLagSeconds) {
        throw new NotReady(`the scan of ${network} (${mode}) is ${lagSeconds} s behind${why}`);
      }
    }
    // One receiver that hangs delays only its own deliveries. That must not make the server unready for everybody else,
    // so late deliveries count only if this process has stopped polling for them.
    if (condition.webhooksIdleMs() / 1000 <= limits.webhookLagSeconds) return;
    const lagSeconds = Math.floor((await condition.webhookLagMs()) / 1000);
    if (lagSeconds > limits.webhookLagSeconds) {
      throw new NotReady(`webhook deliveries have stalled and are ${lagSeconds} s late`);
    }
  };
}

/** @param notices the parts that do not work, though the server can serve */
export function healthRouter(
  checkReady: CheckReady,
  networks: Condition['networks'],
  notices: () => readonly string[] = () => [],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_request, response) => {
    send(response, 'Alive');
  });
  router.get('/readyz', async (_request, response) => {
    try {
      await checkReady();
    } catch (error) {
      const reason = error instanceof NotReady ? `: ${error.message}` : '';
      throw new Problem(
        'service_unavailable',
        `Not ready to serve${reason}`,
        { retryAfterSeconds: 1 },
        { cause: error },
      );
    }
    const real = networks().filter(({ connection }) => connection !== undefined);
    const message = ['Ready', ...new Set(notices())].join('. ');
    send(response, message, real.length > 0 ? { networks: real.map(describeNetwork) } : undefined);
  });
  return router;
}

function send(response: Response, message: string, data?: object): void {
  response.set('Cache-Control', 'no-store').json({ status: 'success', message, ...(data && { data }) });
}
