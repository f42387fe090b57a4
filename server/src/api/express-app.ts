/** The Express application: everything that answers HTTP, in its order. */
import { api, type Api, type sandbox as sandboxTable } from 'crypto-checkout/contract';
import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Logger } from 'pino';
import type { Database } from '../db/database.js';
import type { Keys } from '../merchants/keys.js';
import { pathForLog, requestIdOf, startRequest } from '../ops/request.js';
import type { Clock } from '../shared/clock.js';
import type { Handlers } from './handler.js';
import { Problem } from '../shared/problem.js';
import type { Idempotency } from './idempotency.js';
import type { CheckLimits } from './limits.js';
import { mount } from './mount.js';
import { createProblemHandler } from './problem.js';

type SandboxTable = Record<'sandbox', typeof sandboxTable>;

export interface ExpressAppOptions {
  readonly handlers: Handlers<Api>;
  readonly sandbox: {
    readonly table: SandboxTable['sandbox'];
    readonly handlers: Handlers<SandboxTable>['sandbox'];
  };
  readonly database: Database;
  readonly keys: Pick<Keys, 'authenticate'>;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
  readonly checkLimits: CheckLimits | undefined;
  /** Sees every request before it is answered. */
  readonly watchRequests: RequestHandler | undefined;
  /** What answers beside the API: health, metrics and pages. */
  readonly routers: readonly Router[];
  /** Proxies whose word about the client's address is taken: how many, or their addresses. */
  readonly trustProxy: number | string | undefined;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

export function createExpressApp(options: ExpressAppOptions): Express {
  const { handlers, sandbox, watchRequests, routers, trustProxy, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);

  app.use(
    inOneLayer([
      startRequest,
      ...(watchRequests ? [watchRequests] : []),
      ...(log.isLevelEnabled('debug') ? [logRequests(log)] : []),
      below('/v1', mount(api, handlers, { ...options, modes: ['test', 'live'] })),
    ]),
  );
  app.use(
    '/sandbox',
    mount(
      { sandbox: sandbox.table },
      { sandbox: sandbox.handlers },
      { ...options, idempotency: undefined, modes: ['test'] },
    ),
  );
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', requestIdOf(response));
    next();
  });
  for (const router of routers) app.use(router);
  app.use(() => {
    throw new Problem('not_found', 'There is nothing at this path');
  });
  app.use(createProblemHandler(log));
  return app;
}

/** Runs handlers one after the other, as Express does. One layer of Express costs as much as finding an endpoint. */
function inOneLayer(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    let count = 0;
    const run = (error?: unknown): void => {
      const handler = error === undefined ? handlers[count] : undefined;
      count += 1;
      if (!handler) return next(error);
      const answered: unknown = handler(request, response, run);
      // Express itself watches only the promise of the first one.
      if (answered instanceof Promise) answered.catch(next);
    };
    run();
  };
}

/** Handles the paths at a prefix and below it. They stay whole. */
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
