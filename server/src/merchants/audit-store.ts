/** Reads and appends entries of the audit log. The database refuses to change or delete them. */
import type { Insertable, Selectable } from 'kysely';
import type { AuditLogTable } from '../db/schema.js';
import type { Reader, Transaction } from '../db/engine.js';
import { ensureSetting, readSetting, writeSetting } from '../db/settings.js';

const headSetting = 'audit-log-head';
const rowsPerRead = 1000;

export interface AuditFilter {
  readonly merchantId?: string | undefined;
  /** Epoch milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The hash of the newest entry, or an empty text. Whoever else adds an entry waits until the transaction ends. */
export function lockHead(transaction: Transaction): Promise<string> {
  return ensureSetting(transaction, headSetting, '');
}

export async function readHead(reader: Reader): Promise<string> {
  return (await readSetting(reader, headSetting)) ?? '';
}

/** Adds the newest entry, under the lock of `lockHead`. */
export async function insertEntry(
  transaction: Transaction,
  row: Omit<Insertable<AuditLogTable>, 'id'>,
): Promise<void> {
  await transaction.insertInto('audit_log').values(row).execute();
  await writeSetting(transaction, headSetting, row.hash);
}

/** Oldest first. */
export function listEntries(
  reader: Reader,
  { merchantId, from, to }: AuditFilter,
): Promise<Selectable<AuditLogTable>[]> {
  let query = reader.selectFrom('audit_log').selectAll();
  if (merchantId !== undefined) query = query.where('merchant_id', '=', merchantId);
  if (from !== undefined) query = query.where('time', '>=', from);
  if (to !== undefined) query = query.where('time', '<=', to);
  return query.orderBy('id').execute();
}

/** Every entry, oldest first, read in parts. */
export async function* everyEntry(reader: Reader): AsyncGenerator<Selectable<AuditLogTable>> {
  let after = -1;
  for (;;) {
    const rows = await reader
      .selectFrom('audit_log')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    yield* rows;
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
