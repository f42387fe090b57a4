/** The public status of a payment as an SQL expression, which an index and a filter share. */
import { sql } from 'kysely';

/** Must read exactly the same in both, or the databases do not use the index. */
export const paymentStatusOf = sql<string>`(case
  when state in ('settled', 'settled_over', 'settled_late') then 'success'
  when state in ('cancelled', 'cancelled_paid') then 'cancelled'
  when state in ('expired', 'expired_partial', 'expired_late', 'invalid', 'reversed') then 'error'
  else 'in progress' end)`;
