/** The retry schedule of webhooks. */

/** The delay after each failed attempt. As Standard Webhooks recommends: ten attempts over three days. */
const delaysSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const maxRetryAfterSeconds = 86_400;

/**
 * @param failedAttempts 1 or more
 * @param random from 0 to 1; shifts the delay by up to 10 % either way, so that events that failed together spread out
 * @param retryAfterSeconds the receiver's `Retry-After`; used if it is longer than the delay, up to a day
 * @returns milliseconds until the next attempt; undefined after the last one
 */
export function nextDelayMs(
  failedAttempts: number,
  random: number,
  retryAfterSeconds = 0,
): number | undefined {
  const delaySeconds = delaysSeconds[failedAttempts - 1];
  if (delaySeconds === undefined) return undefined;
  const jitteredMs = delaySeconds * 1000 * (0.9 + 0.2 * random);
  return Math.round(Math.max(jitteredMs, Math.min(retryAfterSeconds, maxRetryAfterSeconds) * 1000));
}
