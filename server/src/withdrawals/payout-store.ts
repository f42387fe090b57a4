/** Reads and writes payouts. */
import type { Input, Api } from 'crypto-checkout/contract';
import type { SelectQueryBuilder } from 'kysely';
import { forUpdate } from '../db/locks.js';
import { isListed } from '../db/pages.js';
import type { PayoutTable, Schema } from '../db/schema.js';
import type { TransferStatus } from '../db/tables/withdrawals.js';
import type { Page } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import { sortableDecimal } from './sortable-amount.js';
import type { OperatorFilter } from './transfer-store.js';
import type { Transaction, Reader } from '../db/engine.js';
import { countRows, having, inScope, rowById, updateRow } from '../db/rows.js';

export type PayoutQuery = Input<Api['payouts']['list']>['query'];

/** @returns false if the merchant already has a payout with this reference in this mode */
export async function insertPayout(transaction: Transaction, row: PayoutTable): Promise<boolean> {
  const result = await transaction
    .insertInto('payouts')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'reference']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export const updatePayout = updateRow('payouts');

/** @returns false if the transfer has no payout yet */
export async function updatePayoutOfTransfer(
  transaction: Transaction,
  transferId: string,
  change: Partial<PayoutTable>,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('payouts')
    .set(change)
    .where('transfer_id', '=', transferId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** A payout of a merchant, by its id or by the reference on the bank statement. */
export function findPayout(
  reader: Reader,
  scope: Scope,
  by: { readonly id: string } | { readonly reference: string },
): Promise<PayoutTable | undefined> {
  return reader
    .selectFrom('payouts')
    .selectAll()
    .$call(inScope(scope))
    .where((e) => e.and(by))
    .executeTakeFirst();
}

/** A payout of any merchant. */
export function findAnyPayout(reader: Reader, id: string): Promise<PayoutTable | undefined> {
  return rowById(reader, 'payouts', id).executeTakeFirst();
}

/** Locks a payout of any merchant until the transaction ends. */
export function lockPayout(transaction: Transaction, id: string): Promise<PayoutTable | undefined> {
  return rowById(transaction, 'payouts', id).$call(forUpdate(transaction)).executeTakeFirst();
}

export function listBankPayouts(
  reader: Reader,
  { merchantId, status }: OperatorFilter,
): Promise<PayoutTable[]> {
  return reader
    .selectFrom('payouts')
    .selectAll()
    .$call(having({ merchant_id: merchantId, status }))
    .where('transfer_id', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1000)
    .execute();
}

/** Each column has an index that starts with merchant and mode, and ends with created_at and id. */
const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  amount: 'amount_order',
  fee: 'fee_order',
  status: 'status',
  currency: 'currency',
} as const satisfies Record<PayoutQuery['sort'], keyof PayoutTable>;

/** Ties are sorted by time of creation, in the same direction, so that a page is a single walk along an index. */
export async function listPayouts(
  reader: Reader,
  scope: Scope,
  query: PayoutQuery,
): Promise<Page<PayoutTable>> {
  const { minAmount, maxAmount } = query;
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
      all.where('amount_order', '>=', sortableDecimal(minAmount ?? '', 'up')),
    )
    .$if(maxAmount !== undefined, (all) =>
      all.where('amount_order', '<=', sortableDecimal(maxAmount ?? '', 'down')),
    );
  const total = await countRows(matching);
  const column = sortColumns[query.sort];
  const direction = query.isAscending ? 'asc' : 'desc';
  const inOrder = <O>(rows: SelectQueryBuilder<Schema, 'payouts', O>) => {
    const byColumn = rows.orderBy(column, direction);
    return (column === 'created_at' ? byColumn : byColumn.orderBy('created_at', direction)).orderBy(
      'id',
      direction,
    );
  };
  // If no index has this order, the database only has to sort ids.
  const ids = inOrder(matching.select('id'))
    .limit(query.skip)
    .offset((query.page - 1) * query.skip);
  const rows = await inOrder(reader.selectFrom('payouts').selectAll().where('id', 'in', ids)).execute();
  return { rows, total };
}
