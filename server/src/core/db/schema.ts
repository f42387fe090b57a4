/**
 * All tables, and the types of their rows. The declarations in `tables/` lead: the migrations create what they say.
 * They use the portable subset that SQLite and PostgreSQL share: TEXT, BIGINT and INTEGER. Times are epoch milliseconds.
 * Amounts are integers in the smallest unit, stored as text because wei does not fit into 64 bits. JSON is TEXT.
 */
import { record, type Row, type Table, type Tables } from './table.js';
import { listTables } from './tables/lists.js';
import { accountTables } from './tables/accounts.js';
import { chainTables } from './tables/chains.js';
import { ledgerTables } from './tables/ledger.js';
import { paymentTables } from './tables/payments.js';
import { recordTables } from './tables/records.js';
import { subscriptionTables } from './tables/subscriptions.js';
import { webhookTables } from './tables/webhooks.js';
import { withdrawalTables } from './tables/withdrawals.js';
import type { Values } from './values.js';

/** The core's tables, each after the tables that it references: the order in which they are created and copied. */
export const tables = {
  ...accountTables,
  ...paymentTables,
  ...chainTables,
  ...ledgerTables,
  ...recordTables,
  ...webhookTables,
  ...withdrawalTables,
  ...subscriptionTables,
};

/** The rows of tables, by their names. */
export type Rows<Tables> = { [Name in keyof Tables]: Row<Tables[Name]> };

/**
 * All tables of a database, in order. List checkpoints come last: triggers delete them when rows are added.
 * @param more those of modules
 */
export function withCore(more: Tables): Tables {
  placeColumns(more);
  return { ...tables, ...more, ...listTables };
}

/** So that errors name them. */
function placeColumns(named: Tables): void {
  for (const [name, { columns }] of Object.entries<Table>(named)) {
    for (const [column, declared] of Object.entries(columns)) {
      // Columns that several tables share are stored as they are, and have no errors.
      if (!Object.values<unknown>(record).includes(declared)) declared.placeAt(`${name}.${column}`);
    }
  }
}

placeColumns(tables);

/** Modules add theirs: `declare module` in the file that declares a module's tables. */
export interface Schema extends Rows<typeof tables & typeof listTables> {}

export type MerchantTable = Schema['merchants'];
export type ApiKeyTable = Schema['api_keys'];
export type AuditLogTable = Schema['audit_log'];
export type LogEntryTable = Schema['log_entries'];
export type AddressTable = Omit<Schema['addresses'], 'sequence'>;
export type WalletTable = Schema['wallets'];
export type DepositKeyTable = Schema['deposit_keys'];
export type DerivationTable = Schema['derivations'];
export type QuarantineTable = Schema['quarantine'];
export type LedgerPostingTable = Schema['ledger_postings'];
export type IdempotencyTable = Schema['idempotency'];
export type OutboxTable = Schema['outbox'];
export type WebhookTryTable = Schema['webhook_tries'];
export type WebhookEndpointTable = Schema['webhook_endpoints'];
export type SubscriberTable = Schema['subscribers'];
export type SubscriberCycleTable = Schema['subscriber_cycles'];
export type WalletAddressTable = Schema['wallet_addresses'];
export type CustomerTable = Schema['customers'];
export type BankAccountTable = Schema['bank_accounts'];
export type SimulatedBlockTable = Schema['simulated_blocks'];
export type SimulatedTransferTable = Schema['simulated_transfers'];

/** Rows as their stores give them: db/values.ts. */
type ValuesOf<Name extends keyof typeof tables> = Values<(typeof tables)[Name]>;
export type TransferRow = ValuesOf<'transfers'>;
export type PayoutRow = ValuesOf<'payouts'>;
export type PaymentRow = ValuesOf<'payments'>;
export type ReceiptRow = ValuesOf<'receipts'>;
export type ChainCursorRow = ValuesOf<'chain_cursors'>;
