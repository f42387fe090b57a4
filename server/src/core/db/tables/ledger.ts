/** The double-entry ledger. */
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { type DataPolicy, deletedWith, isOwn } from '../data-policy.js';
import { books, table, text, time, units } from '../table.js';

export type LedgerAccountKind =
  | 'custody'
  | 'unallocated'
  | 'available'
  | 'reserved'
  | 'fee_income'
  | 'network_fee'
  | 'gas_paid'
  | 'bank_clearing';

const emptyAccounts: DataPolicy = {
  wiped: {
    rows: (merchantId) => [
      sql`${isOwn(merchantId)}
        and not exists (select 1 from ledger_entries where account_id = ledger_accounts.id)`,
    ],
    reads: [],
  },
};

export const ledgerTables = {
  ledger_accounts: table(emptyAccounts, {
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

  ledger_postings: table(deletedWith('its effect on balances: sandbox/reset.ts'), {
    id: text().primaryKey(),
    /** Unique, so that nothing is posted twice: `receipt:<id>`, `settlement:<payment id>`, `hold:<transfer id>`. */
    key: text().unique(),
    mode: text<Mode>(),
    currency: text(),
    payment_id: text().nullable(),
    created_at: time(),
    /** The merchant whose balance it changes; empty if it changes none, and null until `nameMerchants` has run. */
    merchant_id: text().nullable().since(books),
    /** The transaction that it books, where the record that names it can name another one later. */
    tx_hash: text().nullable().since(books),
  })
    .index('payment', ['payment_id'], { where: sql`payment_id is not null` })
    // The bookings of a merchant's month, without those of others.
    .index('booked', ['merchant_id', 'mode', 'created_at'], { since: books })
    // Rows that an older release wrote while this one was running.
    .index('unnamed', ['id'], { where: sql`merchant_id is null`, since: books }),

  ledger_entries: table(deletedWith('ledger_postings'), {
    posting_id: text().references('ledger_postings.id'),
    account_id: text().references('ledger_accounts.id'),
    /** Positive integers; one of the two is "0". */
    debit: units(),
    credit: units(),
  })
    .index('posting', ['posting_id'])
    .index('account', ['account_id']),
};
