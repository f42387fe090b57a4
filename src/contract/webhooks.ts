/** Webhooks: the events that a merchant's server is told of, and the payload they come in. */
import * as z from 'zod/mini';
import { payment, timestamp } from './checkout.js';

const paymentEventType = z.enum([
  'payment.success',
  'payment.error',
  'payment.cancelled',
  'payment.partial',
  'payment.overpaid',
  'payment.late',
  'payment.reversed',
  'payment.updated',
]);

const recordEventType = z.enum([
  'wallet.transaction',
  'transfer.success',
  'transfer.failed',
  'subscription.payment_due',
  'subscription.ended',
]);

export const webhookEventType = z.enum([...paymentEventType.options, ...recordEventType.options]);
export type WebhookEventType = z.output<typeof webhookEventType>;

/** What every event's `data` has beside the record that it tells of. */
const told = {
  /** Whether the record is one of test keys or of live keys. */
  mode: z.enum(['test', 'live']),
  /** Rises with each event of one record, with gaps: an event below the highest one seen is old news. */
  sequence: z.int(),
};

/**
 * The body of a webhook. `timestamp` is when it happened, on the clock of its mode; `data` is the record as it
 * stood then: of `payment.*` what verify answers, of the others the record with what they name beside it.
 */
export const webhookEvent = z.discriminatedUnion('type', [
  z.object({ type: paymentEventType, timestamp, data: z.extend(payment, told) }),
  z.object({ type: recordEventType, timestamp, data: z.looseObject(told) }),
]);
export type WebhookEvent = z.output<typeof webhookEvent>;
