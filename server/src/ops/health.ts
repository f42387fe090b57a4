/** Tells whoever runs the server whether it lives and serves. No key, nothing about merchants. */
import { Router, type Response } from 'express';
import { Problem } from '../shared/problem.js';

/** What a server needs to do its work, as it is at the moment. */
export interface Condition {
  isStopping(): boolean;
  /** Rejects where the database does not answer. */
  askDatabase(): Promise<void>;
  networks(): readonly {
    readonly network: string;
    /** Undefined before the first scan. */
    readonly lagMs: number | undefined;
  }[];
  /** How long the oldest webhook delivery that is due has been waiting to be tried. */
  webhookLagMs(): Promise<number>;
  /** How long ago this process last looked for deliveries that are due. */
  webhooksIdleMs(): number;
}

export interface ReadyLimits {
  readonly chainLagSeconds: number;
  readonly webhookLagSeconds: number;
}

/** Rejects while the server cannot do its work; the reason may be told to anybody. */
export type CheckReady = () => Promise<void>;

class NotReady extends Error {
  override readonly name = 'NotReady';
}

export function createCheckReady(condition: Condition, limits: ReadyLimits): CheckReady {
  return async () => {
    if (condition.isStopping()) throw new NotReady('the server stops');
    try {
      await condition.askDatabase();
    } catch (error) {
      throw new NotReady('the database does not answer', { cause: error });
    }
    for (const { network, lagMs } of condition.networks()) {
      if (lagMs === undefined) throw new NotReady(`${network} has not been scanned yet`);
      const lagSeconds = Math.floor(lagMs / 1000);
      if (lagSeconds > limits.chainLagSeconds) {
        throw new NotReady(`the scan of ${network} is ${lagSeconds} s behind`);
      }
    }
    // One receiver that hangs makes its own deliveries late, and must not take the server away from everybody else.
    if (condition.webhooksIdleMs() / 1000 <= limits.webhookLagSeconds) return;
    const lagSeconds = Math.floor((await condition.webhookLagMs()) / 1000);
    if (lagSeconds > limits.webhookLagSeconds) {
      throw new NotReady(`webhook deliveries stand still, ${lagSeconds} s late`);
    }
  };
}

export function healthRouter(checkReady: CheckReady): Router {
  const router = Router();
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
    send(response, 'Ready');
  });
  return router;
}

function send(response: Response, message: string): void {
  response.set('Cache-Control', 'no-store').json({ status: 'success', message });
}
