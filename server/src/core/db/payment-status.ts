/**
 * The status of a payment, and why somebody should look at it, as SQL expressions, which an index and a filter share. Both must
 * read exactly the same, or the databases do not use the index.
 */
import {
  paymentFinding,
  paymentStates,
  paymentStatuses,
  statesWith,
  type PaymentFinding,
  type PaymentReview,
  type PaymentState,
} from 'crypto-checkout/contract';
import { sql, type RawBuilder } from 'kysely';
import { bitOf } from './codecs.js';

const listOf = (states: readonly PaymentState[]) => states.map((state) => `'${state}'`).join(', ');
const isIn = (states: readonly PaymentState[]) => sql<boolean>`state in (${sql.raw(listOf(states))})`;

/** Payments that wait for money or are being confirmed. */
export const isPayable = isIn(paymentStates.payable);
/** The same, and payments without a price in coins yet. */
export const isOpen = isIn(statesWith('in progress'));

const hasFound = (...findings: readonly PaymentFinding[]) => {
  const bits = findings.reduce((sum, finding) => sum | bitOf(paymentFinding.options, finding), 0);
  return `(findings & ${bits}) <> 0`;
};

const unpaid = [...statesWith('error'), ...statesWith('cancelled')];

/** 1 if a payment has anything that may need a look. They are few, and share one index. */
export const reviewMark = sql<number>`(case when findings <> 0 or state = 'reversed' then 1 else 0 end)`;
export const mayNeedReview = sql<boolean>`${reviewMark} = 1`;

const becauseOf = (reason: string) => sql<boolean>`${mayNeedReview} and ${sql.raw(reason)}`;

/**
 * Payments that someone should look at, and why. Late money that was accepted is no reason. Each names the condition of
 * the index as well: neither engine infers it from a bit of `findings`.
 */
export const needsReview: Readonly<Record<PaymentReview, RawBuilder<boolean>>> = {
  late: becauseOf(`${hasFound('late')} and state in (${listOf(unpaid)})`),
  short: becauseOf(hasFound('short')),
  excess: becauseOf(hasFound('over')),
  wrong_coin: becauseOf(hasFound('wrong_coin', 'wrong_network')),
  reversed: becauseOf("state = 'reversed'"),
};

/** The status as SQL. @param state the column, with its table's name if necessary */
export const paymentStatusIn = (state: string) => `(case
  ${paymentStatuses
    .filter((status) => status !== 'in progress')
    .map((status) => `when ${state} in (${listOf(statesWith(status))}) then '${status}'`)
    .reverse()
    .join('\n  ')}
  else 'in progress' end)`;
export const paymentStatusOf = sql<string>`${sql.raw(paymentStatusIn('state'))}`;
