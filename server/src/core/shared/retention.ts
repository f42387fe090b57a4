/** The periods for which data is kept. Change a number here: `retention.test.ts` names every text that says it. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const retention = {
  /** Replies to requests with an Idempotency-Key. */
  idempotencyMs: dayMs,
  /** Replies to a payer's changes. They are kept for less time: anybody can make many, and repeating one does no harm. */
  payerIdempotencyMs: hourMs,
  /** Webhook events and their delivery attempts, counted from the creation of the event. */
  webhookMs: { delivered: 30 * dayMs, failed: 90 * dayMs },
  /** The time for which a rotated webhook secret still signs. */
  previousSecretMs: dayMs,
  /** A console session ends after `sessionIdleMs` without use, and after `sessionMs` in any case. */
  sessionIdleMs: 12 * hourMs,
  sessionMs: 7 * dayMs,
  /** Links with which a person of the team signs in. */
  signInLinkMs: 30 * minuteMs,
  /** Links with which a payer claims a refund. */
  refundLinkMs: 30 * dayMs,
  /** Digests of the addresses of payers who pressed a payment link: its order can be started over for this long. */
  linkVisitorMs: dayMs,
  /** Messages to payers that are sent or given up: without their texts. */
  mailMs: 90 * dayMs,
} as const;

export const daysOf = (ms: number): number => ms / dayMs;

/** A period as texts say it: in days if it is more than one, otherwise in hours or minutes. */
export function spellPeriod(ms: number): string {
  if (ms > dayMs) return `${daysOf(ms)} days`;
  if (ms < hourMs) return `${ms / minuteMs} minutes`;
  return ms === hourMs ? 'one hour' : `${ms / hourMs} hours`;
}
