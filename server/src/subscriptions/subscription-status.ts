/** Follows the payments of a subscription: counts how often it was paid, and decides when it ends. */
import type { PaymentStatus } from 'crypto-checkout/contract';
import type { Outbox } from '../webhooks/outbox.js';
import * as store from './subscriber-store.js';
import type { CycleRow, SubscriberRow } from './subscriber-store.js';
import { viewSubscriber } from './subscriber-view.js';
import type { Transaction } from '../db/engine.js';

/** Why a subscription ended: every charge was made and has ended, three in a row were not paid, or it was removed. */
export type EndReason = 'completed' | 'unpaid' | 'removed';

const unpaidInARow = 3;

const outcomes = {
  'in progress': 'open',
  success: 'paid',
  error: 'unpaid',
  cancelled: 'unpaid',
} as const satisfies Record<PaymentStatus, CycleRow['outcome']>;

/** Applies a status change of a subscription's payment, which can go back and forth. Ignores other payments. */
export type OnPaymentStatus = (
  transaction: Transaction,
  payment: { readonly id: string; readonly status: PaymentStatus },
) => Promise<void>;

export function createSubscriptionStatus(outbox: Outbox): OnPaymentStatus {
  return async (transaction, { id, status }) => {
    const cycle = await store.findCycle(transaction, id);
    if (!cycle) return;
    const row = await store.lockSubscriberOfCycle(transaction, cycle);
    const outcome = outcomes[status];
    await store.updateOutcome(transaction, cycle, outcome);
    const timesPaid = row.times_paid + Number(outcome === 'paid') - Number(cycle.outcome === 'paid');
    const changed = { ...row, times_paid: timesPaid };
    const reason = await reasonToEnd(transaction, row);
    if (reason) await endSubscription(transaction, outbox, changed, reason);
    else await store.updateSubscriber(transaction, row.id, { times_paid: timesPaid });
  };
}

/** A subscription that has ended stays ended, whatever happens to its payments. */
async function reasonToEnd(transaction: Transaction, row: SubscriberRow): Promise<EndReason | undefined> {
  if (row.is_active === 0) return undefined;
  const newest = await store.newestOutcomes(transaction, row.id, unpaidInARow);
  if (newest.length === unpaidInARow && newest.every((outcome) => outcome === 'unpaid')) return 'unpaid';
  const isCharged = row.charge_at === null;
  return isCharged && !(await store.isAnyOpen(transaction, row.id)) ? 'completed' : undefined;
}

/** Stops charging a subscriber, and notifies the merchant. Open payments can still be paid. */
export async function endSubscription(
  transaction: Transaction,
  outbox: Outbox,
  row: SubscriberRow,
  reason: EndReason,
): Promise<void> {
  const ended = { ...row, is_active: 0, charge_at: null } as const;
  await store.updateSubscriber(transaction, row.id, ended);
  await outbox.add(transaction, {
    merchantId: row.merchant_id,
    mode: row.mode,
    type: 'subscription.ended',
    subjectId: row.id,
    data: { ...viewSubscriber(ended), reason },
  });
}
