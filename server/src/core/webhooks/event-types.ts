/** Descriptions and samples of the events of the core. A module has those of its own: core/module.ts. */
import { coreApi, type WebhookEventType } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { Mode } from '../shared/scope.js';

export interface EventType {
  /** A sentence without its stop, for the API description. */
  readonly summary: string;
  /** The `data` of a sample, without the fields that every event has. */
  sample(mode: Mode): Readonly<Record<string, unknown>>;
}

export type EventTypes = Readonly<Partial<Record<WebhookEventType, EventType>>>;

/** A reference that no order has, so that a receiver that does not know `isSample` finds nothing to deliver. */
export const sampleTxRef = 'webhook-test';

const payment = (mode: Mode) => ({ ...coreApi.transactions.verify.sample.data, txRef: sampleTxRef, mode });
const transfer = coreApi.transfers.retrieve.sample.data;
const subscriber = coreApi.subscribers.retrieve.sample.data;

export const coreEventTypes: EventTypes = {
  'payment.success': {
    summary: 'A payment was received in full and confirmed',
    sample: payment,
  },
  'payment.overpaid': {
    summary: 'More than the amount arrived',
    sample: payment,
  },
  'payment.error': {
    summary: 'A payment ended without being paid',
    sample: (mode) => ({ ...payment(mode), status: 'error', state: 'expired' }),
  },
  'payment.late': {
    summary: 'Funds arrived after the payment ended',
    sample: (mode) => ({ ...payment(mode), status: 'error', state: 'expired_late' }),
  },
  'payment.unaccepted': {
    summary: 'Money was credited that pays nothing: in the wrong coin, on the wrong network, or too late',
    sample: (mode) => ({
      ...payment(mode),
      unaccepted: { reason: 'wrong_coin', currency: 'TRX', network: 'tron', amount: 5, total: 5 },
    }),
  },
  'payment.accepted': {
    summary: 'The shop took less than was due as paid: its success is reported too',
    sample: (mode) => ({ ...coreApi.transactions.accept.sample.data, txRef: sampleTxRef, mode }),
  },
  'payment.reversed': {
    summary: 'A reorganisation removed a settled transfer from the chain',
    sample: (mode) => ({ ...payment(mode), status: 'error', state: 'reversed' }),
  },
  'payment.cancelled': {
    summary: 'A payment was cancelled',
    sample: (mode) => ({ ...payment(mode), status: 'cancelled', state: 'cancelled' }),
  },
  'payment.partial': {
    summary: 'Less than the amount arrived; the payment is still in progress',
    sample: (mode) => ({ ...payment(mode), status: 'in progress', state: 'partially_paid' }),
  },
  'payment.updated': {
    summary: 'The webhook of a payment in progress was requested again',
    sample: (mode) => ({ ...payment(mode), status: 'in progress', state: 'partially_paid' }),
  },
  'wallet.transaction': {
    summary: 'A hosted wallet received a transaction',
    sample: (mode) => ({ transaction: payment(mode), wallet: coreApi.wallets.retrieve.sample.data }),
  },
  'transfer.success': {
    summary: 'A transfer was completed',
    sample: () => ({ ...transfer, status: 'success' }),
  },
  'transfer.failed': {
    summary: 'A transfer failed, and its amount is available again',
    sample: () => ({ ...transfer, status: 'failed', failureReason: 'A sample' }),
  },
  'subscription.payment_due': {
    summary: 'A subscriber was charged, and their payment is due',
    sample: (mode) => ({
      ...subscriber,
      cycle: 1,
      payment: payment(mode),
      url: coreApi.payments.create.sample.data.url,
    }),
  },
  'subscription.ended': {
    summary: 'A subscription ended: it was completed, left unpaid or removed',
    sample: () => ({ ...subscriber, isActive: false, reason: 'completed' }),
  },
  'account.deposit_key_changed': {
    summary: 'The deposit key that payments arrive at was changed: it is pending, in use or withdrawn',
    sample: () => ({
      id: sampleTxRef,
      family: 'bitcoin',
      status: 'pending',
      key: 'zpub6rFR7y4Q2…c8BEh6',
      formerKey: null,
      effectiveAt: isoTime(0),
      changedBy: 'A sample',
    }),
  },
};
