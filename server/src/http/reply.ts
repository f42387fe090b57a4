/** What every answer of the API has in common: request id, headers, JSON. */
import { randomBytes } from 'node:crypto';
import type { Response } from 'express';
import type { Mode } from '../db/schema.js';
import type { Caller } from './handler.js';

const processId = randomBytes(6).toString('hex');
let requests = 0;

/** Names a request in its answer and in the log; unique among replicas and restarts. */
export function startReply(response: Response): void {
  requests += 1;
  response.setHeader('X-Request-Id', `${processId}-${requests.toString(36)}`);
}

export function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id'));
}

/** Who calls, once the key is known. */
export function callerOf(response: Response): Caller | undefined {
  return (response.locals as { caller?: Caller }).caller;
}

export function setCaller(response: Response, caller: Caller): void {
  (response.locals as { caller?: Caller }).caller = caller;
}

/** A reply with its length and without an ETag: what the API answers is never cached. */
export function sendJson(response: Response, status: number, json: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(json),
    'Cache-Control': 'no-store',
  });
  response.end(json);
}

const dates = { test: { second: 0, text: '' }, live: { second: 0, text: '' } };

/** Sets `Date` to a time of a mode's clock: what a client counts down by. */
export function setDate(response: Response, mode: Mode, now: number): void {
  const date = dates[mode];
  const second = Math.floor(now / 1000);
  if (date.second !== second) {
    date.second = second;
    date.text = new Date(now).toUTCString();
  }
  response.setHeader('Date', date.text);
}
