/** Webhooks: the events that are sent to a merchant's server, and their payload. */
import * as z from 'zod/mini';
import { families } from './families.js';
import { mode, timestamp } from './fields.js';
import { paymentRecord, unaccepted } from './payment-record.js';

const paymentEventType = z.enum([
  'payment.success',
  'payment.error',
  'payment.cancelled',
  'payment.partial',
  'payment.overpaid',
  'payment.late',
  'payment.accepted',
  'payment.reversed',
  'payment.updated',
]);

const unacceptedEventType = z.enum(['payment.unaccepted']);

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

const depositKeyEventType = z.enum(['account.deposit_key_changed']);

export const webhookEventType = z.enum([
  ...paymentEventType.options,
  ...unacceptedEventType.options,
  ...recordEventType.options,
  ...depositKeyEventType.options,
]);
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
 * A change of the key or treasury that a merchant's payments arrive at. It must not surprise anyone except the person
 * who set it.
 */
const depositKeyChange = z.object({
  id: z.string(),
  family: z.enum(families),
  /** `pending`: it takes effect at `effectiveAt`, unless it is withdrawn. `in_use`: new payments use it. */
  status: z.enum(['pending', 'in_use', 'withdrawn']),
  /** A treasury's address, or an extended public key without its middle. */
  key: z.string(),
  /** The key that it replaces, or was meant to replace; null if there was none. */
  formerKey: z.nullable(z.string()),
  /** Real time, in test mode too. */
  effectiveAt: timestamp,
  /** The actor, as in the audit log. */
  changedBy: z.string(),
});
export type DepositKeyChange = z.output<typeof depositKeyChange>;

/**
 * The body of a webhook. `timestamp` is when the event happened, by the clock of its mode. `data` is the record at that
 * time: for `payment.*` events the same as verify returns, and what was not accepted. docs/webhooks.md lists the data of the other events.
 */
export const webhookEvent = z.discriminatedUnion('type', [
  z.object({ type: paymentEventType, timestamp, data: z.extend(paymentRecord, eventFields) }),
  z.object({
    type: unacceptedEventType,
    timestamp,
    data: z.extend(paymentRecord, { ...eventFields, unaccepted }),
  }),
  z.object({ type: recordEventType, timestamp, data: z.looseObject(eventFields) }),
  z.object({ type: depositKeyEventType, timestamp, data: z.extend(depositKeyChange, eventFields) }),
]);
export type WebhookEvent = z.output<typeof webhookEvent>;
