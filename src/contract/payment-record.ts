/** A payment with all of its fields. The widget reads only the part in checkout.ts. */
import * as z from 'zod/mini';
import type { unlistedReceipts } from './checkout-schemas.js';
import { branding, logEntry, logValues, payment, receiptView } from './checkout-schemas.js';
import { timestamp } from './fields.js';

/** The event that a log entry reports. The list is closed: a page can describe each one in its own language. */
export const logCode = z.enum([
  'payment_started',
  'currency_set',
  'currency_locked',
  'currency_already_locked',
  'transfer_seen',
  'other_transfer_seen',
  'transfer_seen_again',
  'transfer_confirmed',
  'transfer_unconfirmed',
  'transfer_dropped',
  'underpaid',
  'confirming',
  'completed',
  'completed_over',
  'completed_late',
  'accepted',
  'overpaid',
  'excess_lost',
  'expired',
  'expired_partial',
  'expired_late',
  'expired_invalid',
  'reversed',
  'cancelled',
  'cancelled_with_funds',
  'paid_after_cancel',
  'deposit_completed',
  'unaccepted',
  'refund_created',
  'refund_sending',
  'refund_paid',
  'refund_ended',
]);
export type LogCode = z.output<typeof logCode>;

export type LogValues = z.output<typeof logValues>;

/** An entry of the time log. */
export const codedLogEntry = z.extend(logEntry, { time: timestamp, code: logCode, values: logValues });
export type CodedLogEntry = z.output<typeof codedLogEntry>;

/** A transfer to the payment's address, as seen on its chain. */
export const receipt = z.extend(receiptView, {
  hashOf: z.enum(['transaction', 'block']),
  firstSeenAt: timestamp,
});
export type Receipt = z.output<typeof receipt>;

export type UnlistedReceipts = z.output<typeof unlistedReceipts>;

/** The amounts that the payment added to the merchant's balance in one currency: `amount` less `fee` is `net`. */
export const credit = z.object({
  currency: z.string(),
  amount: z.number(),
  fee: z.number(),
  net: z.number(),
});
export type Credit = z.output<typeof credit>;

/**
 * Facts about a payment's money, whatever its state is called. Several can apply at once: `late` money can be `over`,
 * and an exact payment can have got a `wrong_coin` too.
 */
export const paymentFinding = z.enum(['late', 'over', 'short', 'wrong_coin', 'wrong_network']);
export type PaymentFinding = z.output<typeof paymentFinding>;

/** Money that was credited, but does not count for the payment. */
export const unaccepted = z.object({
  reason: z.enum(['wrong_coin', 'wrong_network', 'late']),
  currency: z.string(),
  network: z.string(),
  /** The amount just credited. */
  amount: z.number(),
  /** The total credited so far. */
  total: z.number(),
});
export type Unaccepted = z.output<typeof unaccepted>;

export const refundStatus = z.enum([
  'awaiting_address',
  'awaiting_approval',
  'approved',
  'processing',
  'paid',
  'cancelled',
  'expired',
  'failed',
]);
export type RefundStatus = z.output<typeof refundStatus>;

/** A refund, as its payment shows it. Never includes the link or the address. */
const paymentRefund = z.object({
  /** Only for secret keys. */
  id: z.optional(z.string()),
  status: refundStatus,
  amount: z.number(),
  /** The service fee that stays taken of the coins that it is for, in `currency`. */
  feeKept: z.number(),
  currency: z.string(),
  network: z.string(),
  /** Only once it is paid. */
  txHash: z.optional(z.string()),
  explorerUrl: z.optional(z.string()),
});
export type PaymentRefund = z.output<typeof paymentRefund>;

/** Fields that modules add to a payment. Only for secret keys. */
const moduleFields = z.object({
  /** The payment link that it was started from. */
  linkId: z.optional(z.string()),
});
export type ModuleFields = z.output<typeof moduleFields>;

export const paymentRecord = z.extend(payment, {
  ...moduleFields.shape,
  /** Absent if nothing arrived, or exactly the requested amount. */
  findings: z.optional(z.array(paymentFinding)),
  /** Only if the shop took less than was due: the sum that had arrived, in the paying currency, and when it did. */
  accepted: z.optional(z.object({ amount: z.number(), at: timestamp })),
  transactionTimeLog: z.array(codedLogEntry),
  createdAt: timestamp,
  branding: z.optional(z.extend(branding, { createdAt: timestamp, updatedAt: timestamp })),
  /** The last 20 that are not dust, oldest first, transfers that were lost included. */
  receipts: z.array(receipt),
  /** Only for secret keys. Money in other currencies and late money is included. */
  credited: z.optional(z.array(credit)),
  /** Only for secret keys: what the merchant's server stored with the payment. */
  metadata: z.optional(z.record(z.string(), z.string())),
  /** Oldest first; absent if there are none. */
  refunds: z.optional(z.array(paymentRefund)),
  /** Amount refunded in the paying currency; absent if there are no refunds. */
  refundedAmount: z.optional(z.number()),
});
export type PaymentRecord = z.output<typeof paymentRecord>;
