/** What every answer of the API has in common: its headers and its JSON. */
import type { Response } from 'express';
import { requestIdOf } from '../ops/request.js';
import type { Caller, Mode } from '../shared/scope.js';

interface ReplyState {
  caller?: Caller;
  date?: string;
  isForBrowsers?: boolean;
}

/** The caller, once the key is known. */
export function callerOf(response: Response): Caller | undefined {
  return stateOf(response).caller;
}

/** @param now the mode's clock: the answer's `Date`, which clients count down by */
export function setCaller(response: Response, caller: Caller, now: number): void {
  const state = stateOf(response);
  state.caller = caller;
  state.date = httpDate(caller.mode, now);
}

/** Lets pages of any origin read the answer. */
export function allowBrowsers(response: Response): void {
  stateOf(response).isForBrowsers = true;
}

/** A browser that opens an answer shows nothing, frames nothing and guesses no type. */
const commonHeaders = [
  ...['Content-Type', 'application/json; charset=utf-8'],
  ...['Cache-Control', 'no-store'],
  ...['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
  // Without includeSubDomains: subdomains may belong to somebody else.
  ...['Strict-Transport-Security', 'max-age=31536000'],
  ...['X-Content-Type-Options', 'nosniff'],
];

/** Keys travel in a header, so no cookies and no credentials are needed. */
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

/** Answers a browser that asks whether a page may call. */
export function sendPreflight(response: Response): void {
  response.writeHead(204, { ...preflightHeaders, 'X-Request-Id': requestIdOf(response) });
  response.end();
}

/**
 * Sends JSON with its length and without an ETag: what the API answers is never cached. All headers go to Node in one
 * call, which is several times as fast as one by one.
 */
export function sendJson(response: Response, status: number, json: string): void {
  const { date, isForBrowsers } = stateOf(response);
  const headers = [
    ...commonHeaders,
    'X-Request-Id',
    requestIdOf(response),
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
