/** Re-encrypts personal data, wherever it is kept, that is not under the current data key. */
import { sql } from 'kysely';
import type { Database } from '../db/database.js';
import { everyPage } from '../db/pages.js';
import { sealedColumns, type PersonalData } from '../db/personal-data.js';
import type { Schema } from '../db/schema.js';

type Cells = Readonly<Record<string, unknown>>;

interface SealedTable {
  readonly name: keyof Schema;
  /** Tells its rows apart. */
  readonly key: readonly string[];
  /** The columns that are re-encrypted together if one of these is not under the current key. */
  readonly columns: readonly string[];
  /** @returns the columns to change */
  reseal(row: Cells): Cells;
}

/** The cast is safe: each row is one of its table. */
const sealedTable = <Name extends keyof Schema>(
  name: Name,
  key: readonly (keyof Schema[Name] & string)[],
  columns: readonly (keyof Schema[Name] & string)[],
  reseal: (row: Schema[Name]) => Partial<Schema[Name]>,
): SealedTable => ({ name, key, columns, reseal: (row) => reseal(row as Schema[Name]) });

/** Each place where personal data is. */
const sealedTables = (personalData: PersonalData): readonly SealedTable[] => [
  sealedTable('payments', ['id'], ['payer', ...sealedColumns.payments], (row) => ({
    ...personalData.payerColumns(row, personalData.payer(row)),
    ...personalData.resealed('payments', row),
  })),
  sealedTable('customers', ['id'], ['person'], (row) =>
    personalData.personColumns(row, personalData.person(row)),
  ),
  sealedTable('refunds', ['id'], sealedColumns.refunds, (row) => personalData.resealed('refunds', row)),
  sealedTable('bank_accounts', ['id'], sealedColumns.bank_accounts, (row) => {
    const { account_number: number } = personalData.openRow('bank_accounts', row);
    return {
      ...personalData.resealed('bank_accounts', row),
      number_index: personalData.accountIndex(row.merchant_id, number),
    };
  }),
  sealedTable('people', ['id'], sealedColumns.people, (row) => {
    const { email } = personalData.openRow('people', row);
    return {
      ...personalData.resealed('people', row),
      email_index: personalData.colleagueIndex(row.merchant_id, email),
    };
  }),
  sealedTable('audit_identities', ['id'], sealedColumns.audit_identities, (row) => {
    const { value } = personalData.openRow('audit_identities', row);
    return {
      ...personalData.resealed('audit_identities', row),
      email_index: row.email_index === null ? null : personalData.colleagueIndex(row.merchant_id, value),
    };
  }),
  sealedTable('sessions', ['id'], sealedColumns.sessions, (row) => personalData.resealed('sessions', row)),
  sealedTable('outbox', ['id'], ['data'], (row) => ({
    data: personalData.sealEvent(row.id, personalData.openEvent(row)),
  })),
  sealedTable('webhook_tries', ['event_id', 'tried_at', 'duration_ms'], ['response_excerpt'], (row) => ({
    response_excerpt: personalData.sealResponse(
      row.event_id,
      personalData.openResponse(row.event_id, row.response_excerpt),
    ),
  })),
  sealedTable('idempotency_replies', ['merchant_id', 'mode', 'hash'], ['reply'], (row) => ({
    reply: personalData.sealReply(row, personalData.openReply(row, row.reply)),
  })),
];

/** PostgreSQL cannot infer the type of a null that is compared. */
const isSame = (cell: string, value: unknown) =>
  value === null ? sql`${sql.ref(cell)} is null` : sql`${sql.ref(cell)} = ${value}`;

const pageSize = 200;

/**
 * If it is stopped, the completed part remains. A second round finds what servers have written meanwhile.
 * @param onProgress called after each page of a table
 * @returns the number of changed values
 */
export async function rotatePersonalData(
  database: Database,
  personalData: PersonalData,
  onProgress: (table: string, rows: number) => void,
): Promise<number> {
  let changed = 0;
  for (;;) {
    let inRound = 0;
    for (const sealed of sealedTables(personalData)) {
      inRound += await rotateTable(database, sealed, personalData.isCurrent, (rows) =>
        onProgress(sealed.name, rows),
      );
    }
    if (inRound === 0) return changed;
    changed += inRound;
  }
}

async function rotateTable(
  database: Database,
  { name, key, columns: sealed, reseal }: SealedTable,
  isCurrent: PersonalData['isCurrent'],
  onProgress: (rows: number) => void,
): Promise<number> {
  const columns = sql.join(key.map((part) => sql.ref(part)));
  let [changed, seen] = [0, 0];
  const pages = everyPage<Cells>(pageSize, async (last) => {
    const after = last ? sql`where (${columns}) > (${sql.join(key.map((part) => last[part]))})` : sql``;
    const { rows } = await sql<Cells>`
      select * from ${sql.table(name)} ${after} order by ${columns} limit ${sql.lit(pageSize)}
    `.execute(database.reader);
    return rows;
  });
  for await (const page of pages) {
    // Nulls and empty texts are never encrypted.
    const isFormer = (value: unknown) => typeof value === 'string' && value !== '' && !isCurrent(value);
    const former = page.filter((row) => sealed.some((column) => isFormer(row[column])));
    if (former.length > 0) {
      await database.write(async (transaction) => {
        for (const row of former) {
          const set = Object.entries(reseal(row)).map(([cell, value]) => sql`${sql.ref(cell)} = ${value}`);
          // A value that someone changed since it was read is under their key.
          const same = [...key, ...sealed].map((cell) => isSame(cell, row[cell]));
          await sql`
            update ${sql.table(name)} set ${sql.join(set)} where ${sql.join(same, sql` and `)}
          `.execute(transaction);
        }
      });
    }
    changed += former.length;
    seen += page.length;
    onProgress(seen);
  }
  return changed;
}
