/** Reads and writes refunds. */
import { valuesOf } from '../../core/db/values.js';
import { sql } from 'kysely';
import type { RefundStatus } from 'crypto-checkout/contract';
import { inChunks } from '../../core/db/chunks.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { forUpdate } from '../../core/db/locks.js';
import {
  firstOfAll,
  isCreatedWithin,
  isListed,
  readCheckpointedPage,
  readPage,
  type CreationRange,
} from '../../core/db/pages.js';
import { prepared } from '../../core/db/prepared.js';
import { having, inScope, rowById, rowsInOrder } from '../../core/db/rows.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import { tables, type PaymentRow, type TransferRow } from '../../core/db/schema.js';
import { send } from '../../core/db/send.js';
import type { PageRequest } from '../../core/shared/pagination.js';
import type { Scope, Within } from '../../core/shared/scope.js';
import { takenBefore } from './amounts.js';
import { refundTables, sealedRefunds, type RefundRow, type RefundTable } from './tables.js';

const refunds = valuesOf(refundTables.refunds);
const transfers = valuesOf(tables.transfers);

/** The store of refunds, whose texts are encrypted if there is a data key. */
export function createRefundStore(personalData: PersonalData) {
  const seal = (row: RefundRow) => refunds.encode(personalData.sealRow(sealedRefunds, row));
  const open = (row: RefundTable) => refunds.decode(personalData.openRow(sealedRefunds, row));
  const opened =
    <Args extends readonly unknown[]>(find: (...args: Args) => Promise<RefundTable | undefined>) =>
    async (...args: Args): Promise<RefundRow | undefined> => {
      const row = await find(...args);
      return row && open(row);
    };
  return {
    insertRefund: (transaction: Transaction, row: RefundRow) => insertRefund(transaction, seal(row)),
    /** Rewrites a locked refund. */
    updateRefund: (transaction: Transaction, row: RefundRow) => updateRefund(transaction, seal(row)),
    findRefund: opened(findRefund),
    findAnyRefund: opened(findAnyRefund),
    findByToken: opened(findByToken),
    lockRefund: opened(lockRefund),
    async listRefunds(...args: Parameters<typeof listRefunds>) {
      const { rows, total } = await listRefunds(...args);
      return { rows: rows.map(open), total };
    },
    listAllRefunds: async (...args: Parameters<typeof listAllRefunds>) =>
      (await listAllRefunds(...args)).map(open),
  };
}

export interface RefundFilter extends CreationRange {
  readonly status?: RefundStatus | undefined;
  readonly paymentId?: string | undefined;
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
}

async function insertRefund(transaction: Transaction, row: RefundTable): Promise<void> {
  await send(transaction, transaction.insertInto('refunds').values(row));
}

/** Rewrites a locked refund. */
async function updateRefund(transaction: Transaction, { id, ...row }: RefundTable): Promise<void> {
  await send(transaction, transaction.updateTable('refunds').set(row).where('id', '=', id));
}

function findRefund(reader: Reader, scope: Scope, id: string): Promise<RefundTable | undefined> {
  return rowById(reader, 'refunds', id).$call(inScope(scope)).executeTakeFirst();
}

/** A refund of any merchant. */
function findAnyRefund(reader: Reader, id: string): Promise<RefundTable | undefined> {
  return rowById(reader, 'refunds', id).executeTakeFirst();
}

function findByToken(reader: Reader, digest: string): Promise<RefundTable | undefined> {
  return reader.selectFrom('refunds').selectAll().where('token_digest', '=', digest).executeTakeFirst();
}

/** Locks a refund until the transaction ends. Its payment must be locked before. */
function lockRefund(transaction: Transaction, id: string): Promise<RefundTable | undefined> {
  return rowById(transaction, 'refunds', id).$call(forUpdate(transaction)).executeTakeFirst();
}

/** The ids of the payments that refunds are of. */
export async function findPaymentsOf(reader: Reader, ids: readonly string[]): Promise<string[]> {
  const rows = await inChunks(ids, (chunk) =>
    reader.selectFrom('refunds').select('payment_id').where('id', 'in', chunk).execute(),
  );
  return rows.map((row) => row.payment_id);
}

/** All refunds of a coin of a payment. */
export async function listOfPayment(
  reader: Reader,
  of: Pick<RefundTable, 'payment_id' | 'currency' | 'network'>,
): Promise<RefundRow[]> {
  const { payment_id, currency, network } = of;
  return (await findOfPayment(reader, { payment_id, currency, network })).map(refunds.decode);
}

const findOfPayment = prepared((reader, of: Pick<RefundTable, 'payment_id' | 'currency' | 'network'>) =>
  reader
    .selectFrom('refunds')
    .selectAll()
    .where((e) => e.and(of)),
);

/** The part of the coins that a payment asks for which refunds held or used before they were a success, in units. */
export async function sumTakenBefore(
  reader: Reader,
  { id, currency, network }: Pick<PaymentRow, 'id' | 'currency' | 'network'>,
): Promise<bigint> {
  if (currency === null || network === null) return 0n;
  return takenBefore(await listOfPayment(reader, { payment_id: id, currency, network }));
}

/** Currency and network in any case. */
const columnsOf = ({ status, currency, network }: RefundFilter) => ({
  status,
  currency: currency?.toUpperCase(),
  network: network?.toLowerCase(),
});

function matching(reader: Reader, scope: Scope, filter: RefundFilter) {
  const query = reader.selectFrom('refunds').$call(having(columnsOf(filter)));
  if (filter.paymentId === undefined) return query.where(isListed('refunds', scope, filter));
  // A payment has few refunds. With the merchant compared as in other lists, SQLite walks all those of the merchant.
  const { merchantId, mode } = scope;
  return query
    .where('payment_id', '=', filter.paymentId)
    .where(sql<boolean>`coalesce(merchant_id, '') = ${merchantId} and coalesce(mode, '') = ${mode}`)
    .where(isCreatedWithin('refunds', filter));
}

async function listRefunds(reader: Reader, scope: Scope, filter: PageRequest & RefundFilter) {
  const query = matching(reader, scope, filter).selectAll();
  return filter.paymentId === undefined
    ? readCheckpointedPage(reader, query, 'refunds', scope, filter, columnsOf(filter))
    : readPage(query, 'refunds', filter);
}

/** For operators: refunds of all merchants, oldest first, at most 1000. */
async function listAllRefunds(
  reader: Reader,
  { merchantId, ...filter }: RefundFilter & Pick<Within, 'merchantId'>,
): Promise<RefundTable[]> {
  const ids = await firstOfAll(reader, merchantId, { direction: 'asc', limit: 1000 }, (scope) =>
    matching(reader, scope, filter).select(['id', 'created_at']),
  );
  return rowsInOrder(reader, 'refunds', ids);
}

/** Ids of refunds that wait for an address although their time is over, on their merchants' clocks. */
export async function findOverdue(reader: Reader, now: number): Promise<string[]> {
  const rows = await reader
    .selectFrom('refunds')
    .leftJoin('test_clocks', (join) =>
      join.onRef('test_clocks.merchant_id', '=', 'refunds.merchant_id').on('refunds.mode', '=', 'test'),
    )
    .select('refunds.id')
    .where('refunds.status', '=', sql.lit('awaiting_address'))
    .where(
      'refunds.expires_at',
      '<=',
      sql<number>`coalesce(test_clocks.offset_ms, 0) + cast(${now} as bigint)`,
    )
    .orderBy('refunds.expires_at')
    .limit(1000)
    .execute();
  return rows.map(({ id }) => id);
}

/** The transfers that their refunds have not followed. @param refundId that of one refund; of all by default */
export async function findUnfollowed(reader: Reader, refundId?: string): Promise<TransferRow[]> {
  const rows = await reader
    .selectFrom('refunds')
    .innerJoin('transfers', 'transfers.refund_id', 'refunds.id')
    .selectAll('transfers')
    .$if(refundId !== undefined, (query) => query.where('refunds.id', '=', refundId ?? ''))
    // A refund that has failed continues only with a transfer that moves. One that was paid waits again after a reorganisation.
    .where(
      sql<boolean>`not (refunds.status = 'failed' and transfers.status in ('pending', 'failed')) and (
        refunds.status <> case transfers.status when 'success' then 'paid'
          when 'pending' then case refunds.status when 'paid' then 'approved' else refunds.status end
          else transfers.status end
        or refunds.amount <> transfers.amount or refunds.fee <> transfers.fee
        or coalesce(refunds.tx_hash, '') <> coalesce(transfers.tx_hash, ''))`,
    )
    .execute();
  return rows.map(transfers.decode);
}
