/** What is known of a request while it is answered, for the log and the metrics: its id, and the path it is for. */
import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';

interface RequestState {
  requestId: string;
  route?: Route;
}

/** The path of a request, as the table of endpoints declares it. */
export interface Route {
  /** `/v1/payments/{payment_id}`, without the values of its placeholders. */
  readonly pattern: string;
  /** The values, in the order of the placeholders and percent-encoded. */
  readonly values: readonly string[];
}

const processId = randomBytes(6).toString('hex');
let requests = 0;

/** Comes before every other handler: gives the request an id that is unique among replicas and restarts. */
export const startRequest: RequestHandler = (_request, response, next) => {
  requests += 1;
  stateOf(response).requestId = `${processId}-${requests.toString(36)}`;
  next();
};

export function requestIdOf(response: Response): string {
  return stateOf(response).requestId;
}

export function setRoute(response: Response, route: Route): void {
  stateOf(response).route = route;
}

export function routeOf(response: Response): Route | undefined {
  return stateOf(response).route;
}

const recordId = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * The path of a request as it may be logged. Only ids of records are kept in it: callers put email addresses and
 * even keys into paths.
 */
export function pathForLog(request: Request, response: Response): string {
  const route = routeOf(response);
  if (!route) return pagePattern(request.route) ?? 'unknown';
  const values = route.values.map((value) => (recordId.test(value) ? value : '…'));
  return route.pattern.replace(/\{\*?\w+\}/g, () => values.shift() ?? '…');
}

/** The pattern that Express routed a page by. Undefined for files, and where there is nothing. */
export function pagePattern(route: unknown): string | undefined {
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : undefined;
  return typeof path === 'string' ? path : undefined;
}

function stateOf(response: Response): RequestState {
  return response.locals as RequestState;
}
