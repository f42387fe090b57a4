/** The Express application: everything that answers HTTP, in its order. */
import { api, sandbox, type Api } from 'crypto-checkout/contract';
import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import type { Keys } from '../keys/keys.js';
import { Problem } from '../problems.js';
import type { Handlers } from './handler.js';
import { healthRouter, type CheckReady } from './health.js';
import type { Idempotency } from './idempotency.js';
import type { CheckLimits } from './limits.js';
import type { Metrics } from './metrics.js';
import { mount } from './mount.js';
import { createProblemHandler } from './problem.js';
import { pathForLog, requestIdOf, startReply } from './reply.js';

export interface ExpressAppOptions<Services> {
  readonly services: Services;
  readonly handlers: Handlers<Api, Services>;
  readonly testHandlers: Handlers<{ sandbox: typeof sandbox }, Services>;
  readonly database: Database;
  readonly keys: Pick<Keys, 'authenticate'>;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
  readonly checkLimits: CheckLimits | undefined;
  readonly checkReady: CheckReady;
  /** Absent where nobody may read them. */
  readonly metrics: Pick<Metrics, 'watchRequests' | 'router'> | undefined;
  /** Hosted pages, the widget's script and the demo shop. */
  readonly pages: Router;
  /** Proxies to believe about the client's address: how many, or their addresses. */
  readonly trustProxy: number | string | undefined;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

export function createExpressApp<Services>(options: ExpressAppOptions<Services>): Express {
  const { handlers, testHandlers, checkReady, metrics, pages, trustProxy, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);

  app.use(
    inOneLayer([
      startReply,
      ...(metrics ? [metrics.watchRequests] : []),
      ...(log.isLevelEnabled('debug') ? [logRequests(log)] : []),
      below('/v1', mount(api, handlers, { ...options, modes: ['test', 'live'] })),
    ]),
  );
  app.use(
    '/sandbox',
    mount({ sandbox }, testHandlers, { ...options, idempotency: undefined, modes: ['test'] }),
  );
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', requestIdOf(response));
    next();
  });
  app.use(healthRouter(checkReady));
  if (metrics) app.use(metrics.router);
  app.use(pages);
  app.use(() => {
    throw new Problem('not_found', 'There is nothing at this path');
  });
  app.use(createProblemHandler(log));
  return app;
}

/** Runs handlers one after the other as Express does, but for its layers: each costs as much as finding an endpoint. */
function inOneLayer(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    let count = 0;
    const run = (error?: unknown): void => {
      const handler = error === undefined ? handlers[count] : undefined;
      count += 1;
      if (!handler) return next(error);
      const answered: unknown = handler(request, response, run);
      // Express itself watches the promise of the first one alone.
      if (answered instanceof Promise) answered.catch(next);
    };
    run();
  };
}

/** Handles the paths at a prefix and below it, which stay whole. */
function below(prefix: string, handler: RequestHandler): RequestHandler {
  const isBelow = ({ url }: { url: string }) =>
    url.startsWith(prefix) && ['/', '?', undefined].includes(url[prefix.length]);
  return (request, response, next) => (isBelow(request) ? handler(request, response, next) : next());
}

function logRequests(log: Logger): RequestHandler {
  return (request, response, next) => {
    response.once('finish', () => {
      const path = pathForLog(request, response);
      const { method } = request;
      log.debug({ requestId: requestIdOf(response), method, path, status: response.statusCode }, 'Request');
    });
    next();
  };
}
