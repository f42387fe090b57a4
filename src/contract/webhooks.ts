/** Webhooks: the events that a merchant's server is told of. */
import * as z from 'zod/mini';

export const webhookEventType = z.enum([
  'payment.success',
  'payment.error',
  'payment.cancelled',
  'payment.partial',
  'payment.overpaid',
  'payment.late',
  'payment.reversed',
  'payment.updated',
  'wallet.transaction',
  'transfer.success',
  'transfer.failed',
  'subscription.payment_due',
  'subscription.ended',
]);
export type WebhookEventType = z.output<typeof webhookEventType>;
