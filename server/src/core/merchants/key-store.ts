/** Reads and writes API keys: their digests, and public keys in full. */
import { isListed, readPage } from '../db/pages.js';
import { inScope, insertRow, rowById } from '../db/rows.js';
import type { ApiKeyTable } from '../db/schema.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

export function findByDigest(reader: Reader, digest: string): Promise<ApiKeyTable | undefined> {
  return reader.selectFrom('api_keys').selectAll().where('digest', '=', digest).executeTakeFirst();
}

export function listKeys(reader: Reader): Promise<ApiKeyTable[]> {
  return reader.selectFrom('api_keys').selectAll().orderBy('created_at').orderBy('id').execute();
}

/** A merchant's keys of a mode, newest first. */
export function pageOfKeys(reader: Reader, scope: Scope, page: PageRequest): Promise<Page<ApiKeyTable>> {
  const query = reader
    .selectFrom('api_keys')
    .selectAll()
    .where(isListed('api_keys', scope, page));
  return readPage(query, 'api_keys', page);
}

/** A merchant's newest public key that is neither revoked nor expired. */
export async function findPublicKey(reader: Reader, { merchantId, mode }: Scope, now: number) {
  const row = await reader
    .selectFrom('api_keys')
    .select('public_key')
    .where((e) => e.and({ merchant_id: merchantId, mode, kind: 'public', revoked_at: null }))
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.public_key ?? undefined;
}

export const insertKey = insertRow('api_keys');

/** Writes when keys were used, by id, unless another server has seen a later use. */
export async function writeUses(transaction: Transaction, uses: ReadonlyMap<string, number>): Promise<void> {
  for (const [id, last_used_at] of uses) {
    await transaction
      .updateTable('api_keys')
      .set({ last_used_at })
      .where('id', '=', id)
      .where((e) => e.or([e('last_used_at', 'is', null), e('last_used_at', '<', last_used_at)]))
      .execute();
  }
}

/**
 * Revokes a key. A key that is already revoked keeps its time.
 * @returns the key as it was; undefined if there is no such key
 */
export async function revokeKey(transaction: Transaction, id: string, now: number, owner: Scope | undefined) {
  const named = rowById(transaction, 'api_keys', id);
  const row = await (owner ? named.$call(inScope(owner)) : named).executeTakeFirst();
  if (row?.revoked_at === null) {
    await transaction.updateTable('api_keys').set({ revoked_at: now }).where('id', '=', id).execute();
  }
  return row;
}
