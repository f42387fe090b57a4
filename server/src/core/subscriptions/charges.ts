/** Charges a subscriber: creates the payment of the cycle that is due, and schedules the next one. */
import { dueAt, newestDue } from './calendar.js';
import { referenceOf } from './cycle-reference.js';
import type { Customers } from '../customers/customers.js';
import type { PaymentPlans, PlanTerms } from './plans.js';
import type { Payments } from '../payments/payments.js';
import type { Outbox } from '../webhooks/outbox.js';
import * as store from './subscriber-store.js';
import { viewSubscriber } from './subscriber-view.js';
import { scopeOf } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import type { SubscriberRow } from './subscriber-store.js';

export type Charges = ReturnType<typeof createCharges>;

interface ChargesDeps {
  readonly customers: Pick<Customers, 'payer'>;
  readonly paymentPlans: PaymentPlans;
  readonly payments: Payments;
  readonly outbox: Pick<Outbox, 'add'>;
  /** The base URL of the hosted pages: `{checkoutUrl}/{payment id}`. */
  readonly checkoutUrl: string;
}

export function createCharges({ customers, paymentPlans, payments, outbox, checkoutUrl }: ChargesDeps) {
  /** Creates the payment of a cycle, and the event that it is due. */
  async function issue(
    transaction: Transaction,
    row: SubscriberRow,
    { plan, cycle, email, now }: { plan: PlanTerms; cycle: number; email: string; now: number },
  ): Promise<void> {
    const { id, merchant_id: merchantId, mode } = row;
    const payment = await payments.create(
      transaction,
      { merchantId, mode, kind: 'secret' },
      {
        baseUnits: plan.amount,
        baseCurrency: plan.currency,
        acceptedCurrencies: plan.currencies,
        txRef: referenceOf(id, cycle),
        email,
        now,
      },
    );
    await store.insertCycle(transaction, {
      subscriber_id: id,
      cycle,
      payment_id: payment.id,
      outcome: 'open',
    });
    await outbox.add(transaction, {
      merchantId,
      mode,
      type: 'subscription.payment_due',
      subjectId: id,
      data: { ...viewSubscriber(row), cycle, payment, url: `${checkoutUrl}/${payment.id}` },
    });
  }

  return {
    /**
     * Charges the newest cycle that is due at `now`, once. Older cycles are skipped and never charged. So is the newest
     * one if it came due while the plan was off, or if the customer is blacklisted.
     * Problems: those of creating a payment.
     * @param row locked, or inserted in the same transaction
     */
    async charge(transaction: Transaction, row: SubscriberRow, now: number): Promise<void> {
      const scope = scopeOf(row);
      const plan = await paymentPlans.terms(transaction, scope, row.plan_id);
      const due = (cycle: number) => dueAt(row.created_at, plan.frequency, cycle);
      const cycle = newestDue(row.created_at, plan.frequency, now);
      const { email, isBlacklisted } = await customers.payer(transaction, row.customer_id);
      const isCharged =
        cycle >= row.next_cycle && plan.isActive && due(cycle) >= plan.activeSince && !isBlacklisted;
      if (isCharged) await issue(transaction, row, { plan, cycle, email, now });
      const timesCharged = row.times_charged + (isCharged ? 1 : 0);
      const nextCycle = Math.max(cycle + 1, row.next_cycle);
      await store.updateSubscriber(transaction, row.id, {
        next_cycle: nextCycle,
        times_charged: timesCharged,
        charge_at: timesCharged < plan.numberOfTimesToCharge ? due(nextCycle) : null,
      });
    },
  };
}
