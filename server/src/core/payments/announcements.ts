/** Decides which webhook events a payment's change causes, and stores them in its transaction: outcomes, and what is true of its money. */
import {
  statusOf,
  type PaymentFinding,
  type PaymentRecord,
  type PaymentState,
  type Unaccepted,
  type WebhookEventType,
} from 'crypto-checkout/contract';
import { exactNumber } from '../money/units.js';
import { invalidState } from '../shared/problem.js';
import { isReported } from './deposits.js';
import type { Standing } from './log-messages.js';
import type { PaymentReader } from './payment-reader.js';
import type { PaymentsDeps } from './payments-deps.js';
import type { PaymentRow } from './store.js';
import type { NewlyUnaccepted } from './unaccepted.js';
import { scopeOf, type Scope } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export type Announcements = ReturnType<typeof createAnnouncements>;

export function createAnnouncements({ outbox, wallet, currencies }: PaymentsDeps, reader: PaymentReader) {
  /** Read only for an event: the log and the receipts of a payment can be thousands. */
  async function readView(transaction: Transaction, scope: Scope, id: string): Promise<PaymentRecord> {
    return reader.view('secret', await reader.find(transaction, scope, id));
  }

  async function announce(
    transaction: Transaction,
    { id, merchant_id: merchantId, mode }: PaymentRow,
    types: readonly WebhookEventType[],
    unaccepted: readonly NewlyUnaccepted[] = [],
  ): Promise<void> {
    if (types.length + unaccepted.length === 0) return;
    const receivers = await outbox.receivers(transaction, { merchantId, mode });
    if (!receivers) return;
    const data = await readView(transaction, { merchantId, mode }, id);
    const add = (type: WebhookEventType, more = {}) =>
      outbox.add(
        transaction,
        { merchantId, mode, type, subjectId: id, data: { ...data, ...more } },
        receivers,
      );
    for (const sum of unaccepted) await add('payment.unaccepted', { unaccepted: viewUnaccepted(sum) });
    for (const type of types) await add(type);
  }

  function viewUnaccepted({ reason, currency, network, ...sums }: NewlyUnaccepted): Unaccepted {
    const numberOf = (units: bigint) => exactNumber(units, currencies.known(currency).decimals);
    return { reason, currency, network, amount: numberOf(sums.amount), total: numberOf(sums.total) };
  }

  async function announceDeposit(
    transaction: Transaction,
    { id, merchant_id: merchantId, mode }: PaymentRow,
    walletId: string,
  ): Promise<void> {
    const receivers = await outbox.receivers(transaction, { merchantId, mode });
    if (!receivers) return;
    const target = await wallet(transaction, walletId);
    if (target.isDeleted) return;
    const data = {
      transaction: await readView(transaction, { merchantId, mode }, id),
      wallet: target.wallet,
    };
    const event = { merchantId, mode, type: 'wallet.transaction', subjectId: id, data } as const;
    await outbox.add(transaction, event, receivers);
  }

  return {
    /** Publishes the events of a change. @param payment locked; its new state, receipts and log are stored */
    async publish(
      transaction: Transaction,
      before: Standing,
      payment: PaymentRow,
      after: Standing,
      unaccepted: readonly NewlyUnaccepted[],
    ): Promise<void> {
      const { wallet_id: walletId } = payment;
      if (walletId === null) await announce(transaction, payment, eventsOf(before, after), unaccepted);
      else if (isReported(statusOf(before.state), statusOf(after.state))) {
        await announceDeposit(transaction, payment, walletId);
      }
    },

    /**
     * Sends the newest event of a locked payment again, or a new one if none has reported the current status.
     * Problems: `invalid_state`, `webhook_not_configured`.
     */
    async resend(transaction: Transaction, payment: PaymentRow): Promise<void> {
      const { wallet_id: walletId, state } = payment;
      if (walletId !== null && (await wallet(transaction, walletId)).isDeleted) {
        throw invalidState('The wallet of this deposit was deleted, so no webhooks are sent for it');
      }
      await outbox.requireEndpoint(transaction, scopeOf(payment));
      const newest = await outbox.newest(transaction, payment.id);
      // An event with another status is outdated: the current status was never sent.
      const isOutdated = walletId === null && newest?.data['status'] !== statusOf(state);
      if (newest && !isOutdated) await outbox.resend(transaction, newest);
      else if (walletId === null) await announce(transaction, payment, [outcomeEvent(state)]);
      else await announceDeposit(transaction, payment, walletId);
    },
  };
}

/**
 * The event that each finding sends once it is found. Too little has its outcome; money that was not accepted is
 * reported each time that it comes.
 */
const eventOf: Readonly<Partial<Record<PaymentFinding, WebhookEventType>>> = {
  over: 'payment.overpaid',
  late: 'payment.late',
};

/** The events of a change, in the order in which they are sent. Most changes before an outcome have none. */
function eventsOf(from: Standing, to: Standing): readonly WebhookEventType[] {
  const [before, status] = [statusOf(from.state), statusOf(to.state)];
  const events = to.findings.flatMap((finding) =>
    from.findings.includes(finding) ? [] : (eventOf[finding] ?? []),
  );
  if (to.state === 'partially_paid' && from.state !== to.state) events.push('payment.partial');
  // The outcome comes last, because a resend repeats the newest event.
  if (status !== before && status !== 'in progress') {
    if (to.isTakenShort) events.push('payment.accepted');
    events.push(before === 'success' ? 'payment.reversed' : outcomeEvent(to.state));
  }
  return events;
}

/** The event that reports a state, for a payment without an up-to-date event. */
function outcomeEvent(state: PaymentState): WebhookEventType {
  const status = statusOf(state);
  switch (status) {
    case 'in progress':
      return 'payment.updated';
    case 'success':
      return 'payment.success';
    case 'cancelled':
      return 'payment.cancelled';
    case 'error':
      return state === 'reversed' ? 'payment.reversed' : 'payment.error';
    default:
      return status satisfies never;
  }
}
