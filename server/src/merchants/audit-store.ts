/** Reads and appends entries of the audit log. The database refuses to change or delete them. */
import type { Insertable, Selectable } from 'kysely';
import type { AuditLogTable } from '../db/schema.js';
import type { Reader, Transaction } from '../db/engine.js';

export interface AuditFilter {
  readonly merchantId?: string | undefined;
  /** Epoch milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export async function insertEntry(
  transaction: Transaction,
  row: Omit<Insertable<AuditLogTable>, 'id'>,
): Promise<void> {
  await transaction.insertInto('audit_log').values(row).execute();
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
