/** What every answer of the API has in common: request id, headers, JSON. */
import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Mode } from '../db/schema.js';
import type { Caller } from './handler.js';

/** What is known of a request while it is answered. */
interface ReplyState {
  requestId: string;
  caller?: Caller;
  date?: string;
  isForBrowsers?: boolean;
  route?: Route;
}

/** Which path of a table a request is for. */
export interface Route {
  /** `/v1/payments/{payment_id}`: never with what stands for the placeholders. */
  readonly pattern: string;
  /** What does, in the order of the placeholders and percent-encoded. */
  readonly values: readonly string[];
}

const processId = randomBytes(6).toString('hex');
let requests = 0;

/** The first thing of every request: names it, in its answer and in the log, unique among replicas and restarts. */
export const startReply: RequestHandler = (_request, response, next) => {
  requests += 1;
  stateOf(response).requestId = `${processId}-${requests.toString(36)}`;
  next();
};

export function requestIdOf(response: Response): string {
  return stateOf(response).requestId;
}

/** For the log and the metrics. */
export function setRoute(response: Response, route: Route): void {
  stateOf(response).route = route;
}

export function routeOf(response: Response): Route | undefined {
  return stateOf(response).route;
}

const recordId = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * The path of a request as it may be logged: ids of records stand in it, and nothing else that a caller wrote, since a
 * caller may write an email address, or a key, anywhere.
 */
export function pathForLog(request: Request, response: Response): string {
  const route = routeOf(response);
  if (!route) return patternOfPage(request.route) ?? 'unknown';
  const values = route.values.map((value) => (recordId.test(value) ? value : '…'));
  return route.pattern.replace(/\{\*?\w+\}/g, () => values.shift() ?? '…');
}

/** The path that a page is routed by; undefined for files, and where there is nothing. */
export function patternOfPage(route: unknown): string | undefined {
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : undefined;
  return typeof path === 'string' ? path : undefined;
}

/** Who calls, once the key is known. */
export function callerOf(response: Response): Caller | undefined {
  return stateOf(response).caller;
}

/** @param now the mode's clock, which a client counts down by: the answer's `Date` */
export function setCaller(response: Response, caller: Caller, now: number): void {
  const state = stateOf(response);
  state.caller = caller;
  state.date = httpDate(caller.mode, now);
}

/** Lets pages of any origin read the answer. */
export function allowBrowsers(response: Response): void {
  stateOf(response).isForBrowsers = true;
}

/** They send the key in a header, so no cookie is needed. */
const forBrowsers = cors({
  origin: '*',
  methods: ['GET', 'POST', 'PATCH'],
  allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key'],
  exposedHeaders: ['Date', 'Retry-After', 'X-Request-Id', 'Idempotent-Replayed'],
  maxAge: 24 * 60 * 60,
});

/** Answers a browser that asks whether a page may call. */
export const answerPreflight: RequestHandler = (request, response, next) => {
  response.setHeader('X-Request-Id', requestIdOf(response));
  forBrowsers(request, response, next);
};

/** JSON for programs: a browser that is led here shows nothing, frames nothing and guesses no type. */
const forPrograms = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  // Subdomains may be somebody else's.
  strictTransportSecurity: { includeSubDomains: false },
  crossOriginResourcePolicy: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

const commonHeaders = [
  ...headersOf(forPrograms),
  ...['Content-Type', 'application/json; charset=utf-8'],
  ...['Cache-Control', 'no-store'],
];
const browserHeaders = headersOf(forBrowsers);

/**
 * An answer with its length and without an ETag, since what the API answers is never cached. All headers go
 * to Node at once, which is several times as fast as one by one.
 */
export function sendJson(response: Response, status: number, json: string): void {
  const { requestId, date, isForBrowsers } = stateOf(response);
  const headers = [
    ...commonHeaders,
    'X-Request-Id',
    requestId,
    'Content-Length',
    String(Buffer.byteLength(json)),
  ];
  if (date !== undefined) headers.push('Date', date);
  if (isForBrowsers) headers.push(...browserHeaders);
  response.writeHead(status, headers);
  response.end(json);
}

function stateOf(response: Response): ReplyState {
  return response.locals as ReplyState;
}

/** What a middleware that says the same every time sets, as Node takes it: names and values in turn. */
function headersOf(
  middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void,
) {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  middleware(request, response, () => undefined);
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
}

const dates = { test: { second: 0, text: '' }, live: { second: 0, text: '' } };

function httpDate(mode: Mode, now: number): string {
  const date = dates[mode];
  const second = Math.floor(now / 1000);
  if (date.second !== second) {
    date.second = second;
    date.text = new Date(now).toUTCString();
  }
  return date.text;
}
