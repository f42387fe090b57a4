/** Reads and writes payouts. */
import type { Input, CoreApi } from 'crypto-checkout/contract';
import { sql, type SelectQueryBuilder } from 'kysely';
import { forUpdate } from '../db/locks.js';
import { firstOfAll, isListed } from '../db/pages.js';
import { withoutIndex } from '../db/plans.js';
import { tables, type PayoutRow, type Schema } from '../db/schema.js';
import type { TransferStatus } from '../db/tables/withdrawals.js';
import type { Page } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import { sortableDecimal } from './sortable-amount.js';
import { operatorsPage, type OperatorFilter } from './transfer-store.js';
import type { Transaction, Reader } from '../db/engine.js';
import { countRows, having, inScope, rowById, rowsInOrder, updateRow } from '../db/rows.js';
import { readUnits, sumUnits } from '../db/units.js';
import { valuesOf } from '../db/values.js';

const payouts = valuesOf(tables.payouts);

export type PayoutQuery = Input<CoreApi['payouts']['list']>['query'];

/** @returns false if the merchant already has a payout with this reference in this mode */
export async function insertPayout(transaction: Transaction, row: PayoutRow): Promise<boolean> {
  const result = await transaction
    .insertInto('payouts')
    .values(payouts.encode(row))
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'reference']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

const updateStored = updateRow('payouts');
export const updatePayout = (transaction: Transaction, id: string, changes: Partial<PayoutRow>) =>
  updateStored(transaction, id, payouts.encode(changes));

/** @returns false if the transfer has no payout yet */
export async function updatePayoutOfTransfer(
  transaction: Transaction,
  transferId: string,
  change: Partial<PayoutRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('payouts')
    .set(payouts.encode(change))
    .where('transfer_id', '=', transferId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** A payout of a merchant, by its id or by the reference on the bank statement. */
export async function findPayout(
  reader: Reader,
  scope: Scope,
  by: { readonly id: string } | { readonly reference: string },
): Promise<PayoutRow | undefined> {
  const found = reader
    .selectFrom('payouts')
    .selectAll()
    .$call(inScope(scope))
    .where((e) => e.and(by));
  return payouts.decode(await found.executeTakeFirst());
}

/** A payout of any merchant. */
export async function findAnyPayout(reader: Reader, id: string): Promise<PayoutRow | undefined> {
  return payouts.decode(await rowById(reader, 'payouts', id).executeTakeFirst());
}

/** Locks a payout of any merchant until the transaction ends. */
export async function lockPayout(transaction: Transaction, id: string): Promise<PayoutRow | undefined> {
  const row = rowById(transaction, 'payouts', id).$call(forUpdate(transaction));
  return payouts.decode(await row.executeTakeFirst());
}

export async function listBankPayouts(
  reader: Reader,
  { merchantId, status, ...range }: OperatorFilter,
): Promise<PayoutRow[]> {
  const ids = await firstOfAll(reader, merchantId, operatorsPage, (scope) =>
    reader
      .selectFrom('payouts')
      .select(['id', 'created_at'])
      .where(isListed('payouts', scope, range))
      .$call(having({ status }))
      .where('transfer_id', 'is', null),
  );
  return (await rowsInOrder(reader, 'payouts', ids)).map(payouts.decode);
}

/** Payouts to banks in a status: those that wait, oldest first; those that ended, newest first. */
export async function listOfBanks(
  reader: Reader,
  scope: Scope,
  status: TransferStatus,
  most: number,
): Promise<PayoutRow[]> {
  const direction = status === 'processing' ? 'asc' : 'desc';
  const rows = await reader
    .selectFrom('payouts')
    .selectAll()
    .$call(inScope(scope))
    .where('status', '=', status)
    .where('transfer_id', 'is', null)
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(most)
    .execute();
  return rows.map(payouts.decode);
}

/** Sums of the payouts to banks that have not failed, by currency, in its unit. */
export async function sumsOfBanks(
  reader: Reader,
  scope: Scope,
): Promise<{ readonly currency: string; readonly units: bigint }[]> {
  const rows = await reader
    .selectFrom('payouts')
    .select(['currency', sumUnits(reader, 'amount').as('units')])
    .$call(inScope(scope))
    // Only these have an account. By the lack of a transfer, SQLite would read those of all merchants.
    .where('bank_account_id', '>', '')
    .where('status', '<>', 'failed')
    .groupBy('currency')
    .orderBy('currency')
    .execute();
  return rows.map(({ currency, units }) => ({ currency, units: readUnits(units) }));
}

/** Each column has an index that starts with merchant and mode, and ends with created_at and id. */
const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  amount: 'amount_order',
  fee: 'fee_order',
  status: 'status',
  currency: 'currency',
} as const satisfies Record<PayoutQuery['sort'], keyof PayoutRow>;

/** Ties are sorted by time of creation, in the same direction, so that a page is a single walk along an index. */
export async function listPayouts(
  reader: Reader,
  scope: Scope,
  query: PayoutQuery,
): Promise<Page<PayoutRow>> {
  const { minAmount, maxAmount } = query;
  // One destination has few, whatever their amounts and their order.
  const isFew = query.bankAccount !== undefined || query.address !== undefined;
  const column = <Name extends keyof PayoutRow>(name: Name) =>
    isFew ? withoutIndex<PayoutRow[Name]>(reader, name) : sql.ref<PayoutRow[Name]>(name);
  const matching = reader
    .selectFrom('payouts')
    .where(isListed('payouts', scope, query))
    .$call(
      having({
        currency: query.currency?.toUpperCase(),
        // The filter takes any text. One that is not a status matches nothing.
        status: query.status as TransferStatus | undefined,
        bank_account_id: query.bankAccount,
        wallet_address_id: query.address,
      }),
    )
    .$if(minAmount !== undefined, (all) =>
      all.where(column('amount_order'), '>=', sortableDecimal(minAmount ?? '', 'up')),
    )
    .$if(maxAmount !== undefined, (all) =>
      all.where(column('amount_order'), '<=', sortableDecimal(maxAmount ?? '', 'down')),
    );
  const total = await countRows(matching);
  const sorted = sortColumns[query.sort];
  const direction = query.isAscending ? 'asc' : 'desc';
  const inOrder = <O>(rows: SelectQueryBuilder<Schema, 'payouts', O>) => {
    const byColumn = rows.orderBy(column(sorted), direction);
    return (sorted === 'created_at' ? byColumn : byColumn.orderBy('created_at', direction)).orderBy(
      'id',
      direction,
    );
  };
  // If no index has this order, the database only has to sort ids.
  const ids = inOrder(matching.select('id'))
    .limit(query.skip)
    .offset((query.page - 1) * query.skip);
  const rows = await inOrder(reader.selectFrom('payouts').selectAll().where('id', 'in', ids)).execute();
  return { rows: rows.map(payouts.decode), total };
}
