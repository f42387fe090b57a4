/** Tells whoever runs the server whether it lives and serves. No key, nothing about merchants. */
import { Router } from 'express';
import { Problem } from '../problems.js';
import { sendJson } from './reply.js';

/** Rejects while the server cannot do its work. */
export type CheckReady = () => Promise<void>;

export function healthRouter(checkReady: CheckReady): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    sendJson(response, 200, JSON.stringify({ status: 'success', message: 'Alive' }));
  });
  router.get('/readyz', async (_request, response) => {
    try {
      await checkReady();
    } catch (error) {
      throw new Problem(
        'service_unavailable',
        'Not ready to serve',
        { retryAfterSeconds: 1 },
        { cause: error },
      );
    }
    sendJson(response, 200, JSON.stringify({ status: 'success', message: 'Ready' }));
  });
  return router;
}
