/** Checkpoints for counting and paging long lists: see list-checkpoints.ts. */
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { paymentStatusIn } from '../payment-status.js';
import { isOwn, type DataPolicy } from '../data-policy.js';
import { bigint, table, text, time } from '../table.js';

/** In front of a column's name: none in queries; triggers compare a row's old and new values. */
type RowName = '' | 'new.' | 'old.';
type Part = (row: RowName) => string;

const column =
  (name: string): Part =>
  (row) =>
    row + name;

interface LongList {
  /** The SQL of what each filter compares. */
  readonly filters: Readonly<Record<string, Part>>;
  /** The SQL of whether a row is in the list; by default it always is. */
  readonly isListed?: Part;
}

/** The lists that have checkpoints, by table. Rows of these tables are never deleted, and created_at never changes. */
export const longLists = {
  payments: {
    filters: {
      status: (row) => paymentStatusIn(`${row}state`),
      currency: column('currency'),
      network: column('network'),
    },
  },
  refunds: {
    filters: { status: column('status'), currency: column('currency'), network: column('network') },
  },
  customers: { filters: { is_blacklisted: column('is_blacklisted') } },
  subscribers: {
    filters: { is_active: column('is_active') },
    isListed: (row) => `${row}removed_at is null`,
  },
  transfers: { filters: { status: column('status') } },
} as const satisfies Readonly<Record<string, LongList>>;

export type LongListName = keyof typeof longLists;
export const longListNames = Object.keys(longLists) as LongListName[];
export const longList = (name: LongListName): LongList => longLists[name];

/**
 * The key of the PostgreSQL advisory lock that keeps list checkpoints exact. Transactions that change a list take it
 * shared; the job that adds checkpoints takes it exclusively. The number is arbitrary and must never change.
 */
export const checkpointLock = 7_203_114;

/** Deleted rows are not counted out of them. */
const afterLists: DataPolicy = {
  wiped: { rows: (merchantId) => [isOwn(merchantId)], reads: [], after: longListNames },
};

export const listTables = {
  /** The end of a segment of about a thousand rows of a merchant's list, with the number of its rows for one filter. */
  list_checkpoints: table(afterLists, {
    list: text<LongListName>(),
    merchant_id: text(),
    mode: text<Mode>(),
    /** A JSON array of the values of the list's filters, null where there is none; empty for the whole segment. */
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
