/** Stores receipts. */
import type { NetworkRef } from '../chains/chain.js';
import type { ReceiptTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import { chunksOf, inChunks } from '../db/chunks.js';
import { preparedSend } from '../db/prepared.js';
import { send } from '../db/send.js';

/** Whether a receipt is on its chain or pending, rather than dropped or reversed. */
export function isLive({ status }: Pick<ReceiptTable, 'status'>): boolean {
  return status === 'seen' || status === 'confirmed';
}

/** Identifies a transfer within its network. */
export function transferKey(txHash: string, outputIndex: number): string {
  return `${txHash}:${outputIndex}`;
}

const insertRow = preparedSend((transaction, receipt: ReceiptTable) =>
  transaction.insertInto('receipts').values(receipt),
);

export async function insertReceipts(
  transaction: Transaction,
  receipts: readonly ReceiptTable[],
): Promise<void> {
  const [only] = receipts;
  if (only && receipts.length === 1) return insertRow(transaction, only);
  for (const chunk of chunksOf(receipts)) {
    await send(transaction, transaction.insertInto('receipts').values(chunk));
  }
}

/** The columns of a receipt that can change. */
const changing = [
  'status',
  'block_height',
  'block_hash',
  'first_seen_at',
  'confirmed_at',
  'reversals',
  'is_credited',
  'credited_fee',
  'naira_value',
  'dollar_value',
  'base_rate',
] as const satisfies (keyof ReceiptTable)[];

type Changing = Pick<ReceiptTable, (typeof changing)[number]>;

const updateRow = preparedSend((transaction, { id, ...changes }: Changing & { readonly id: string }) =>
  transaction.updateTable('receipts').set(changes).where('id', '=', id),
);

export function isUnchanged(before: ReceiptTable, after: ReceiptTable): boolean {
  return changing.every((column) => before[column] === after[column]);
}

/** Stores what can change of receipts. Those that get the same values are updated together. */
export async function updateReceipts(
  transaction: Transaction,
  receipts: readonly ReceiptTable[],
): Promise<void> {
  const groups = new Map<string, { readonly values: Changing; readonly ids: string[] }>();
  for (const receipt of receipts) {
    const key = changing.map((column) => receipt[column]).join(' ');
    const group = groups.get(key) ?? { values: changingOf(receipt), ids: [] };
    groups.set(key, group);
    group.ids.push(receipt.id);
  }
  for (const { values, ids } of groups.values()) {
    const [only] = ids;
    if (only !== undefined && ids.length === 1) {
      await updateRow(transaction, { ...values, id: only });
      continue;
    }
    for (const chunk of chunksOf(ids)) {
      await send(transaction, transaction.updateTable('receipts').set(values).where('id', 'in', chunk));
    }
  }
}

function changingOf(receipt: ReceiptTable): Changing {
  const { status, block_height, block_hash, first_seen_at, confirmed_at, reversals } = receipt;
  const { is_credited, credited_fee, naira_value, dollar_value, base_rate } = receipt;
  return {
    ...{ status, block_height, block_hash, first_seen_at, confirmed_at, reversals },
    ...{ is_credited, credited_fee, naira_value, dollar_value, base_rate },
  };
}

/** Whether receipts of a merchant that were confirmed and lost wait to be confirmed again. */
export async function hasReturningReceipts(
  transaction: Transaction,
  { merchantId, mode }: Scope,
  currency: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('receipts')
    .select('id')
    .where('mode', '=', mode)
    .where('status', '=', 'seen')
    .where('reversals', '>', 0)
    .where('merchant_id', '=', merchantId)
    .where('currency', '=', currency)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface ScanEffect extends NetworkRef {
  /** Blocks above this height were orphaned. */
  readonly orphanedAbove: number | undefined;
  /** Hashes of the transactions that the scan found. */
  readonly txHashes: readonly string[];
  /** Receipts in blocks up to this height have enough confirmations. */
  readonly confirmedUpTo: number;
  /** Undefined if the scan did not read the pending transfers. */
  readonly pending: PendingEffect | undefined;
}

/** Knows the keys of all transfers that are pending or in the new blocks. */
export type PresentTransfers = Pick<ReadonlySet<string>, 'has'>;

export interface PendingEffect {
  readonly present: PresentTransfers;
  /** The hashes of the transactions that are no longer pending; undefined if the last scan's are unknown. */
  readonly gone: readonly string[] | undefined;
}

/** The ids of the payments whose receipts a network scan may change. */
export async function affectedPayments(transaction: Transaction, effect: ScanEffect): Promise<Set<string>> {
  const { mode, network, orphanedAbove, txHashes, confirmedUpTo, pending } = effect;
  const found = new Set<string>();
  const all = transaction
    .selectFrom('receipts')
    .select('payment_id')
    .distinct()
    .where('mode', '=', mode)
    .where('network', '=', network);
  const add = (rows: readonly { payment_id: string }[]) => {
    for (const { payment_id: id } of rows) found.add(id);
  };
  const seen = all.where('status', '=', 'seen');
  add(await seen.where('block_height', '<=', confirmedUpTo).execute());
  // What lost its confirmation, and the last scan left for this one.
  const unsettled = all.where('status', '=', 'confirmed').where('confirmed_at', 'is', null);
  add(await unsettled.where('block_height', 'is', null).execute());
  add(await unsettled.where('block_height', '>', confirmedUpTo).execute());
  if (pending) add(await findGone(transaction, effect, pending));
  if (orphanedAbove !== undefined) {
    const live = all.where('status', 'in', ['seen', 'confirmed']);
    add(await live.where('block_height', '>', orphanedAbove).execute());
  }
  add(await inChunks(txHashes, (chunk) => all.where('tx_hash', 'in', chunk).execute()));
  return found;
}

/** The receipts that waited for a block, and are now neither pending nor in one. */
async function findGone(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  { present, gone }: PendingEffect,
): Promise<{ payment_id: string }[]> {
  const waiting = transaction
    .selectFrom('receipts')
    .select(['payment_id', 'tx_hash', 'output_index'])
    .where('mode', '=', mode)
    .where('network', '=', network)
    .where('status', '=', 'seen')
    .where('block_height', 'is', null);
  const rows = gone
    ? await inChunks(gone, (chunk) => waiting.where('tx_hash', 'in', chunk).execute())
    : await waiting.execute();
  return rows.filter((row) => !present.has(transferKey(row.tx_hash, row.output_index)));
}
