/** Stores which transfers were exported for the wallets that pay them. */
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { NetworkRef } from '../../core/chains/chain.js';
import { chunksOf } from '../../core/db/chunks.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { tables, type Schema, type TransferRow } from '../../core/db/schema.js';
import { within } from '../../core/db/rows.js';
import { valuesOf } from '../../core/db/values.js';
import type { Scope, Within } from '../../core/shared/scope.js';
import { unheldTransfers } from '../../core/withdrawals/waiting-transfers.js';
import type { TransferExportTable } from './tables.js';

const transfers = valuesOf(tables.transfers);

/** The known facts about the wallet that an export is for. */
export type HeldExport = Pick<
  ReservedTransfer,
  'export_id' | 'account' | 'first_nonce' | 'handed_at' | 'handed_nonce' | 'wallet_answer'
>;

/** The account that an export is for, and its next nonce; undefined if it is unknown. */
export interface Payer {
  readonly account: string;
  readonly nonce: number | undefined;
}

/** A transfer that waits, and what it was exported as. */
export type ReservedTransfer = Awaited<ReturnType<typeof reservedTransfers>>[number];

/** The pending transfers that an export holds, in the order of the exports. */
export async function reservedTransfers(reader: Reader, of: Within) {
  const rows = await reader
    .selectFrom('transfers')
    .$call(within(of))
    .innerJoin('transfer_exports', 'transfer_exports.transfer_id', 'transfers.id')
    .selectAll('transfers')
    .select([
      'transfer_exports.id as export_id',
      'transfer_exports.actor as exported_by',
      // Real time.
      'transfer_exports.created_at as exported_at',
      'transfer_exports.account',
      'transfer_exports.first_nonce',
      'transfer_exports.handed_at',
      'transfer_exports.handed_nonce',
      'transfer_exports.wallet_answer',
    ])
    .where((e) => e.and({ 'transfers.executor': 'operator', 'transfers.status': 'pending' }))
    .where('transfer_exports.released_at', 'is', null)
    .orderBy('transfer_exports.created_at')
    .orderBy('transfers.created_at')
    .orderBy('transfers.id')
    .execute();
  return rows.map(transfers.decode);
}

/** True if an export of a merchant has, or had, all of these transfers, whatever became of them. */
export async function isExported(
  reader: Reader,
  of: Scope,
  exportId: string,
  transferIds: readonly string[],
): Promise<boolean> {
  const ids = new Set(transferIds);
  const rows = await reader
    .selectFrom('transfers')
    .$call(within(of))
    .innerJoin('transfer_exports', 'transfer_exports.transfer_id', 'transfers.id')
    .select('transfers.id')
    .where('transfer_exports.id', '=', exportId)
    .execute();
  return ids.size > 0 && rows.filter(({ id }) => ids.has(id)).length === ids.size;
}

export function findExportOf(reader: Reader, transferId: string): Promise<TransferExportTable | undefined> {
  return held(reader).selectAll().where('transfer_id', '=', transferId).executeTakeFirst();
}

/** The pending transfers that a treasury may have paid, and that no node knew for certain. */
export async function unclearTransfers(reader: Reader, of: Within): Promise<TransferRow[]> {
  const rows = await reader
    .selectFrom('transfers')
    .$call(within(of))
    .selectAll()
    .where('status', '=', 'pending')
    .where('executor', '=', 'operator')
    .where((e) =>
      e.exists(
        e
          .selectFrom('treasury_payments as paid')
          .select('paid.tx_hash')
          .whereRef('paid.mode', '=', 'transfers.mode')
          .whereRef('paid.network', '=', 'transfers.network')
          .whereRef('paid.currency', '=', 'transfers.currency')
          .whereRef('paid.address', '=', 'transfers.address')
          .whereRef('paid.amount', '=', 'transfers.amount')
          .where('paid.is_certain', '=', 0)
          .where('paid.transfer_id', 'is', null)
          .where('paid.noted_at', 'is', null),
      ),
    )
    .execute();
  return rows.map(transfers.decode);
}

/** Transfers that wait for a wallet, and are in no export or PSBT, oldest first. */
const unheld = (reader: Reader, of: Within) =>
  unheldTransfers(reader, of).selectAll().orderBy('created_at').orderBy('id');

export async function unheldOn(
  reader: Reader,
  { mode, network }: NetworkRef,
  merchantId?: string,
): Promise<TransferRow[]> {
  const rows = await unheld(reader, { merchantId, mode }).where('network', '=', network).execute();
  return rows.map(transfers.decode);
}

/** The number of a merchant's transfers that wait for a wallet on each network, and are in no export or PSBT. */
export const countUnheld = (reader: Reader, scope: Scope) =>
  unheldTransfers(reader, scope)
    .select(['network', (e) => e.fn.countAll<number | string>().as('count')])
    .groupBy('network')
    .orderBy('network')
    .execute();

/** @param payers by merchant; none if it is not known which wallet has them */
export async function insertExports(
  transaction: Transaction,
  made: Pick<TransferExportTable, 'id' | 'actor' | 'created_at' | 'handed_at'>,
  exported: readonly TransferRow[],
  payers: ReadonlyMap<string, Payer>,
): Promise<void> {
  const unanswered = { handed_nonce: null, wallet_answer: null };
  const rows = exported.map(({ id, merchant_id: merchantId }) => ({
    ...made,
    transfer_id: id,
    released_at: null,
    released_nonce: null,
    ...unanswered,
    account: payers.get(merchantId)?.account ?? null,
    first_nonce: payers.get(merchantId)?.nonce ?? null,
  }));
  for (const chunk of chunksOf(rows))
    await transaction.insertInto('transfer_exports').values(chunk).execute();
}

/** Changes what exports hold of these transfers, as far as the condition holds. @returns the number changed */
async function updateHeld(
  transaction: Transaction,
  transferIds: readonly string[],
  changes: Partial<TransferExportTable>,
  condition: (e: ExpressionBuilder<Schema, 'transfer_exports'>) => Expression<SqlBool> = (e) => e.lit(true),
): Promise<number> {
  let count = 0;
  for (const chunk of chunksOf(transferIds)) {
    const { numUpdatedRows } = await transaction
      .updateTable('transfer_exports')
      .set(changes)
      .where('transfer_id', 'in', chunk)
      .where('released_at', 'is', null)
      .where(condition)
      .executeTakeFirstOrThrow();
    count += Number(numUpdatedRows);
  }
  return count;
}

/** @param nonce that proves it; null for a decision */
export const releaseExports = (
  transaction: Transaction,
  transferIds: readonly string[],
  now: number,
  nonce: number | null,
) => updateHeld(transaction, transferIds, { released_at: now, released_nonce: nonce });

/** @returns the number that were free to be handed over */
export const handOver = (
  transaction: Transaction,
  exportId: string,
  transferIds: readonly string[],
  handed: Pick<TransferExportTable, 'account' | 'handed_at' | 'handed_nonce'>,
): Promise<number> =>
  updateHeld(transaction, transferIds, handed, (e) => e.and({ id: exportId, handed_at: null }));

/** The answers of an account's wallet on a network to requests that were made at a nonce, or at a later one. */
export async function answersSince(
  reader: Reader,
  { mode, network }: NetworkRef,
  account: string,
  nonce: number,
): Promise<string[]> {
  const rows = await reader
    .selectFrom('transfer_exports')
    .innerJoin('transfers', 'transfers.id', 'transfer_exports.transfer_id')
    .select('wallet_answer')
    .distinct()
    .where((e) => e.and({ mode, network }))
    .where((e) => e(e.fn('lower', ['account']), '=', account.toLowerCase()))
    .where('handed_nonce', '>=', nonce)
    .execute();
  return rows.flatMap(({ wallet_answer: answer }) => answer ?? []);
}

/** Of live mode: takes them for handed over, it is not known to which account. */
export async function forgetWallets(transaction: Transaction, now: number): Promise<void> {
  await transaction
    .updateTable('transfer_exports')
    .set({ account: null, first_nonce: null, handed_nonce: null, handed_at: now })
    .where('released_at', 'is', null)
    .where('transfer_id', 'in', (e) =>
      e.selectFrom('transfers').select('id').where('mode', '=', 'live').where('status', '=', 'pending'),
    )
    .execute();
}

/**
 * Keeps the wallet's answer. Null: the page reports that it refused, and it may be asked again; the request stays,
 * since only the chain can show that it has sent nothing. Not if it is unknown which wallet was asked.
 * @param before the answer that was kept until now
 */
export function keepAnswer(
  transaction: Transaction,
  exportId: string,
  transferId: string,
  answer: string | null,
  before: string | null,
): Promise<number> {
  const changes = answer === null ? { handed_at: null } : { wallet_answer: answer };
  return updateHeld(transaction, [transferId], changes, (e) =>
    e.and([
      e('id', '=', exportId),
      e('handed_at', 'is not', null),
      answer === null ? e('handed_nonce', 'is not', null) : e.lit(true),
      before === null ? e('wallet_answer', 'is', null) : e('wallet_answer', '=', before),
    ]),
  );
}

const held = (reader: Reader) =>
  reader.selectFrom('transfer_exports').where('transfer_exports.released_at', 'is', null);
