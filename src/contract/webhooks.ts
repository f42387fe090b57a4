/** Webhooks: the events that are sent to a merchant's server, and their payload. */
import * as z from 'zod/mini';
import { mode, timestamp } from './fields.js';
import { paymentRecord } from './payment-record.js';

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
  'refund.created',
  'refund.address_set',
  'refund.approved',
  'refund.paid',
  'refund.failed',
  'refund.cancelled',
  'refund.expired',
  'subscription.payment_due',
  'subscription.ended',
]);

export const webhookEventType = z.enum([...paymentEventType.options, ...recordEventType.options]);
export type WebhookEventType = z.output<typeof webhookEventType>;

/** Fields that every event adds to the record in `data`. */
const eventFields = {
  /** The mode that the record belongs to. */
  mode,
  /** Increases with each event of a record, with gaps. Ignore an event below the highest one you have seen. */
  sequence: z.int(),
  /** Sent by `webhooks test`: nothing happened. Real events leave it out. */
  isSample: z.optional(z.literal(true)),
};

/**
 * The body of a webhook. `timestamp` is when the event happened, by the clock of its mode. `data` is the record at that
 * time: for `payment.*` events the same as verify returns. docs/webhooks.md lists the data of the other events.
 */
export const webhookEvent = z.discriminatedUnion('type', [
  z.object({ type: paymentEventType, timestamp, data: z.extend(paymentRecord, eventFields) }),
  z.object({ type: recordEventType, timestamp, data: z.looseObject(eventFields) }),
]);
export type WebhookEvent = z.output<typeof webhookEvent>;
