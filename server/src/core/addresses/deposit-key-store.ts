/** Stores deposit keys. */
import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.js';
import type { Reader, Transaction } from '../db/engine.js';
import { ensureSetting, readSetting, writeSetting } from '../db/settings.js';
import { hasRows, insertRow, updateRow, within } from '../db/rows.js';
import type { Scope } from '../shared/scope.js';

const versionSetting = 'deposit-keys-version';
const secretSetting = 'forwarder-salt-secret';

/** Rises with every change of any key, in the transaction of the change. */
export async function readVersion(reader: Reader): Promise<number> {
  return Number((await readSetting(reader, versionSetting)) ?? 0);
}

/** Raises the version. Other changes of keys wait until the transaction ends. */
export async function raiseVersion(transaction: Transaction): Promise<void> {
  const version = await ensureSetting(transaction, versionSetting, '0');
  await writeSetting(transaction, versionSetting, String(Number(version) + 1));
}

/** Part of the salts of all new forwarders. Never deleted: without it, their addresses cannot be derived again. */
export async function ensureSaltSecret(database: Database): Promise<string> {
  const known = await readSetting(database.reader, secretSetting);
  if (known !== undefined) return known;
  const made = randomBytes(32).toString('hex');
  return database.write((transaction) => ensureSetting(transaction, secretSetting, made));
}

/** True if a treasury that is in use or pending at a time has salts without a secret. */
export const hasOpenSalts = (reader: Reader, time: number): Promise<boolean> =>
  hasRows(openKeys(reader, time).where('treasury', 'is not', null).where('salt_secret', 'is', null));

/** The keys that are in use or pending at a time, of all merchants: a key in use comes before the one that replaces it. */
export const openKeys = (reader: Reader, time: number) =>
  reader
    .selectFrom('deposit_keys')
    .selectAll()
    .where((e) => e.or([e('replaced_at', 'is', null), e('replaced_at', '>', time)]))
    .orderBy('effective_at');

/** True if a source is or was a key of the merchant in the other mode. */
export function isOfOtherMode(reader: Reader, { merchantId, mode }: Scope, sourceId: string) {
  const own = reader.selectFrom('deposit_keys').$call(within({ merchantId }));
  return hasRows(own.where('mode', '!=', mode).where('source_id', '=', sourceId));
}

/** `replaced_at` is null if no key replaces it any more. */
export const updateKey = updateRow('deposit_keys');
export const insertKey = insertRow('deposit_keys');

/** Takes the keys that took effect and were not reported yet. Only one of several servers gets each key. */
export async function takeUnreported(transaction: Transaction, time: number): Promise<string[]> {
  const rows = await transaction
    .updateTable('deposit_keys')
    .set({ reported_at: time })
    .where('reported_at', 'is', null)
    .where('effective_at', '<=', time)
    .where((e) => e.or([e('replaced_at', 'is', null), e('replaced_at', '>=', e.ref('effective_at'))]))
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Oldest first, replaced ones too, each with how many of its addresses were given out.
 * @param merchantId of all merchants if it is undefined
 */
export function listKeys(reader: Reader, merchantId: string | undefined) {
  return reader
    .selectFrom('deposit_keys')
    .$call(within({ merchantId }))
    .leftJoin('derivations', 'derivations.source_id', 'deposit_keys.source_id')
    .selectAll('deposit_keys')
    .select('derivations.next_index')
    .orderBy('deposit_keys.created_at')
    .orderBy('deposit_keys.id')
    .execute();
}

/** True if an address was given to a payment or wallet, in any mode. */
export const isAssigned = (reader: Reader, address: string): Promise<boolean> =>
  hasRows(reader.selectFrom('addresses').where('address', '=', address));
