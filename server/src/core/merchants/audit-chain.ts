/**
 * The chain of the audit log: each entry holds a hash of itself and of the entry before. The database refuses to
 * change entries, but its owner can lift that; the chain shows it.
 */
import { createHash } from 'node:crypto';
import type { Insertable, Selectable } from 'kysely';
import type { AuditLogTable } from '../db/schema.js';
import type { Reader } from '../db/engine.js';
import * as store from './audit-store.js';

export type ChainedRow = Omit<Insertable<AuditLogTable>, 'id' | 'hash'>;

/** The findings of a check of the whole log. */
export interface AuditCheck {
  readonly entries: number;
  /** The hash of the last entry that was read; empty if there is none. */
  readonly lastHash: string;
  /** The first thing that is wrong. `entry` is null if entries are missing after the last one. */
  readonly broken: { readonly entry: number | null; readonly reason: string } | null;
}

/** An array, since the order of an object's keys could change the hash. */
export function hashEntry(row: ChainedRow): string {
  const { previous_hash, time, merchant_id, mode, actor, action, subject_id, before, after } = row;
  const fields = [previous_hash, time, merchant_id, mode, actor, action, subject_id, before, after];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/**
 * @param reader of one snapshot, so that no entry is added meanwhile
 * @param noted the hash of an entry, written down earlier, that the log must still have
 */
export async function checkAuditChain(reader: Reader, noted: string | undefined): Promise<AuditCheck> {
  let entries = 0;
  let lastHash = '';
  let isNotedFound = noted === undefined;
  for await (const row of store.everyEntry(reader)) {
    const reason = problemOf(row, lastHash);
    if (reason !== undefined) return { entries, lastHash, broken: { entry: row.id, reason } };
    entries += 1;
    lastHash = row.hash;
    isNotedFound ||= row.hash === noted;
  }
  const reason =
    (await store.readHead(reader)) !== lastHash
      ? 'Entries after the last one were removed'
      : isNotedFound
        ? undefined
        : 'No entry has the hash that was noted: entries were removed, or the log was rewritten';
  return { entries, lastHash, broken: reason === undefined ? null : { entry: null, reason } };
}

function problemOf(row: Selectable<AuditLogTable>, lastHash: string): string | undefined {
  if (hashEntry(row) !== row.hash) return 'This entry was changed';
  if (row.previous_hash !== lastHash) return 'Entries before this one were removed, added or moved';
  return undefined;
}
