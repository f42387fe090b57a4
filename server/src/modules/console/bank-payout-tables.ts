/** The bank payouts that a shop's people recorded. */
import { own } from '../../core/db/data-policy.js';
import type { Rows } from '../../core/db/schema.js';
import { record, table, text, time } from '../../core/db/table.js';

export const bankPayoutTables = {
  /** Those that are not here were recorded by the server's operator, who also ends them. */
  own_bank_payouts: table(
    own,
    {
      /** The payout's. */
      id: text().primaryKey().references('payouts.id'),
      merchant_id: record.merchant_id,
      mode: record.mode,
      /** The bank's own number of the transfer; empty until it is sent, or if it has none. */
      bank_reference: text(),
      created_at: time(),
    },
    '0011-bank-payouts.additive',
  ),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof bankPayoutTables> {}
}
