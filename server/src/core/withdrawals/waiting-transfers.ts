/** The transfers that wait for a merchant's wallet, for the modules that hand them to one. */
import type { Expression, SqlBool } from 'kysely';
import type { NetworkRef } from '../chains/chain.js';
import type { Reader, Transaction } from '../db/engine.js';
import { queryPartsOf } from '../db/query-parts.js';
import type { TransferRow } from '../db/schema.js';
import { within } from '../db/rows.js';
import type { Within } from '../shared/scope.js';
import { lockTransfer, transferRows } from './transfer-store.js';

declare module '../db/query-parts.js' {
  interface QueryParts {
    readonly wallets?: WalletParts;
  }
}

/** SQL about the transfer in the query, of a module that gives transfers to wallets. */
export interface WalletParts {
  /**
   * True while a wallet may send it.
   * @param asked an export that is being written: of its transfers, only those count for which a wallet was asked
   */
  isHeld(asked?: string): Expression<SqlBool>;
  /** True if a wallet ever got it: it may be paid whatever becomes of it. */
  wasGiven(): Expression<SqlBool>;
  /** Units that networks charged a merchant, except for transfers. */
  sumCharged?(reader: Reader, of: ChargedCoins): Promise<bigint>;
}

export type ChargedCoins = Pick<TransferRow, 'merchant_id' | 'mode' | 'currency' | 'network'>;

export const walletParts = (reader: Reader): readonly WalletParts[] =>
  queryPartsOf(reader).flatMap(({ wallets }) => wallets ?? []);

const waiting = (reader: Reader, of: Within) =>
  reader
    .selectFrom('transfers')
    .where((e) => e.and({ executor: 'operator', status: 'pending' }))
    .$call(within(of));

/** Oldest first. */
export async function waitingTransfers(
  reader: Reader,
  { mode, network }: NetworkRef,
  merchantId?: string,
): Promise<TransferRow[]> {
  const rows = await waiting(reader, { merchantId, mode })
    .selectAll()
    .where('network', '=', network)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(transferRows.decode);
}

/** Waiting transfers that no wallet was given. After a restore, those that may have been paid are held until released. */
export const unheldTransfers = (reader: Reader, of: Within) =>
  waiting(reader, of).where(({ and, not }) => and(walletParts(reader).map(({ isHeld }) => not(isHeld()))));

/** Unheld live transfers that were created before a time, oldest first. */
export async function unheldBefore(reader: Reader, before: number): Promise<TransferRow[]> {
  const rows = await unheldTransfers(reader, { mode: 'live' })
    .selectAll()
    .where('created_at', '<', before)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(transferRows.decode);
}

/** Locks transfers until the transaction ends, in one order for all who do. @returns those that exist, as they are now, by id */
export async function lockTransfers(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TransferRow>> {
  const locked = new Map<string, TransferRow>();
  for (const id of [...ids].sort()) {
    const row = await lockTransfer(transaction, id);
    if (row) locked.set(id, row);
  }
  return locked;
}
