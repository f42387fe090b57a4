/** Sends the API's replies: the headers that all of them share, and JSON. */
import type { Response } from 'express';
import { requestIdOf } from '../ops/request.js';
import type { Caller, Mode } from '../shared/scope.js';

interface ReplyState {
  caller?: Caller;
  date?: string;
  isForBrowsers?: boolean;
  isHttps?: boolean;
  cookie?: string;
}

/** The caller; undefined until the key has been checked. */
export function callerOf(response: Response): Caller | undefined {
  return stateOf(response).caller;
}

/** @param now time by the merchant's clock, for the `Date` header; clients base their countdown on it */
export function setCaller(response: Response, caller: Caller, now: number): void {
  const state = stateOf(response);
  state.caller = caller;
  state.date = httpDate(caller.mode, now);
}

/** Lets pages of any origin read the reply. */
export function allowBrowsers(response: Response): void {
  stateOf(response).isForBrowsers = true;
}

/** For replies over https. No includeSubDomains: subdomains may belong to somebody else. */
export const transportSecurity = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/** Makes browsers use https from now on. */
export function requireHttps(response: Response): void {
  stateOf(response).isHttps = true;
}

/** Sends a cookie with the reply, unless the request fails. */
export function setCookie(response: Response, cookie: string): void {
  stateOf(response).cookie = cookie;
}

/** If a browser opens a reply as a page, it must load nothing, not be framed and not guess a content type. */
const commonHeaders = [
  ...['Content-Type', 'application/json; charset=utf-8'],
  ...['Cache-Control', 'no-store'],
  ...['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
  ...['X-Content-Type-Options', 'nosniff'],
];

/** The key is sent in a header, so no cookies or credentials need to be allowed. */
const browserHeaders = [
  ...['Access-Control-Allow-Origin', '*'],
  ...['Access-Control-Expose-Headers', 'Date,Retry-After,X-Request-Id,Idempotent-Replayed'],
];

const preflightHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PATCH',
  'Access-Control-Allow-Headers': 'Authorization,Content-Type,Idempotency-Key',
  'Access-Control-Max-Age': '86400',
  'Content-Length': '0',
};

/** Replies to a CORS preflight request. */
export function sendPreflight(response: Response): void {
  response.writeHead(204, { ...preflightHeaders, 'X-Request-Id': requestIdOf(response) });
  response.end();
}

/**
 * Sends a JSON reply. It has no ETag, because API replies are never cached. All headers are passed to Node in one call,
 * which is several times faster than one by one.
 */
export function sendJson(response: Response, status: number, json: string): void {
  const { date, isForBrowsers, isHttps, cookie } = stateOf(response);
  const headers = [
    ...commonHeaders,
    'X-Request-Id',
    requestIdOf(response),
    'Content-Length',
    String(Buffer.byteLength(json)),
  ];
  if (date !== undefined) headers.push('Date', date);
  if (isForBrowsers) headers.push(...browserHeaders);
  if (isHttps) headers.push(...transportSecurity);
  if (cookie !== undefined && status === 200) headers.push('Set-Cookie', cookie);
  response.writeHead(status, headers);
  response.end(json);
}

function stateOf(response: Response): ReplyState {
  return response.locals as ReplyState;
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
