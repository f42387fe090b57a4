/**
 * Wipes the test data of one merchant, in small transactions, so that the server keeps running meanwhile. Its keys stay: API keys,
 * the endpoint of its webhooks, and deposit keys with the count of their addresses, so that none is given out twice.
 *
 * The books come first, newest posting first: the balances go back the way they came, so that none is ever negative.
 * Accounts that all merchants share, such as custody, lose exactly what the deleted postings had put there. Each table says in its
 * declaration which other rows are deleted: db/data-policy.ts.
 *
 * One of the places that write the tables of all rooms: see "Rooms" in CONTRIBUTING.md.
 */
import { sql, type Expression, type SqlBool } from 'kysely';
import type { Hooks } from '../hooks.js';
import type { Database } from '../db/database.js';
import type { Transaction } from '../db/engine.js';
import { forUpdate } from '../db/locks.js';
import { refuseLeftTables } from '../db/removed-modules.js';
import { debitAccounts } from '../ledger/ledger.js';
import { tables } from '../db/schema.js';
import { valuesOf } from '../db/values.js';
import { wipingOrder, type WipedTable } from './wiping-order.js';
import type { AuditActor, AuditLog } from '../merchants/audit-log.js';
import type { TestClock } from '../chains/simulated/test-clock.js';

const accountRows = valuesOf(tables.ledger_accounts);
const entryRows = valuesOf(tables.ledger_entries);

/** The number of deleted rows, by table. */
export type Deleted = Readonly<Record<string, number>>;

const batchSize = 200;

/**
 * Problem: `invalid_state` if a removed module has left some of it.
 * @returns wipes a merchant's test data, by whom the audit log says, and puts its test clock back to real time
 */
export function createSandboxReset(
  database: Database,
  clock: TestClock,
  auditLog: AuditLog,
  hooks: Pick<Hooks, 'onWiped'>,
) {
  return async (merchantId: string, actor: AuditActor): Promise<Deleted> => {
    // Before the books: their foreign keys would end the reset halfway.
    await refuseLeftTables(database.reader, { merchant_id: [merchantId], mode: ['test'] });
    await refuseLeftTables(database.reader, {
      transfer_id: sql`select id from transfers where merchant_id = ${merchantId} and mode = 'test'`,
    });
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
    const erase = async ({ name, table, data }: WipedTable) => {
      for (const condition of data.rows(merchantId)) {
        await drain(name, (transaction) => deleteSome(transaction, name, table.key, condition));
      }
    };

    const inOrder = wipingOrder(database.tables);
    for (const one of inOrder.filter(({ data }) => data.isFirst)) await erase(one);
    // Twice: a job may have posted once more before the records were gone.
    for (let round = 0; round < 2; round += 1) {
      await drain('ledger_postings', (transaction) => deletePostings(transaction, merchantId));
      for (const one of inOrder) await erase(one);
    }
    await database.write(async (transaction) => {
      await hooks.onWiped(transaction, merchantId);
      await clock.reset(transaction, merchantId);
      await auditLog.record(transaction, {
        merchantId,
        mode: 'test',
        actor,
        action: 'sandbox.reset',
        subjectId: merchantId,
        after: { deleted },
      });
    });
    await clock.refresh();
    return deleted;
  };
}

/** Deletes some rows by their key. */
async function deleteSome(
  transaction: Transaction,
  table: string,
  key: readonly string[],
  condition: Expression<SqlBool>,
): Promise<number> {
  const columns = sql.join(key.map((part) => sql.ref(part)));
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${condition} and (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${condition} limit ${sql.lit(batchSize)}
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
  const posted = await transaction
    .selectFrom('ledger_entries')
    .select(['account_id', 'debit', 'credit'])
    .where('posting_id', 'in', ids)
    .execute();
  const entries = posted.map(entryRows.decode);
  const accounts = await transaction
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('id', 'in', [...new Set(entries.map(({ account_id: id }) => id))])
    .orderBy('id')
    .$call(forUpdate(transaction))
    .execute();
  for (const { id, kind, balance } of accounts.map(accountRows.decode)) {
    const debits = entries
      .filter(({ account_id: accountId }) => accountId === id)
      .reduce((sum, { debit, credit }) => sum + debit - credit, 0n);
    const change = debitAccounts.has(kind) ? debits : -debits;
    await transaction
      .updateTable('ledger_accounts')
      .set(accountRows.encode({ balance: balance - change }))
      .where('id', '=', id)
      .execute();
  }
  await transaction.deleteFrom('ledger_entries').where('posting_id', 'in', ids).execute();
  await transaction.deleteFrom('ledger_postings').where('id', 'in', ids).execute();
  return ids.length;
}
