/** Reads and writes transfers. */
import { sql } from 'kysely';
import { forUpdate, forUpdateSkipLocked } from '../db/locks.js';
import { sumUnits } from '../db/units.js';
import { everyPage, firstOfAll, isListed, readCheckpointedPage } from '../db/pages.js';
import type { TransferTable } from '../db/schema.js';
import type { TransferStatus } from '../db/tables/withdrawals.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { send } from '../db/send.js';
import { having, inScope, rowById, rowsInOrder } from '../db/rows.js';

export async function insertTransfer(transaction: Transaction, row: TransferTable): Promise<void> {
  await send(transaction, transaction.insertInto('transfers').values(row));
}

/**
 * Rewrites a locked transfer, except for its id: SQLite would look for references to it in every table that may have
 * them.
 */
export async function updateTransfer(transaction: Transaction, { id, ...row }: TransferTable): Promise<void> {
  await send(transaction, transaction.updateTable('transfers').set(row).where('id', '=', id));
}

export function findTransfer(reader: Reader, scope: Scope, id: string): Promise<TransferTable | undefined> {
  return rowById(reader, 'transfers', id).$call(inScope(scope)).executeTakeFirst();
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

/** The same of refunds, by currency. */
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

export function listTransfers(
  reader: Reader,
  scope: Scope,
  { status, ...page }: PageRequest & Pick<OperatorFilter, 'status'>,
): Promise<Page<TransferTable>> {
  const query = reader
    .selectFrom('transfers')
    .selectAll()
    .where(isListed('transfers', scope, page))
    .$call(having({ status }));
  return readCheckpointedPage(reader, query, 'transfers', scope, page, { status });
}

/** An operator's filter for transfers or payouts. */
export interface OperatorFilter {
  readonly merchantId?: string | undefined;
  readonly status?: TransferStatus | undefined;
}

/** The first that an operator may want to see of a list. */
export const operatorsPage = { direction: 'asc', limit: 1000 } as const;

export async function listAllTransfers(
  reader: Reader,
  { merchantId, status }: OperatorFilter,
): Promise<TransferTable[]> {
  const ids = await firstOfAll(reader, merchantId, operatorsPage, (scope) =>
    reader
      .selectFrom('transfers')
      .select(['id', 'created_at'])
      .$call(inScope(scope))
      .$call(having({ status })),
  );
  return rowsInOrder(reader, 'transfers', ids);
}

/** A transfer of any merchant. */
export function findAnyTransfer(reader: Reader, id: string): Promise<TransferTable | undefined> {
  return rowById(reader, 'transfers', id).executeTakeFirst();
}

/** Locks a transfer of any merchant until the transaction ends. */
export function lockTransfer(transaction: Transaction, id: string): Promise<TransferTable | undefined> {
  return rowById(transaction, 'transfers', id).$call(forUpdate(transaction)).executeTakeFirst();
}

/** The same, but undefined if another transaction has locked it. */
export function claimTransfer(transaction: Transaction, id: string): Promise<TransferTable | undefined> {
  return rowById(transaction, 'transfers', id).$call(forUpdateSkipLocked(transaction)).executeTakeFirst();
}

const pageSize = 200;

/** The transfers that the simulated networks pay, oldest first, page by page. */
export function simulatedTransfers(
  reader: Reader,
  status: 'pending' | 'processing',
): AsyncGenerator<TransferTable[]> {
  return everyPage(pageSize, (after) => {
    const { created_at: createdAt, id } = after ?? { created_at: -1, id: '' };
    return reader
      .selectFrom('transfers')
      .selectAll()
      .where((e) => e.and({ executor: 'simulator', status }))
      .where((e) =>
        e.or([e('created_at', '>', createdAt), e.and([e('created_at', '=', createdAt), e('id', '>', id)])]),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(pageSize)
      .execute();
  });
}

/**
 * The part of a transaction that other transfers settled with it use, in units: of what it paid to the same address,
 * and of its fee.
 * @param hash without 0x
 */
export async function sumSettledBy(
  reader: Reader,
  { id, mode, network, currency, address }: TransferTable,
  hash: string,
): Promise<{ amount: bigint; networkFee: bigint }> {
  const { amount, fee } = await reader
    .selectFrom('transfers')
    .where((e) => e.and({ mode, network, currency, status: 'success' }))
    .where('tx_hash', 'in', [hash, `0x${hash}`])
    .where('id', '<>', id)
    .select(sumUnits(reader, 'amount', sql<boolean>`address = ${address}`).as('amount'))
    .select(sumUnits(reader, 'network_fee').as('fee'))
    .executeTakeFirstOrThrow();
  return { amount: BigInt(amount), networkFee: BigInt(fee) };
}

/**
 * Locks all transfers that a transaction has settled or could settle, until the database's transaction ends: they share what it
 * paid to an address, and its fee. In one order, so that none deadlocks.
 * @param hash without 0x
 */
export async function lockTransfersOf(
  transaction: Transaction,
  { mode, network, currency }: TransferTable,
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
