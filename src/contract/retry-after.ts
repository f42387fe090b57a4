/** `Retry-After`, as sent by clients, nodes, webhooks and rate sources. */

/**
 * Parses the header: seconds, or a date by the sender's clock.
 *
 * @returns milliseconds to wait, at least 0; undefined if there is no header, or it is neither
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
