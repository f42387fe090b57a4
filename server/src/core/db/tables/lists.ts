/** Checkpoints for counting and paging long lists: see list-checkpoints.ts. */
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { isOwn, type DataPolicy } from '../data-policy.js';
import { bigint, table, text, time } from '../table.js';

/**
 * The key of the PostgreSQL advisory lock that keeps list checkpoints exact. Transactions that change a list take it
 * shared; the job that adds checkpoints takes it exclusively. The number is arbitrary and must never change.
 */
export const checkpointLock = 7_203_114;

/** Deleted rows are not counted out of them. */
const afterLists: DataPolicy = {
  wiped: { rows: (merchantId) => [isOwn(merchantId)], reads: [], isLast: true },
};

export const listTables = {
  /** The end of a segment of about a thousand rows of a merchant's list, with the number of its rows for one filter. */
  list_checkpoints: table(afterLists, {
    list: text(),
    merchant_id: text(),
    mode: text<Mode>(),
    /** A JSON array of the values of the list's filters, null if there is none; empty for the whole segment. */
    filter: text(),
    /** The last row of the segment. */
    created_at: time(),
    id: text(),
    /** The last row of the segment before it. */
    after_created_at: time(),
    after_id: text(),
    /** Null if a row changed: then the whole segment is the only one of its filters, and is counted row by row. */
    row_count: bigint().nullable(),
  })
    .primaryKey('list', 'merchant_id', 'mode', 'filter', 'created_at', 'id')
    .index('segment', ['list', 'merchant_id', 'mode', 'created_at', 'id'])
    .index('changed', ['list', 'merchant_id', 'mode', 'created_at', 'id'], {
      where: sql`row_count is null`,
    }),
};
