/** The states of a refund, and what happens to it in each of them. Pure. */
import type { RefundStatus, WebhookEventType } from 'crypto-checkout/contract';
import type { TransferStatus } from '../../core/db/tables/withdrawals.js';

/**
 * `address`: it was given or changed. `cancel`, `approve`: by the merchant. `expire`: nobody gave an address in time. The others
 * follow from the transfer that pays it: it waits, is on its way, has succeeded or failed.
 */
export type RefundEvent = 'address' | 'cancel' | 'expire' | 'approve' | 'wait' | 'send' | 'pay' | 'fail';

type Ways = Readonly<Partial<Record<RefundEvent, RefundStatus>>>;

/** Transitions that are missing here cannot happen, or are refused. */
const ways: Readonly<Record<RefundStatus, Ways>> = {
  awaiting_address: { address: 'awaiting_approval', cancel: 'cancelled', expire: 'expired' },
  awaiting_approval: { address: 'awaiting_approval', cancel: 'cancelled', approve: 'approved' },
  approved: { wait: 'approved', send: 'processing', pay: 'paid', fail: 'failed' },
  processing: { wait: 'approved', send: 'processing', pay: 'paid', fail: 'failed' },
  // A reorganisation undid the transaction: it is confirmed again, replaced, or lost for good.
  paid: { wait: 'processing', send: 'processing', pay: 'paid', fail: 'failed' },
  // The chain can show later that a transfer was paid although it had been given up.
  failed: { send: 'processing', pay: 'paid' },
  cancelled: {},
  expired: {},
};

/** Undefined if the event is not possible in the state. */
export function nextStatus(status: RefundStatus, event: RefundEvent): RefundStatus | undefined {
  return ways[status][event];
}

/** The events that a transfer's status means for the refund that it pays. */
export const transferEvents: Readonly<Record<TransferStatus, RefundEvent>> = {
  pending: 'wait',
  processing: 'send',
  success: 'pay',
  failed: 'fail',
};

/** The webhook of an event; none for steps on the way. */
export const eventTypes: Readonly<Partial<Record<RefundEvent, WebhookEventType>>> = {
  address: 'refund.address_set',
  approve: 'refund.approved',
  pay: 'refund.paid',
  fail: 'refund.failed',
  cancel: 'refund.cancelled',
  expire: 'refund.expired',
};

/** True for refunds that count against the payment's money: theirs is reserved, on its way, or gone. */
export function isLive(status: RefundStatus): boolean {
  return status !== 'cancelled' && status !== 'expired' && status !== 'failed';
}

/** True for refunds whose money is reserved for the refund itself. From the approval on, its transfer holds it. */
export function isReserved(status: RefundStatus): boolean {
  return status === 'awaiting_address' || status === 'awaiting_approval';
}
