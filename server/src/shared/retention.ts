/** How long things are kept. */

const day = 86_400_000;

export const retention = {
  /** Replies to requests with an Idempotency-Key. */
  idempotencyMs: day,
  /** Webhook events and their delivery attempts, from when the event was made. */
  webhookMs: { delivered: 30 * day, failed: 90 * day },
  /** A webhook secret goes on signing after it was replaced. */
  formerSecretMs: day,
} as const;
