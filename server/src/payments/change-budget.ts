/** How often one payment can be changed with a public key: anybody who has the link could fill the database otherwise. */
import { Problem } from '../shared/problem.js';
import type { PaymentRow } from './store.js';

const hourMs = 3_600_000;

/**
 * Counts a change. The count is kept with the payment, so that all servers share it.
 * Problem: `rate_limited`.
 * @param limit changes an hour; undefined if there is no limit
 * @returns what to store together with the change
 */
export function countChange(
  row: Pick<PaymentRow, 'public_changes' | 'public_changes_since'>,
  now: number,
  limit: number | undefined,
): Partial<Pick<PaymentRow, 'public_changes' | 'public_changes_since'>> {
  if (limit === undefined) return {};
  const { public_changes: made, public_changes_since: since } = row;
  if (since === null || now - since >= hourMs) return { public_changes: 1, public_changes_since: now };
  if (made < limit) return { public_changes: made + 1 };
  const retryAfterSeconds = Math.max(1, Math.ceil((since + hourMs - now) / 1000));
  throw new Problem(
    'rate_limited',
    `This payment was changed ${limit} times within an hour. Try again in ${retryAfterSeconds} s, or create a new payment`,
    { retryAfterSeconds },
  );
}
