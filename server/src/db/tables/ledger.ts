/** The double-entry ledger. */
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { table, text, time, units } from '../table.js';

export type LedgerAccountKind =
  | 'custody'
  | 'unallocated'
  | 'available'
  | 'reserved'
  | 'fee_income'
  | 'network_fee'
  | 'gas_paid'
  | 'bank_clearing';

export const ledgerTables = {
  ledger_accounts: table({
    /** `mode/currency/kind[/network][/merchant id][/treasury][/debt]`, unique. */
    id: text().primaryKey(),
    mode: text<Mode>(),
    kind: text<LedgerAccountKind>(),
    currency: text(),
    network: text().nullable(),
    merchant_id: text().nullable(),
    /** Signed integer: debits less credits for custody and network_fee, credits less debits for the others. */
    balance: units(),
  }).index('merchant', ['merchant_id', 'mode', 'currency']),

  ledger_postings: table({
    id: text().primaryKey(),
    /** Unique, so that nothing is posted twice: `receipt:<id>`, `settlement:<payment id>`, `hold:<transfer id>`. */
    key: text().unique(),
    mode: text<Mode>(),
    currency: text(),
    payment_id: text().nullable(),
    created_at: time(),
  }).index('payment', ['payment_id'], { where: sql`payment_id is not null` }),

  ledger_entries: table({
    posting_id: text().references('ledger_postings.id'),
    account_id: text().references('ledger_accounts.id'),
    /** Positive integers; one of the two is "0". */
    debit: units(),
    credit: units(),
  })
    .index('posting', ['posting_id'])
    .index('account', ['account_id']),
};
