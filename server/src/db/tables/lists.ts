/** Checkpoints for counting and paging long lists: see list-checkpoints.ts. */
import type { Mode } from '../../shared/scope.js';
import { bigint, table, text, time } from '../table.js';

/** Lists that have checkpoints. The part after the dot is a filter on the list. */
export type CheckpointedList =
  | 'payments'
  | 'customers'
  | 'customers.allowed'
  | 'customers.blacklisted'
  | 'subscribers'
  | 'subscribers.active'
  | 'subscribers.inactive'
  | 'transfers';

export const listTables = {
  /** A checkpoint: every thousandth row of a merchant's list, counted from the oldest. */
  list_checkpoints: table({
    list: text<CheckpointedList>(),
    merchant_id: text(),
    mode: text<Mode>(),
    created_at: time(),
    id: text(),
    /** The number of rows up to and including this one. */
    ordinal: bigint(),
  })
    .primaryKey('list', 'merchant_id', 'mode', 'created_at', 'id')
    .unique('ordinal', ['list', 'merchant_id', 'mode', 'ordinal']),
};
