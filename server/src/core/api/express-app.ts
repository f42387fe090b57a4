/** The Express application: all routes and middleware, in order. */
import { sandbox as sandboxTable, type Endpoints } from 'crypto-checkout/contract';
import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Logger } from 'pino';
import { pathForLog, requestIdOf, startRequest } from '../ops/request.js';
import { named, type Handlers, type NamedHandlers } from './handler.js';
import { Problem } from '../shared/problem.js';
import { checkEncoding } from './check-encoding.js';
import { isForMachines, type CallerLimits, type IpLimits } from './limits.js';
import { mount, type MountOptions } from './mount.js';
import { createProblemHandler } from './problem.js';
import { createCookies } from './cookies.js';
import type { AuthenticateOptions } from './authenticate.js';
import type { Sessions } from './session.js';
import { allowBrowsers, requireHttps, transportSecurity } from './reply.js';

/** The parts with which a stream identifies its caller and limits it. */
export interface StreamOptions extends AuthenticateOptions {
  readonly callerLimits: CallerLimits | undefined;
  readonly ipLimits: IpLimits | undefined;
}

/** The sign-in of people, and the paths that their pages call in addition to endpoints. A module has it. */
export interface ForPeople {
  readonly sessions: Sessions;
  /** Their pages are below it, which pages of other sites cannot read; their endpoints are below `{path}/api`. */
  readonly path: string;
  /** Paths of open replies, which no endpoint describes. */
  readonly streams: RegExp;
  stream(options: StreamOptions): RequestHandler;
}

export interface ExpressAppOptions extends Omit<
  MountOptions,
  'sessions' | 'cookiesOf' | 'modes' | 'isForPeople'
> {
  /** The endpoints below `/v1`, and their handlers, by resource and verb. */
  readonly api: Endpoints;
  readonly handlers: NamedHandlers;
  /** Undefined if it is off: its paths do not exist then. */
  readonly sandbox: Handlers<{ readonly sandbox: typeof sandboxTable }>['sandbox'] | undefined;
  /** Undefined if no person can sign in: the console's paths do not exist then, and no session names a caller. */
  readonly console: (ForPeople & { readonly api: Endpoints; readonly handlers: NamedHandlers }) | undefined;
  /** Runs before every other handler. */
  readonly watchRequests: RequestHandler | undefined;
  /** The routes outside the API: health, metrics and pages. */
  readonly routers: readonly Router[];
  /** Proxies that are trusted to report the client's address: how many, or their addresses. */
  readonly trustProxy: number | string | undefined;
  /** The URL at which clients reach the server. */
  readonly publicUrl: string;
  /** The page that explains an error code, for error replies. */
  readonly docsUrl: (code: string) => string | undefined;
  readonly log: Logger;
}

export function createExpressApp(given: ExpressAppOptions): Express {
  const { console: people, publicUrl } = given;
  const options = { ...given, sessions: people?.sessions, cookiesOf: createCookies(publicUrl) };
  const { api, handlers, sandbox, watchRequests, routers, trustProxy, ipLimits, log } = options;
  const isHttps = publicUrl.startsWith('https:');
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);

  app.use(
    asOneHandler([
      startRequest,
      ...(isHttps ? [startHttps] : []),
      ...(watchRequests ? [watchRequests] : []),
      ...(log.isLevelEnabled('debug') ? [logRequests(log)] : []),
      under('/v1', mount(api, handlers, { ...options, modes: ['test', 'live'] })),
    ]),
  );
  const sandboxes = { sandbox: sandboxTable };
  if (sandbox) {
    app.use('/sandbox', mount(sandboxes, named(sandboxes, { sandbox }), { ...options, modes: ['test'] }));
  }
  const startPage: RequestHandler = async (request, response, next) => {
    response.setHeader('X-Request-Id', requestIdOf(response));
    if (isHttps) response.setHeader(...transportSecurity);
    // The developer of a shop's page can read why it is refused. The console is for its own pages only.
    if (!people || !request.path.startsWith(people.path)) allowBrowsers(response);
    await ipLimits?.anyRequest(request, response);
    next();
  };
  if (people) {
    app.get(people.streams, startPage, people.stream(options));
    app.use(
      `${people.path}/api`,
      mount(people.api, people.handlers, {
        ...options,
        // Its replies have secrets.
        idempotency: undefined,
        modes: ['test', 'live'],
        isForPeople: true,
      }),
    );
  }
  app.use(startPage, async (request, response, next) => {
    if (!isForMachines(request)) await ipLimits?.page(request, response);
    checkEncoding(request.url);
    next();
  });
  for (const router of routers) app.use(router);
  app.use(() => {
    throw new Problem('not_found', 'There is nothing at this path');
  });
  app.use(createProblemHandler(log, given.docsUrl));
  return app;
}

const startHttps: RequestHandler = (_request, response, next) => {
  requireHttps(response);
  next();
};

/**
 * Chains handlers as Express does, but in a single Express layer: each layer costs as much as looking up an endpoint.
 */
function asOneHandler(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    let index = 0;
    const run = (error?: unknown): void => {
      const handler = error === undefined ? handlers[index] : undefined;
      index += 1;
      if (!handler) return next(error);
      const result: unknown = handler(request, response, run);
      // Express never sees these promises, so their rejections are handed on here.
      if (result instanceof Promise) result.catch(next);
    };
    run();
  };
}

/** Handles the paths under a prefix. Unlike `app.use(prefix, …)`, it does not strip the prefix. */
function under(prefix: string, handler: RequestHandler): RequestHandler {
  const isUnder = ({ url }: { url: string }) =>
    url.startsWith(prefix) && ['/', '?', undefined].includes(url[prefix.length]);
  return (request, response, next) => (isUnder(request) ? handler(request, response, next) : next());
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
