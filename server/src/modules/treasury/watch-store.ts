/** Stores what the watcher of treasuries has read. */
import type { NetworkRef } from '../../core/chains/chain.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { forUpdate } from '../../core/db/locks.js';
import { sumUnits } from '../../core/db/units.js';
import { tables, type TransferRow } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';
import { treasuryTables, type SweepRow, type TreasuryFeeRow, type TreasuryPaymentRow } from './tables.js';

const sweeps = valuesOf(treasuryTables.sweeps);
const fees = valuesOf(treasuryTables.treasury_fees);
const payments = valuesOf(treasuryTables.treasury_payments);
const transfers = valuesOf(tables.transfers);

const cursorAt = (reader: Reader, { mode, network }: NetworkRef) =>
  reader
    .selectFrom('treasury_cursors')
    .select('height')
    .where((e) => e.and({ mode, network }));

const sweepsAt = (reader: Reader, { mode, network }: NetworkRef) =>
  reader.selectFrom('sweeps').selectAll().where('mode', '=', mode).where('network', '=', network);

export async function readCursor(reader: Reader, place: NetworkRef): Promise<number | undefined> {
  return (await cursorAt(reader, place).executeTakeFirst())?.height;
}

export async function createCursor(
  transaction: Transaction,
  place: NetworkRef,
  height: number,
): Promise<void> {
  await transaction
    .insertInto('treasury_cursors')
    .values({ mode: place.mode, network: place.network, height })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Locks the cursor. @returns its height */
export async function lockCursor(transaction: Transaction, place: NetworkRef): Promise<number> {
  const locked = cursorAt(transaction, place).$call(forUpdate(transaction));
  return (await locked.executeTakeFirstOrThrow()).height;
}

export async function moveCursor(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  height: number,
): Promise<void> {
  await transaction
    .updateTable('treasury_cursors')
    .set({ height })
    .where((e) => e.and({ mode, network }))
    .execute();
}

export async function sweepsFrom(
  reader: Reader,
  place: NetworkRef,
  from: number,
  to: number,
): Promise<SweepRow[]> {
  const rows = await sweepsAt(reader, place)
    .where('block_height', '>=', from)
    .where('block_height', '<=', to)
    .execute();
  return rows.map(sweeps.decode);
}

export async function findSweep(reader: Reader, sweep: SweepRow): Promise<SweepRow | undefined> {
  const found = sweepsAt(reader, sweep).where((e) =>
    e.and({ tx_hash: sweep.tx_hash, log_index: sweep.log_index }),
  );
  return sweeps.decode(await found.executeTakeFirst());
}

/** The sum that was swept from an address in a currency. */
export async function sumSwept(
  transaction: Transaction,
  { address, currency, ...place }: SweepRow,
): Promise<{ amount: bigint; chainAmount: bigint }> {
  const { mode, network } = place;
  const sums = await transaction
    .selectFrom('sweeps')
    .select([
      sumUnits(transaction, 'amount').as('amount'),
      sumUnits(transaction, 'chain_amount').as('chain_amount'),
    ])
    .where((e) => e.and({ mode, network, address, currency, is_reversed: 0 }))
    .executeTakeFirstOrThrow();
  const { amount, chain_amount: chainAmount } = sweeps.decode(sums);
  return { amount, chainAmount };
}

export async function writeSweep(transaction: Transaction, sweep: SweepRow): Promise<void> {
  const row = sweeps.encode(sweep);
  await transaction
    .insertInto('sweeps')
    .values(row)
    .onConflict((conflict) => conflict.columns(['mode', 'network', 'tx_hash', 'log_index']).doUpdateSet(row))
    .execute();
}

/** @returns the new record of the books; undefined if it was there already */
export async function insertFee(
  transaction: Transaction,
  fee: Omit<TreasuryFeeRow, 'is_reversed' | 'reversals'>,
): Promise<TreasuryFeeRow | undefined> {
  const row = fees.encode(fee);
  const { merchant_id, amount } = row;
  const inserted = transaction
    .insertInto('treasury_fees')
    .values({ ...row, is_reversed: 0, reversals: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(['mode', 'network', 'tx_hash'])
        .doUpdateSet({ merchant_id, amount, is_reversed: 0 })
        .where('treasury_fees.is_reversed', '=', 1),
    )
    .returningAll();
  return fees.decode(await inserted.executeTakeFirst());
}

/** @returns the record that was in the books until now; undefined if there was none */
export async function reverseFee(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  txHash: string,
): Promise<TreasuryFeeRow | undefined> {
  const reversed = await transaction
    .updateTable('treasury_fees')
    .set(({ eb }) => ({ is_reversed: 1, reversals: eb('reversals', '+', 1) }))
    .where((e) => e.and({ mode, network, tx_hash: txHash, is_reversed: 0 }))
    .returningAll()
    .executeTakeFirst();
  return reversed && fees.decode({ ...reversed, reversals: reversed.reversals - 1 });
}

/** @returns false if it is stored already */
export async function insertPayment(transaction: Transaction, row: TreasuryPaymentRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count = 0n } = await transaction
    .insertInto('treasury_payments')
    .values(payments.encode(row))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return count > 0n;
}

/**
 * Sets aside what may have been payments of a transfer, and were not.
 * @param treasuries of its merchant, in lower case
 * @param left the number that stay, the newest: equal transfers wait for them
 */
export async function noteUnclear(
  transaction: Transaction,
  transfer: TransferRow,
  treasuries: readonly string[],
  paymentNote: PaymentNote,
  left: number,
): Promise<void> {
  if (treasuries.length === 0) return;
  const { mode, network, currency, address, amount } = transfers.encode(transfer);
  const rows = await transaction
    .selectFrom('treasury_payments')
    .selectAll()
    .where((e) => e.and({ mode, network, currency, address, amount, is_certain: 0 }))
    .where((e) => e.fn('lower', ['treasury']), 'in', treasuries)
    .where('transfer_id', 'is', null)
    .where('noted_at', 'is', null)
    .orderBy('block_height', 'desc')
    .orderBy('output_index')
    .execute();
  for (const row of rows.slice(left)) await updatePayment(transaction, payments.decode(row), paymentNote);
}

/** The purpose of a payment that someone has named. */
export type PaymentNote = Readonly<Record<'note' | 'noted_by', string>> & { readonly noted_at: number };

const unsettled = (reader: Reader, { mode, network }: NetworkRef, may_settle: 0 | 1) =>
  reader
    .selectFrom('treasury_payments')
    .where((e) => e.and({ mode, network, may_settle }))
    .where('transfer_id', 'is', null)
    .where('noted_at', 'is', null);

/** Those that have settled no transfer, and may be for one, oldest first. */
export async function openPayments(reader: Reader, place: NetworkRef): Promise<TreasuryPaymentRow[]> {
  const open = unsettled(reader, place, 1).selectAll().orderBy('block_height').orderBy('output_index');
  return (await open.execute()).map(payments.decode);
}

/**
 * The oldest of those that no transfer explains.
 * @param most no more than these
 * @param treasuries in lower case; all if it is undefined
 */
export async function unexplainedPayments(
  reader: Reader,
  place: NetworkRef,
  most: number,
  treasuries?: readonly string[],
): Promise<TreasuryPaymentRow[]> {
  const rows = await unsettled(reader, place, 0)
    .selectAll()
    .where((e) => (treasuries ? e(e.fn('lower', ['treasury']), 'in', treasuries) : e.lit(true)))
    .orderBy('block_height')
    .orderBy('output_index')
    .limit(most)
    .execute();
  return rows.map(payments.decode);
}

export async function countUnexplained(reader: Reader, place: NetworkRef): Promise<number> {
  const { count } = await unsettled(reader, place, 0)
    .select((e) => e.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Notes the purpose of the payments in a transaction that no transfer explains. @returns those payments */
export async function notePayments(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  of: { readonly txHash: string; readonly treasuries: readonly string[] },
  paymentNote: PaymentNote,
): Promise<TreasuryPaymentRow[]> {
  const rows = await transaction
    .updateTable('treasury_payments')
    .set(paymentNote)
    .where((e) => e.and({ mode, network, tx_hash: of.txHash, may_settle: 0 }))
    .where((e) => e.fn('lower', ['treasury']), 'in', of.treasuries)
    .where('transfer_id', 'is', null)
    .where('noted_at', 'is', null)
    .returningAll()
    .execute();
  return rows.map(payments.decode);
}

/** A payment that no transfer explained may be for a similar one again. */
export async function mayBeFor(transaction: Transaction, transfer: TransferRow): Promise<void> {
  const { mode, network, currency, address, amount } = transfers.encode(transfer);
  await transaction
    .updateTable('treasury_payments')
    .set({ may_settle: 1 })
    .where((e) => e.and({ mode, network, currency, address, amount, may_settle: 0, is_exact: 1 }))
    .where('transfer_id', 'is', null)
    .where('noted_at', 'is', null)
    .execute();
}

/** Those in blocks from a height on. */
export async function paymentsFrom(
  reader: Reader,
  { mode, network }: NetworkRef,
  from: number,
): Promise<TreasuryPaymentRow[]> {
  const rows = await reader
    .selectFrom('treasury_payments')
    .selectAll()
    .where((e) => e.and({ mode, network }))
    .where('block_height', '>=', from)
    .execute();
  return rows.map(payments.decode);
}

/** @returns false if another process has made it settle a transfer, or reverted that */
export async function updatePayment(
  transaction: Transaction,
  { mode, network, tx_hash, output_index, transfer_id }: TreasuryPaymentRow,
  changes: Partial<TreasuryPaymentRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('treasury_payments')
    .set(payments.encode(changes))
    .where((e) => e.and({ mode, network, tx_hash, output_index, transfer_id }))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false if another process has deleted the payment, or moved it to another block */
export async function deletePayment(
  transaction: Transaction,
  { mode, network, tx_hash, output_index, block_hash }: TreasuryPaymentRow,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('treasury_payments')
    .where((e) => e.and({ mode, network, tx_hash, output_index, block_hash }))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Finds a transfer that the operator settled with a payment's transaction. One transaction can hold several payments: a transfer
 * belongs to the one of its own amount, if there is one.
 * @returns its ID
 */
export async function findSettledByHand(
  reader: Reader,
  { mode, network, tx_hash, currency, address, amount }: TreasuryPaymentRow,
): Promise<string | undefined> {
  const hash = tx_hash.replace(/^0x/, '');
  // Before the transfers: an assignment by another server in between is then missing among them, or is open here.
  const open = await reader
    .selectFrom('treasury_payments')
    .select('amount')
    .where((e) => e.and({ mode, network, tx_hash, currency, address, transfer_id: null }))
    .execute();
  const rows = await reader
    .selectFrom('transfers')
    .select(['id', 'amount'])
    .where((e) => e.and({ mode, network, currency, address, status: 'success' }))
    .where('tx_hash', 'in', [hash, `0x${hash}`])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('treasury_payments').select('transfer_id').whereRef('transfer_id', '=', 'transfers.id'),
        ),
      ),
    )
    .execute();
  if (rows.length === 0) return undefined;
  const isFree = (row: { readonly amount: string }) => !open.some((one) => one.amount === row.amount);
  const own = payments.encode({ amount }).amount;
  return (rows.find((row) => row.amount === own) ?? rows.find(isFree))?.id;
}
