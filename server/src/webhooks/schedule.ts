/** When a webhook is tried again. */

/** After each failed try, as Standard Webhooks recommends: ten tries over three days. */
const delaysSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const longestRetryAfterSeconds = 86_400;

/**
 * @param tries how many have failed, 1 or more
 * @param random 0 to 1: moves the delay by up to 10 % either way, so that what failed together does not return together
 * @param retryAfterSeconds what the receiver asked for, heeded where it is later, up to a day
 * @returns milliseconds until the next try; undefined when that was the last
 */
export function nextDelay(tries: number, random: number, retryAfterSeconds = 0): number | undefined {
  const delay = delaysSeconds[tries - 1];
  if (delay === undefined) return undefined;
  const spread = delay * 1000 * (0.9 + 0.2 * random);
  return Math.round(Math.max(spread, Math.min(retryAfterSeconds, longestRetryAfterSeconds) * 1000));
}
