/** Per-request data for the log and the metrics: the request id, and the route that matched. */
import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';

interface RequestState {
  requestId: string;
  route?: Route;
  label?: string;
}

/** The endpoint path that a request matched. */
export interface Route {
  /** `/v1/payments/{payment_id}`, without the values of its placeholders. */
  readonly pattern: string;
  /** The values of the placeholders, in order and percent-encoded. */
  readonly values: readonly string[];
}

/**
 * Gives the request an id: random, so that it reveals nothing about the traffic. Removes ports from
 * `X-Forwarded-For`, which some proxies add: with them, each connection of a client would count as another client,
 * and Express would not recognize trusted proxies. Must run before every other handler.
 */
export const startRequest: RequestHandler = (request, response, next) => {
  stateOf(response).requestId = randomUUID();
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded !== undefined) {
    request.headers['x-forwarded-for'] = String(forwarded).split(',').map(withoutPort).join(',');
  }
  next();
};

/** `192.0.2.1` of `192.0.2.1:443`, and `2001:db8::1` of `[2001:db8::1]:443`. */
function withoutPort(address: string): string {
  return address.trim().replace(/^(?:([\d.]+)|\[([\da-f:.]+)\])(?::\d*)?$/i, '$1$2');
}

export function requestIdOf(response: Response): string {
  return stateOf(response).requestId;
}

export function setRoute(response: Response, route: Route): void {
  stateOf(response).route = route;
}

/** Says under which path the metrics count a request. Only for a caller with a key: anybody could fill them otherwise. */
export function setLabel(response: Response, pattern: string): void {
  stateOf(response).label = pattern;
}

/** The path under which the metrics count a request. */
export function labelOf(request: Request, response: Response): string {
  return stateOf(response).label ?? pagePattern(request.route) ?? 'other';
}

const recordId = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * The request's path, safe to log. Of the values in it only record ids are kept, because callers put email addresses and
 * even keys into paths.
 */
export function pathForLog(request: Request, response: Response): string {
  const { route } = stateOf(response);
  if (!route) return pagePattern(request.route) ?? 'unknown';
  const values = route.values.map((value) => (recordId.test(value) ? value : '…'));
  return route.pattern.replace(/\{\*?\w+\}/g, () => values.shift() ?? '…');
}

/** The Express route pattern of a page; undefined for files and for unknown paths. */
function pagePattern(route: unknown): string | undefined {
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : undefined;
  return typeof path === 'string' ? path : undefined;
}

function stateOf(response: Response): RequestState {
  return response.locals as RequestState;
}
