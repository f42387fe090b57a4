/** The public status of a payment as an SQL expression, which an index and a filter share. */
import { paymentStatuses, statesWith } from 'crypto-checkout/contract';
import { sql } from 'kysely';

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
