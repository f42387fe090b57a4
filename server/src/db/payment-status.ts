/**
 * The status of a payment, and why somebody should look at it, as SQL expressions, which an index and a filter share. Both must
 * read exactly the same, or the databases do not use the index.
 */
import {
  paymentStates,
  paymentStatuses,
  statesWith,
  type PaymentReview,
  type PaymentState,
} from 'crypto-checkout/contract';
import { sql } from 'kysely';

const listOf = (states: readonly PaymentState[]) => states.map((state) => `'${state}'`).join(', ');
const isIn = (states: readonly PaymentState[]) => sql<boolean>`state in (${sql.raw(listOf(states))})`;

/** What waits for money or is being confirmed. */
export const isPayable = isIn(paymentStates.payable);
/** The same, and what has no price in coins yet. */
export const isOpen = isIn(statesWith('in progress'));

const reviewed: Readonly<Record<PaymentReview, readonly PaymentState[]>> = {
  late: ['expired_late', 'cancelled_paid'],
  short: ['expired_partial'],
  excess: ['settled_over'],
  wrong_coin: ['invalid'],
  reversed: ['reversed'],
};
/** What somebody should look at. An index has only these, so a filter must say this too. */
export const isUnusual = isIn(Object.values(reviewed).flat());
/** As PostgreSQL writes it back, so that a test can compare. */
const isOneOf = (states: readonly PaymentState[]) =>
  states.length === 1 ? `state = '${states.join('')}'` : `state in (${listOf(states)})`;
export const paymentReviewOf = sql<string>`(case
  ${sql.raw(
    Object.entries(reviewed)
      .map(([review, states]) => `when ${isOneOf(states)} then '${review}'`)
      .join('\n  '),
  )}
  else null end)`;

/** The status as SQL. @param state the column, with its table's name if need be */
export const paymentStatusIn = (state: string) => `(case
  ${paymentStatuses
    .filter((status) => status !== 'in progress')
    .map((status) => `when ${state} in (${listOf(statesWith(status))}) then '${status}'`)
    .reverse()
    .join('\n  ')}
  else 'in progress' end)`;
export const paymentStatusOf = sql<string>`${sql.raw(paymentStatusIn('state'))}`;
