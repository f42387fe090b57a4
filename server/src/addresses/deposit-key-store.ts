/** Stores deposit keys. */
import type { Reader, Transaction } from '../db/engine.js';
import { ensureSetting, readSetting, writeSetting } from '../db/settings.js';
import type { DepositKeyTable } from '../db/schema.js';
import { inScope } from '../db/rows.js';
import type { Scope } from '../shared/scope.js';
import type { Family } from '../chains/networks.js';

const versionSetting = 'deposit-keys-version';

/** Rises with every change of any key, in the transaction of the change. */
export async function readVersion(reader: Reader): Promise<number> {
  return Number((await readSetting(reader, versionSetting)) ?? 0);
}

/** Raises the version. Whoever else changes a key waits until the transaction ends. */
export async function raiseVersion(transaction: Transaction): Promise<void> {
  const version = await ensureSetting(transaction, versionSetting, '0');
  await writeSetting(transaction, versionSetting, String(Number(version) + 1));
}

/** The keys in use, of all merchants. */
export function readCurrent(reader: Reader): Promise<DepositKeyTable[]> {
  return reader.selectFrom('deposit_keys').selectAll().where('replaced_at', 'is', null).execute();
}

export function findCurrent(
  reader: Reader,
  scope: Scope,
  family: Family,
): Promise<DepositKeyTable | undefined> {
  return reader
    .selectFrom('deposit_keys')
    .selectAll()
    .$call(inScope(scope))
    .where((e) => e.and({ family, replaced_at: null }))
    .executeTakeFirst();
}

/** Whether a source is or was a key of the merchant in the other mode. */
export async function isOfOtherMode(
  reader: Reader,
  { merchantId, mode }: Scope,
  sourceId: string,
): Promise<boolean> {
  const row = await reader
    .selectFrom('deposit_keys')
    .select('id')
    .where('merchant_id', '=', merchantId)
    .where('mode', '!=', mode)
    .where('source_id', '=', sourceId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function markReplaced(transaction: Transaction, id: string, now: number): Promise<void> {
  await transaction.updateTable('deposit_keys').set({ replaced_at: now }).where('id', '=', id).execute();
}

export async function insertKey(transaction: Transaction, row: DepositKeyTable): Promise<void> {
  await transaction.insertInto('deposit_keys').values(row).execute();
}

/** A key, and how many of its addresses were given out. */
export type UsedKey = DepositKeyTable & { readonly next_index: number | null };

/** Oldest first, replaced ones too. @param merchantId of all merchants if it is undefined */
export function listKeys(reader: Reader, merchantId: string | undefined): Promise<UsedKey[]> {
  return reader
    .selectFrom('deposit_keys')
    .leftJoin('derivations', 'derivations.source_id', 'deposit_keys.source_id')
    .selectAll('deposit_keys')
    .select('derivations.next_index')
    .$if(merchantId !== undefined, (query) => query.where('merchant_id', '=', merchantId ?? ''))
    .orderBy('deposit_keys.created_at')
    .orderBy('deposit_keys.id')
    .execute();
}

/** Whether an address was given to a payment or wallet, in any mode. */
export async function isAssigned(reader: Reader, address: string): Promise<boolean> {
  const row = await reader
    .selectFrom('addresses')
    .select('address')
    .where('address', '=', address)
    .executeTakeFirst();
  return row !== undefined;
}
