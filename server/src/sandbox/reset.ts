/**
 * Wipes the test data of one merchant, in small transactions, so that the server keeps running meanwhile. Its keys stay: API keys,
 * the endpoint of its webhooks, and deposit keys with the count of their addresses, so that none is given out twice.
 *
 * The books come first, newest posting first: the balances go back the way they came, so that none is ever negative.
 * Accounts that all merchants share, such as custody, lose exactly what the deleted postings had put there.
 *
 * One of the places that write the tables of all rooms: see "Rooms" in CONTRIBUTING.md.
 */
import { sql, type Expression, type SqlBool } from 'kysely';
import type { Hooks } from '../core/hooks.js';
import type { Database } from '../db/database.js';
import type { Transaction } from '../db/engine.js';
import { forUpdate } from '../db/locks.js';
import { debitAccounts } from '../ledger/ledger.js';
import type { Schema } from '../db/schema.js';
import type { AuditActor, AuditLog } from '../merchants/audit-log.js';
import type { TestClock } from '../chains/simulated/test-clock.js';

/** The number of deleted rows, by table. */
export type Deleted = Readonly<Record<string, number>>;

const batchSize = 200;

/** @returns wipes a merchant's test data, by whom the audit log says, and puts its test clock back to real time */
export function createSandboxReset(
  database: Database,
  clock: TestClock,
  auditLog: AuditLog,
  hooks: Pick<Hooks, 'onWiped'>,
) {
  return async (merchantId: string, actor: AuditActor): Promise<Deleted> => {
    const deleted: Record<string, number> = {};
    const count = (table: string, rows: number) => {
      deleted[table] = (deleted[table] ?? 0) + rows;
    };
    /** Repeats a transaction until it deletes nothing. */
    const drain = async (table: string, work: (transaction: Transaction) => Promise<number>) => {
      for (;;) {
        const rows = await database.write(work);
        if (rows === 0) return;
        count(table, rows);
      }
    };
    const erase = async (table: Erasable, key: string, condition: Condition) =>
      drain(table, (transaction) => deleteSome(transaction, table, key, condition));
    const own: Condition = sql<SqlBool>`merchant_id = ${merchantId} and mode = 'test'`;
    const inOwn = (column: string, table: Erasable): Condition =>
      sql<SqlBool>`${sql.ref(column)} in (select id from ${sql.table(table)} where ${own})`;

    // Transfers on the simulated chains go first, so that no scan finds them again.
    await erase('simulated_transfers', 'tx_hash', sql<SqlBool>`merchant_id = ${merchantId}`);
    // Twice: a job may have posted once more before the records were gone.
    for (let round = 0; round < 2; round += 1) {
      await drain('ledger_postings', (transaction) => deletePostings(transaction, merchantId));
      await erase('outbox', 'id', own);
      await erase('subscriber_cycles', 'payment_id', inOwn('subscriber_id', 'subscribers'));
      await erase('subscribers', 'id', own);
      await erase('payment_plans', 'id', own);
      await erase('receipts', 'id', own);
      await erase('quarantine', 'id', inOwn('payment_id', 'payments'));
      await erase('quarantine', 'id', toOwnWallets(merchantId));
      await erase('sweeps', 'tx_hash', own);
      await erase('unswept_forwarders', 'address', own);
      await erase('unspent_coins', 'tx_hash', own);
      await erase('treasury_payments', 'tx_hash', inOwn('transfer_id', 'transfers'));
      await erase('transfer_exports', 'transfer_id', inOwn('transfer_id', 'transfers'));
      await erase('treasury_fees', 'tx_hash', own);
      await erase('addresses', 'id', inOwn('payment_id', 'payments'));
      await erase('addresses', 'id', inOwn('wallet_id', 'wallets'));
      await erase('log_entries', 'id', inOwn('payment_id', 'payments'));
      await erase('refunds', 'id', own);
      await erase('payments', 'id', own);
      await erase('wallets', 'id', own);
      await erase('payouts', 'id', own);
      for (const table of ['psbt_inputs', 'psbt_transfers', 'psbt_versions'] as const) {
        await erase(table, 'psbt_id', inOwn('psbt_id', 'psbts'));
      }
      await erase('psbts', 'id', own);
      await erase('transfers', 'id', own);
      await erase('primary_wallet_addresses', 'wallet_address_id', own);
      await erase('wallet_addresses', 'id', own);
      await erase('primary_bank_accounts', 'bank_account_id', own);
      await erase('bank_accounts', 'id', own);
      await erase('balance_suspensions', 'currency', own);
      await erase('customers', 'id', own);
      await erase('list_checkpoints', 'id', own);
      await erase('idempotency', 'request', own);
      await erase('idempotency_replies', 'hash', own);
    }
    await database.write(async (transaction) => {
      await sql`
        delete from ledger_accounts where ${own}
          and not exists (select 1 from ledger_entries where account_id = ledger_accounts.id)`.execute(
        transaction,
      );
      await hooks.onWiped(transaction, merchantId);
      await clock.reset(transaction, merchantId);
      await auditLog.record(transaction, {
        ...{ merchantId, mode: 'test', actor, action: 'sandbox.reset', subjectId: merchantId },
        after: { deleted },
      });
    });
    await clock.refresh();
    return deleted;
  };
}

type Erasable = Exclude<
  keyof Schema,
  'merchants' | 'api_keys' | 'settings' | 'webhook_endpoints' | 'deposit_keys' | 'derivations'
>;
type Condition = Expression<SqlBool>;

/** Transfers to wallets that could not be stored yet. They belong to nobody but the wallet of their address. */
function toOwnWallets(merchantId: string): Condition {
  return sql<SqlBool>`payment_id is null and mode = 'test' and exists (
    select 1 from addresses join wallets on wallets.id = addresses.wallet_id
    where wallets.merchant_id = ${merchantId} and wallets.mode = 'test'
    and quarantine.transfer like '%"address":"' || addresses.address || '"%')`;
}

/** Deletes some rows by their key. A key that several rows share, such as a currency, takes all of the condition. */
async function deleteSome(transaction: Transaction, table: Erasable, key: string, condition: Condition) {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${condition} and ${sql.ref(key)} in (
      select ${sql.ref(key)} from ${sql.table(table)} where ${condition} limit ${sql.lit(batchSize)}
    )`.execute(transaction);
  return Number(numAffectedRows);
}

/** Deletes the merchant's newest postings, with their effect on every balance. */
async function deletePostings(transaction: Transaction, merchantId: string): Promise<number> {
  const newest = await transaction
    .selectFrom('ledger_accounts')
    .innerJoin('ledger_entries', 'ledger_entries.account_id', 'ledger_accounts.id')
    .innerJoin('ledger_postings', 'ledger_postings.id', 'ledger_entries.posting_id')
    .select(['ledger_postings.id', 'ledger_postings.created_at'])
    .distinct()
    .where((e) => e.and({ 'ledger_accounts.merchant_id': merchantId, 'ledger_accounts.mode': 'test' }))
    .orderBy('ledger_postings.created_at', 'desc')
    .orderBy('ledger_postings.id', 'desc')
    .limit(batchSize)
    .execute();
  if (newest.length === 0) return 0;
  const ids = newest.map(({ id }) => id);
  const entries = await transaction
    .selectFrom('ledger_entries')
    .select(['account_id', 'debit', 'credit'])
    .where('posting_id', 'in', ids)
    .execute();
  const accounts = await transaction
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('id', 'in', [...new Set(entries.map(({ account_id: id }) => id))])
    .orderBy('id')
    .$call(forUpdate(transaction))
    .execute();
  for (const { id, kind, balance } of accounts) {
    const debits = entries
      .filter(({ account_id: accountId }) => accountId === id)
      .reduce((sum, { debit, credit }) => sum + BigInt(debit) - BigInt(credit), 0n);
    const change = debitAccounts.has(kind) ? debits : -debits;
    await transaction
      .updateTable('ledger_accounts')
      .set({ balance: (BigInt(balance) - change).toString() })
      .where('id', '=', id)
      .execute();
  }
  await transaction.deleteFrom('ledger_entries').where('posting_id', 'in', ids).execute();
  await transaction.deleteFrom('ledger_postings').where('id', 'in', ids).execute();
  return ids.length;
}
