/** Reads what subscribers, plans and customers have to do with each other, and what was paid. */
import type { Reader } from '../../core/db/engine.js';
import { countWithin } from '../../core/db/pages.js';
import { paymentStatusOf } from '../../core/db/payment-status.js';
import { inScope } from '../../core/db/rows.js';
import { readUnits, sumUnits } from '../../core/db/units.js';
import type { Scope } from '../../core/shared/scope.js';

/** The payments of a plan with more subscribers than this are not added up. */
const mostSummed = 10_000;

/** @returns by subscriber: when it is charged next, what it has paid in units, and when it did last */
export async function readSubscriptions(reader: Reader, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const [rows, paid] = await Promise.all([
    reader
      .selectFrom('subscribers')
      .innerJoin('payment_plans', 'payment_plans.id', 'subscribers.plan_id')
      .innerJoin('customers', 'customers.id', 'subscribers.customer_id')
      .selectAll('customers')
      .select(['subscribers.id as subscriber', 'subscribers.charge_at', 'subscribers.plan_id'])
      .select(['payment_plans.plan_name', 'payment_plans.amount', 'payment_plans.currency'])
      .where('subscribers.id', 'in', ids)
      .execute(),
    reader
      .selectFrom('subscriber_cycles')
      .innerJoin('payments', 'payments.id', 'subscriber_cycles.payment_id')
      .where('subscriber_cycles.subscriber_id', 'in', ids)
      .where('subscriber_cycles.outcome', '=', 'paid')
      .groupBy('subscriber_cycles.subscriber_id')
      .select((e) => [
        'subscriber_cycles.subscriber_id as subscriber',
        sumUnits(reader, 'payments.base_amount').as('paid'),
        e.fn.max<number | null>('payments.settled_at').as('last'),
      ])
      .execute(),
  ]);
  const sums = new Map(paid.map((row) => [row.subscriber, row]));
  return rows.map((row) => {
    const { paid: sum = '0', last = null } = sums.get(row.subscriber) ?? {};
    return { ...row, amount: readUnits(row.amount), paid: readUnits(sum), lastPaidAt: last };
  });
}

/** The sums that payers have paid, by the currency of the prices. */
export async function sumPayments(reader: Reader, scope: Scope, payerIndexes: readonly string[]) {
  const rows = await reader
    .selectFrom('payments')
    .$call(inScope(scope))
    .where('payer_index', 'in', payerIndexes)
    .where(paymentStatusOf, '=', 'success')
    .groupBy('base_currency')
    .orderBy('base_currency')
    .select((e) => [
      'base_currency as currency',
      e.fn.countAll<number | string>().as('payments'),
      sumUnits(reader, 'base_amount').as('amount'),
    ])
    .execute();
  return rows.map(({ currency, payments, amount }) => ({
    currency,
    payments: Number(payments),
    amount: readUnits(amount),
  }));
}

const ofPlan = (reader: Reader, planId: string) =>
  reader.selectFrom('subscribers').where('plan_id', '=', planId).where('removed_at', 'is', null);

/** Counted up to the bound. */
export async function countSubscribers(reader: Reader, planId: string) {
  const total = await countWithin(ofPlan(reader, planId).select('id'), {
    reader,
    mostListed: mostSummed + 1,
  });
  const active = await countWithin(ofPlan(reader, planId).where('is_active', '=', 1).select('id'), {
    reader,
    mostListed: mostSummed + 1,
  });
  return { active, ended: total - active, isTooMany: total > mostSummed };
}

/** The sum that the subscribers of a plan have paid, with those who were removed. */
export async function sumPlan(reader: Reader, planId: string) {
  const row = await reader
    .selectFrom('subscribers')
    .innerJoin('subscriber_cycles', 'subscriber_cycles.subscriber_id', 'subscribers.id')
    .innerJoin('payments', 'payments.id', 'subscriber_cycles.payment_id')
    .where('subscribers.plan_id', '=', planId)
    .where('subscriber_cycles.outcome', '=', 'paid')
    .select((e) => [
      e.fn.countAll<number | string>().as('payments'),
      sumUnits(reader, 'payments.base_amount').as('amount'),
    ])
    .executeTakeFirstOrThrow();
  return { payments: Number(row.payments), amount: readUnits(row.amount) };
}
