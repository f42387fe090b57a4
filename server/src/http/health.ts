/** Tells whoever runs the server whether it lives and serves. No key, nothing about merchants. */
import { Router } from 'express';
import { Problem } from '../problems.js';
import { sendJson } from './reply.js';

/** What a server needs to do its work, as it is at the moment. */
export interface Condition {
  isStopping(): boolean;
  /** Rejects where the database does not answer. */
  askDatabase(): Promise<void>;
  networks(): readonly {
    readonly network: string;
    /** Undefined before the first scan. */
    readonly lagMilliseconds: number | undefined;
  }[];
  /** How long the oldest webhook delivery that is due has been waiting to be tried. */
  webhookLagMilliseconds(): Promise<number>;
  /** How long ago this process last looked for deliveries that are due. */
  webhooksIdleMilliseconds(): number;
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
    for (const { network, lagMilliseconds } of condition.networks()) {
      if (lagMilliseconds === undefined) throw new NotReady(`${network} has not been scanned yet`);
      const lagSeconds = Math.floor(lagMilliseconds / 1000);
      if (lagSeconds > limits.chainLagSeconds) {
        throw new NotReady(`the scan of ${network} is ${lagSeconds} s behind`);
      }
    }
    // One receiver that hangs makes its own deliveries late, and must not take the server away from everybody else.
    if (condition.webhooksIdleMilliseconds() / 1000 <= limits.webhookLagSeconds) return;
    const lagSeconds = Math.floor((await condition.webhookLagMilliseconds()) / 1000);
    if (lagSeconds > limits.webhookLagSeconds) {
      throw new NotReady(`webhook deliveries stand still, ${lagSeconds} s late`);
    }
  };
}

export function healthRouter(checkReady: CheckReady): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    sendJson(response, 200, JSON.stringify({ status: 'success', message: 'Alive' }));
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
    sendJson(response, 200, JSON.stringify({ status: 'success', message: 'Ready' }));
  });
  return router;
}
