/** When to ask the server again. */
import { ApiError } from './errors.js';

const fastMs = 2_000;
const fastForMs = 60_000;
const slowMs = 10_000;
const longestMs = 30_000;

export interface Progress {
  /** Since the payment was locked, or since it last changed. */
  readonly elapsedMs: number;
  /** Failed requests in a row. */
  readonly failures: number;
  readonly retryAfterSeconds?: number | undefined;
  /** From 0 to 1, so that many pages do not ask in step. */
  readonly random: number;
}

/** Milliseconds to wait: 2 s in the first minute, then slower to 10 s; failures double it up to 30 s. */
export function pollDelay({ elapsedMs, failures, retryAfterSeconds = 0, random }: Progress): number {
  const regular = Math.min(slowMs, fastMs + Math.max(0, elapsedMs - fastForMs) / 30);
  const backedOff = failures === 0 ? regular : Math.min(longestMs, Math.max(regular, fastMs * 2 ** failures));
  // Never less than what the server asked for; a tenth more or less than our own measure.
  return Math.max(retryAfterSeconds * 1000, backedOff * (0.9 + random * 0.2));
}

/** The seconds to wait that the server asked for. */
export function retryAfterOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterSeconds : undefined;
}
