/** The retention periods of data. */

const dayMs = 86_400_000;

export const retention = {
  /** Replies to requests with an Idempotency-Key. */
  idempotencyMs: dayMs,
  /** The same for a payer's changes of a payment, which can be repeated without harm: anybody can make many. */
  payerIdempotencyMs: 3_600_000,
  /** Webhook events and their delivery attempts, counted from the creation of the event. */
  webhookMs: { delivered: 30 * dayMs, failed: 90 * dayMs },
  /** The time for which a rotated webhook secret still signs. */
  formerSecretMs: dayMs,
} as const;
