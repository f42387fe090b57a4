/** The status of a payment as SQL expressions, which an index and a filter share. */
import { paymentStates, paymentStatuses, statesWith } from 'crypto-checkout/contract';
import { sql } from 'kysely';

/** What waits for money or is being confirmed, for a partial index and the filter that uses it. */
export const isPayable = sql<boolean>`state in (${sql.raw(
  paymentStates.payable.map((state) => `'${state}'`).join(', '),
)})`;

const branches = paymentStatuses
  .filter((status) => status !== 'in progress')
  .map(
    (status) =>
      `when state in (${statesWith(status)
        .map((state) => `'${state}'`)
        .join(', ')}) then '${status}'`,
  )
  .reverse();

/** Must read exactly the same in both, or the databases do not use the index. */
export const paymentStatusOf = sql<string>`(case
  ${sql.raw(branches.join('\n  '))}
  else 'in progress' end)`;
