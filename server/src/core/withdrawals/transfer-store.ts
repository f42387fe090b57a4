/** Reads and writes transfers. */
import { sql } from 'kysely';
import { forUpdate, forUpdateSkipLocked } from '../db/locks.js';
import { sumUnits } from '../db/units.js';
import { everyPage, firstOfAll, isListed, readCheckpointedPage, type CreationRange } from '../db/pages.js';
import { tables, type TransferRow } from '../db/schema.js';
import type { TransferStatus } from '../db/tables/withdrawals.js';
import type { NetworkRef } from '../chains/chain.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { prepared } from '../db/prepared.js';
import { send } from '../db/send.js';
import { having, inScope, rowById, rowsInOrder } from '../db/rows.js';
import { valuesOf } from '../db/values.js';

export const transferRows = valuesOf(tables.transfers);

export async function insertTransfer(transaction: Transaction, row: TransferRow): Promise<void> {
  await send(transaction, transaction.insertInto('transfers').values(transferRows.encode(row)));
}

/**
 * Rewrites a locked transfer, except for its id: SQLite would look for references to it in every table that may have
 * them.
 */
export async function updateTransfer(transaction: Transaction, { id, ...row }: TransferRow): Promise<void> {
  await send(
    transaction,
    transaction.updateTable('transfers').set(transferRows.encode(row)).where('id', '=', id),
  );
}

export async function findTransfer(
  reader: Reader,
  scope: Scope,
  id: string,
): Promise<TransferRow | undefined> {
  return transferRows.decode(await rowById(reader, 'transfers', id).$call(inScope(scope)).executeTakeFirst());
}

/**
 * The sum transferred since a time, either for refunds or not, without fees, in units. Transfers that failed do not
 * count.
 */
export async function sumSince(
  reader: Reader,
  scope: Scope,
  currency: string,
  since: number,
  isRefund: boolean,
): Promise<bigint> {
  const { total } = await reader
    .selectFrom('transfers')
    .select(sumUnits(reader, 'amount').as('total'))
    .$call(inScope(scope))
    .where('created_at', '>', since)
    .where('currency', '=', currency)
    .where('status', '<>', 'failed')
    .where('refund_id', isRefund ? 'is not' : 'is', null)
    .executeTakeFirstOrThrow();
  return BigInt(total);
}

/** Sums refunds since a time, by currency. */
export async function sumRefundsSince(
  reader: Reader,
  scope: Scope,
  since: number,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await reader
    .selectFrom('transfers')
    .select(['currency', sumUnits(reader, 'amount').as('total')])
    .$call(inScope(scope))
    .where('created_at', '>', since)
    .where('status', '<>', 'failed')
    .where('refund_id', 'is not', null)
    .groupBy('currency')
    .execute();
  return new Map(rows.map(({ currency, total }) => [currency, BigInt(total)]));
}

export async function listTransfers(
  reader: Reader,
  scope: Scope,
  { status, ...page }: PageRequest & Pick<OperatorFilter, 'status'>,
): Promise<Page<TransferRow>> {
  const query = reader
    .selectFrom('transfers')
    .selectAll()
    .where(isListed('transfers', scope, page))
    .$call(having({ status }));
  const { rows, total } = await readCheckpointedPage(reader, query, 'transfers', scope, page, { status });
  return { rows: rows.map(transferRows.decode), total };
}

/** An operator's filter for transfers or payouts. */
export interface OperatorFilter extends CreationRange {
  readonly merchantId?: string | undefined;
  readonly status?: TransferStatus | undefined;
}

/** The first that an operator may want to see of a list. */
export const operatorsPage = { direction: 'asc', limit: 1000 } as const;

export async function listAllTransfers(
  reader: Reader,
  { merchantId, status, ...range }: OperatorFilter,
): Promise<TransferRow[]> {
  const ids = await firstOfAll(reader, merchantId, operatorsPage, (scope) =>
    reader
      .selectFrom('transfers')
      .select(['id', 'created_at'])
      .where(isListed('transfers', scope, range))
      .$call(having({ status })),
  );
  return (await rowsInOrder(reader, 'transfers', ids)).map(transferRows.decode);
}

/**
 * The blocks of a network above a height are gone, so that transfers that may still be paid were made before those that replace
 * them. A payment is in one of these if a reorganisation came between the two.
 */
export async function forgetBlocksAbove(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  height: number,
): Promise<void> {
  await transaction
    .updateTable('transfers')
    .set({ from_height: height })
    .where((e) => e.and({ executor: 'operator', mode, network }))
    .where('status', 'in', ['pending', 'processing', 'failed'])
    .where('from_height', '>', height)
    .execute();
}

/** A transfer of any merchant. */
export async function findAnyTransfer(reader: Reader, id: string): Promise<TransferRow | undefined> {
  return transferRows.decode(await rowById(reader, 'transfers', id).executeTakeFirst());
}

/** Locks a transfer of any merchant until the transaction ends. */
export async function lockTransfer(transaction: Transaction, id: string): Promise<TransferRow | undefined> {
  const row = rowById(transaction, 'transfers', id).$call(forUpdate(transaction));
  return transferRows.decode(await row.executeTakeFirst());
}

/** The same, but undefined if another transaction has locked it. */
export async function claimTransfer(transaction: Transaction, id: string): Promise<TransferRow | undefined> {
  const row = rowById(transaction, 'transfers', id).$call(forUpdateSkipLocked(transaction));
  return transferRows.decode(await row.executeTakeFirst());
}

const pageSize = 200;

/** The transfers that the simulated networks pay, oldest first, page by page. Only what says which they are. */
export function simulatedTransfers(
  reader: Reader,
  status: 'pending' | 'processing',
): AsyncGenerator<Pick<TransferRow, 'id' | 'network' | 'tx_hash' | 'created_at'>[]> {
  return everyPage(pageSize, (after) => {
    const { created_at: createdAt, id } = after ?? { created_at: -1, id: '' };
    return simulatedAfter(reader, { status, createdAt, id });
  });
}

/** Asked with each transfer to a simulated network, and each block. */
const simulatedAfter = prepared(
  (reader, { status, createdAt, id }: { status: 'pending' | 'processing'; createdAt: number; id: string }) =>
    reader
      .selectFrom('transfers')
      .select(['id', 'network', 'tx_hash', 'created_at'])
      .where((e) => e.and({ executor: 'simulator', status }))
      .where((e) =>
        e.or([e('created_at', '>', createdAt), e.and([e('created_at', '=', createdAt), e('id', '>', id)])]),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(sql.lit(pageSize)),
);

/**
 * The part of a transaction that other transfers settled with it use, in units: of its payment to the same address, and
 * of its fee.
 * @param hash without 0x
 */
export async function sumSettledBy(
  reader: Reader,
  { id, mode, network, currency, address }: TransferRow,
  hash: string,
): Promise<{ amount: bigint; networkFee: bigint }> {
  const sums = await reader
    .selectFrom('transfers')
    .where((e) => e.and({ mode, network, currency, status: 'success' }))
    .where('tx_hash', 'in', [hash, `0x${hash}`])
    .where('id', '<>', id)
    .select(sumUnits(reader, 'amount', sql<boolean>`address = ${address}`).as('amount'))
    .select(sumUnits(reader, 'network_fee').as('network_fee'))
    .executeTakeFirstOrThrow();
  const { amount, network_fee: networkFee } = transferRows.decode(sums);
  return { amount, networkFee };
}

/**
 * Locks all transfers that a transaction has settled or could settle, until the database's transaction ends: they share what it
 * paid to an address, and its fee. In one order, so that none deadlocks.
 * @param hash without 0x
 */
export async function lockTransfersOf(
  transaction: Transaction,
  { mode, network, currency }: TransferRow,
  hash: string,
): Promise<void> {
  await transaction
    .selectFrom('transfers')
    .select('id')
    .where((e) => e.and({ mode, network, currency }))
    .where((e) =>
      e.or([e('status', 'in', ['pending', 'processing']), e('tx_hash', 'in', [hash, `0x${hash}`])]),
    )
    .orderBy('id')
    .$call(forUpdate(transaction))
    .execute();
}
