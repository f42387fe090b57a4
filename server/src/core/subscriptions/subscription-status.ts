/** Follows the payments of a subscription: counts how often it was paid, and decides when it ends. */
import type { PaymentStatus } from 'crypto-checkout/contract';
import type { ChangedPayment, OnStatusChange } from '../payments/payments-deps.js';
import type { Outbox } from '../webhooks/outbox.js';
import { parseReference } from './cycle-reference.js';
import * as store from './subscriber-store.js';
import { viewSubscriber } from './subscriber-view.js';
import type { Transaction } from '../db/engine.js';
import { scopeOf } from '../shared/scope.js';
import type { SubscriberCycleTable } from '../db/schema.js';
import type { SubscriberRow } from './subscriber-store.js';

/** Why a subscription ended: every charge was made and has ended, three in a row were not paid, or it was removed. */
export type EndReason = 'completed' | 'unpaid' | 'removed';

const unpaidInARow = 3;

const outcomes = {
  'in progress': 'open',
  success: 'paid',
  error: 'unpaid',
  cancelled: 'unpaid',
} as const satisfies Record<PaymentStatus, SubscriberCycleTable['outcome']>;

/**
 * Applies a status change of a subscription's payment, which can go back and forth. Ignores other payments, except one
 * that is paid in place of the payment that an unpaid cycle was charged with: the cycle then counts with that one.
 */
export function createSubscriptionStatus(outbox: Outbox): OnStatusChange {
  return async (transaction, payment) => {
    const found =
      (await store.findCycle(transaction, payment.id)) ?? (await findReplaceable(transaction, payment));
    if (!found) return;
    const row = await store.lockSubscriberOfCycle(transaction, found);
    // Another payment may have changed the cycle before the lock.
    const cycle = await store.reloadCycle(transaction, found);
    const outcome = outcomes[payment.status];
    const isReplacement = cycle.payment_id !== payment.id;
    // A cycle that is paid twice keeps its first payment. The second one is the merchant's to refund.
    if (isReplacement && (outcome !== 'paid' || cycle.outcome === 'paid')) return;
    // Payers also cancel to pay in another coin. A payment that they cancel counts as unpaid only once another charge
    // has ended.
    const isSpared = payment.cancelledBy === 'public';
    const wasUnpaid = isSpared && (await isUnpaid(transaction, row));
    await store.updateCycle(transaction, cycle, { payment_id: payment.id, outcome });
    const timesPaid = row.times_paid + Number(outcome === 'paid') - Number(cycle.outcome === 'paid');
    const changed = { ...row, times_paid: timesPaid };
    const endsUnpaid = isSpared ? wasUnpaid : await isUnpaid(transaction, row);
    const reason = endsUnpaid ? 'unpaid' : await completion(transaction, row);
    if (reason) await endSubscription(transaction, outbox, changed, reason);
    else await store.updateSubscriber(transaction, row.id, { times_paid: timesPaid });
  };
}

/** The cycle that a payment was made for in place of the charged one: it names the cycle, and has its price and one of its coins. */
async function findReplaceable(
  transaction: Transaction,
  payment: ChangedPayment,
): Promise<SubscriberCycleTable | undefined> {
  const named = payment.status === 'success' ? parseReference(payment.tx_ref) : undefined;
  return named && store.findReplaceableCycle(transaction, named, payment);
}

/** True if an active subscription ends because it was not paid. One that has ended stays ended. */
async function isUnpaid(transaction: Transaction, row: SubscriberRow): Promise<boolean> {
  if (!row.is_active) return false;
  const newest = await store.newestOutcomes(transaction, row.id, unpaidInARow);
  return newest.length === unpaidInARow && newest.every((outcome) => outcome === 'unpaid');
}

async function completion(transaction: Transaction, row: SubscriberRow): Promise<'completed' | undefined> {
  const isCharged = row.is_active && row.charge_at === null;
  return isCharged && !(await store.isAnyOpen(transaction, row.id)) ? 'completed' : undefined;
}

/** Stops charging a subscriber, and notifies the merchant. Open payments can still be paid. */
export async function endSubscription(
  transaction: Transaction,
  outbox: Outbox,
  row: SubscriberRow,
  reason: EndReason,
): Promise<void> {
  const ended = { ...row, is_active: false, charge_at: null } as const;
  await store.updateSubscriber(transaction, row.id, ended);
  await outbox.add(transaction, {
    ...scopeOf(row),
    type: 'subscription.ended',
    subjectId: row.id,
    data: { ...viewSubscriber(ended), reason },
  });
}
