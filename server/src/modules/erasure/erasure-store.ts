/** Finds and replaces personal data in the tables of all rooms: one of the places that may write them, see "Rooms" in CONTRIBUTING.md. */
import { sql } from 'kysely';
import { inChunks } from '../../core/db/chunks.js';
import { everyPage } from '../../core/db/pages.js';
import { hasRows, updateRow } from '../../core/db/rows.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { PaymentRow } from '../../core/db/schema.js';
import { modes, type Mode } from '../../core/shared/scope.js';
import { changeSealed, pick, updateCells, type Cells, type PersonalTable } from './sealed.js';

export function findCustomers(reader: Reader, merchantId: string, emailIndexes: readonly string[]) {
  return (
    reader
      .selectFrom('customers')
      .select(['id', 'mode'])
      .where('merchant_id', '=', merchantId)
      // So that the index is used beyond its first column.
      .where('mode', 'in', modes)
      .where('email_index', 'in', emailIndexes)
      .execute()
  );
}

/** Customers who had an email before, the last one first. */
export function findEarlierOwners(reader: Reader, merchantId: string, emailIndexes: readonly string[]) {
  return reader
    .selectFrom('customer_earlier_emails')
    .select(['customer_id as id', 'mode'])
    .where('merchant_id', '=', merchantId)
    .where('mode', 'in', modes)
    .where('email_index', 'in', emailIndexes)
    .orderBy('left_at', 'desc')
    .execute();
}

export function readPersons(reader: Reader, customerIds: readonly string[]) {
  return inChunks(customerIds, (chunk) =>
    reader.selectFrom('customers').select(['id', 'person']).where('id', 'in', chunk).execute(),
  );
}

export function readEarlierEmails(reader: Reader, customerIds: readonly string[]) {
  return inChunks(customerIds, (chunk) =>
    reader.selectFrom('customer_earlier_emails').selectAll().where('customer_id', 'in', chunk).execute(),
  );
}

/** Of these customers, and those with these emails of others: their payments are erased too. */
export async function deleteEarlierEmails(
  transaction: Transaction,
  merchantId: string,
  customerIds: readonly string[],
  emailIndexes: readonly string[],
): Promise<void> {
  await transaction
    .deleteFrom('customer_earlier_emails')
    .where('merchant_id', '=', merchantId)
    .where((e) =>
      e.or([
        e('email_index', 'in', emailIndexes),
        ...(customerIds.length > 0 ? [e('customer_id', 'in', customerIds)] : []),
      ]),
    )
    .execute();
}

/** @param until those of one mode that were made until then */
export function findPayments(
  reader: Reader,
  merchantId: string,
  payerIndexes: readonly string[],
  until?: { readonly mode: Mode; readonly at: number },
) {
  return reader
    .selectFrom('payments')
    .select('id')
    .where('merchant_id', '=', merchantId)
    .where('mode', 'in', until ? [until.mode] : modes)
    .where('payer_index', 'in', payerIndexes)
    .$if(until !== undefined, (query) => query.where('created_at', '<=', until?.at ?? 0))
    .execute();
}

export async function hasActiveSubscription(reader: Reader, customerIds: readonly string[]) {
  if (customerIds.length === 0) return false;
  return hasRows(
    reader
      .selectFrom('subscribers')
      .where('customer_id', 'in', customerIds)
      .where((e) => e.and({ is_active: 1, removed_at: null })),
  );
}

export const eraseCustomer = updateRow('customers');
/** The new version lets views of the payment be made again. */
export async function erasePayment(
  transaction: Transaction,
  id: string,
  payer: Pick<PaymentRow, 'payer' | 'payer_index'>,
): Promise<void> {
  await transaction
    .updateTable('payments')
    .set({ ...payer, parts_version: sql<number>`parts_version + 1` })
    .where('id', '=', id)
    .execute();
}

/** Rewrites a text or JSON; undefined keeps it. */
export type Rewrite = (text: string) => string | undefined;

/** Rewrites what the shop wrote to these payments and to what belongs to them, such as their refunds. */
export async function rewriteTexts(
  transaction: Transaction,
  tables: readonly PersonalTable[],
  paymentIds: readonly string[],
  personalData: PersonalData,
  rewrite: Readonly<Record<'text' | 'json', Rewrite>>,
): Promise<void> {
  for (const of of tables) {
    const { name, key, personal } = of;
    const { payment } = personal;
    if (payment === undefined) continue;
    const rows = await inChunks(paymentIds, async (chunk) => {
      const found = sql<Cells>`select * from ${sql.table(name)} where ${sql.ref(payment)} in (${sql.join(chunk)})`;
      return (await found.execute(transaction)).rows;
    });
    for (const row of rows) {
      const set = changeSealed(personalData, of, row, (text, how) =>
        how === 'text' || how === 'json' ? rewrite[how](text) : undefined,
      );
      await updateCells(transaction, name, set, pick(row, key));
    }
  }
}

const rowsPerRead = 500;

/** Rewrites JSON in which anything can be. @returns the number of changed rows, by table */
export async function rewriteFound(
  transaction: Transaction,
  tables: readonly PersonalTable[],
  merchantId: string,
  personalData: PersonalData,
  rewrite: Rewrite,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const of of tables) {
    const { name, key, personal } = of;
    if (!Object.values(personal.columns).includes('searched')) continue;
    const columns = sql.join(key.map((part) => sql.ref(part)));
    const pages = everyPage<Cells>(rowsPerRead, async (last) => {
      const after = last ? sql`and (${columns}) > (${sql.join(key.map((part) => last[part]))})` : sql``;
      const page = sql<Cells>`
        select * from ${sql.table(name)} where merchant_id = ${merchantId} ${after}
        order by ${columns} limit ${sql.lit(rowsPerRead)}`;
      return (await page.execute(transaction)).rows;
    });
    for await (const page of pages) {
      for (const row of page) {
        const set = changeSealed(personalData, of, row, (text, how) =>
          how === 'searched' ? rewrite(text) : undefined,
        );
        if (Object.keys(set).length === 0) continue;
        await updateCells(transaction, name, set, pick(row, key));
        await emptyBelow(transaction, tables, name, row, personalData);
        counts[name] = (counts[name] ?? 0) + 1;
      }
    }
  }
  return counts;
}

/** Empties texts in the rows that reference a row. */
async function emptyBelow(
  transaction: Transaction,
  tables: readonly PersonalTable[],
  parent: string,
  row: Cells,
  personalData: PersonalData,
): Promise<void> {
  for (const { name, table, personal } of tables) {
    for (const [reference, { facts }] of Object.entries(table.columns)) {
      const [above, id = ''] = facts.references?.column.split('.') ?? [];
      if (above !== parent) continue;
      for (const [column, how] of Object.entries(personal.columns)) {
        if (how !== 'emptied') continue;
        const value = row[id];
        const empty = personalData.sealText('""', `${name}.${column} of ${String(value)}`);
        await updateCells(transaction, name, { [column]: empty }, { [reference]: value });
      }
    }
  }
}
