/** Stores receipts. */
import { sql } from 'kysely';
import { markReceived } from '../../addresses/unspent-coins.js';
import { markUnswept } from '../../addresses/unswept.js';
import type { NetworkRef } from '../../chains/chain.js';
import { transferKey, type ScanBatch } from '../../scanning/scan.js';
import { tables, type PaymentRow, type ReceiptRow, type Schema } from '../../db/schema.js';
import { pauseIfLong } from '../../shared/pause.js';
import type { Scope } from '../../shared/scope.js';
import type { Reader, Transaction } from '../../db/engine.js';
import { chunksOf, inChunks, smallChunk } from '../../db/chunks.js';
import { hasRows, inScope } from '../../db/rows.js';
import { sumUnits } from '../../db/units.js';
import { filtersBy } from '../../db/plans.js';
import { filledUp, prepared, preparedIn, preparedInserts, preparedSend } from '../../db/prepared.js';
import { valuesOf, type Failed } from '../../db/values.js';

const receiptRows = valuesOf(tables.receipts);

/** True if a receipt is on its chain or pending, rather than dropped or reversed. */
export function isLive({ status }: Pick<ReceiptRow, 'status'>): boolean {
  return status === 'seen' || status === 'confirmed';
}

/** A transfer that waits for a block has brought nothing yet. */
const isInBlock = (receipt: ReceiptRow) => isLive(receipt) && receipt.block_height !== null;

const countAll = preparedSend((transaction, rows: readonly { readonly id: string }[]) =>
  transaction
    .updateTable('payments')
    .set({ parts_version: sql<number>`parts_version + 1` })
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    ),
);

/** Shows readers of payments that their receipts have changed. The payments are locked. @param ids each once */
export async function countChanges(transaction: Transaction, ids: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(ids, smallChunk)) {
    await countAll(transaction, filledUp(chunk.map((id) => ({ id }))));
    await pauseIfLong();
  }
}

const insertEncoded = preparedInserts('receipts');

/** The columns of a receipt that can change. */
const changing = [
  'status',
  'block_height',
  'block_hash',
  'first_seen_at',
  'confirmed_at',
  'awaited_until',
  'required_confirmations',
  'awaits_check',
  'checked_hash',
  'reversals',
  'is_credited',
  'credited_fee',
  'naira_value',
  'dollar_value',
  'base_rate',
] as const satisfies (keyof ReceiptRow)[];

type Changing = Pick<ReceiptRow, (typeof changing)[number]>;

/** A receipt as it is stored, undefined if it is new, and as it is from now on. */
export interface ReceiptChange {
  readonly before: ReceiptRow | undefined;
  readonly after: ReceiptRow;
}

export function isUnchanged(before: ReceiptRow, after: ReceiptRow): boolean {
  return before === after || changing.every((column) => before[column] === after[column]);
}

const setAlike = preparedSend(
  (
    transaction,
    rows: readonly (Partial<Pick<Schema['receipts'], keyof Changing>> & { readonly id: string })[],
  ) => {
    const [{ id: _id, ...values } = {}] = rows;
    return transaction
      .updateTable('receipts')
      .set(values)
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      );
  },
);

/** Marks what receipts brought to the addresses of treasuries: `markUnswept`, which comes before the ledger is locked. */
export const markArrived = (transaction: Transaction, receipts: readonly ReceiptRow[]): Promise<void> =>
  markUnswept(transaction, receipts.filter(isInBlock));

/**
 * Stores new receipts, and the changes of others, without `countChanges` and `markArrived`. Receipts with the same new
 * values, such as the height and hash of their block, are updated in one statement.
 */
export async function writeReceipts(transaction: Transaction, changes: readonly ReceiptChange[]) {
  const receipts = changes.map(({ after }) => after);
  const added = changes.filter(({ before }) => before === undefined).map(({ after }) => after);
  await insertEncoded(transaction, added.map(receiptRows.encode));
  const groups = new Map<string, { readonly values: Partial<Changing>; readonly ids: string[] }>();
  for (const { before, after } of changes) {
    if (!before) continue;
    const changed = changing.filter((column) => before[column] !== after[column]);
    if (changed.length === 0) continue;
    const key = changed.map((column) => `${column} ${after[column]}`).join(' ');
    const group = groups.get(key) ?? { values: pick(after, changed), ids: [] };
    groups.set(key, group);
    group.ids.push(after.id);
  }
  for (const { values, ids } of groups.values()) {
    const encoded = receiptRows.encode(values);
    for (const chunk of chunksOf(ids, smallChunk)) {
      await pauseIfLong();
      await setAlike(transaction, filledUp(chunk.map((id) => ({ ...encoded, id }))));
    }
  }
  await markReceived(transaction, receipts.filter(isInBlock));
}

const pick = (receipt: ReceiptRow, columns: readonly (keyof Changing)[]): Partial<Changing> =>
  Object.fromEntries(columns.map((column) => [column, receipt[column]]));

/**
 * Takes the blocks above a height from the receipts of a payment on a network, which are not read for that.
 * @param awaitedUntil the time until which they are awaited
 */
export async function forgetPlaces(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  payment_id: string,
  height: number,
  awaitedUntil: number,
): Promise<void> {
  await countChanges(transaction, [payment_id]);
  await transaction
    .updateTable('receipts')
    .set({
      block_height: null,
      block_hash: null,
      confirmed_at: null,
      awaits_check: 0,
      awaited_until: awaitedUntil,
    })
    .where((e) => e.and({ payment_id, mode, network }))
    .where('status', 'in', ['seen', 'confirmed'])
    .where('block_height', '>', height)
    .execute();
}

/** Receipts on a network, as references. */
const refsOn = (reader: Reader, { mode, network }: NetworkRef) =>
  reader
    .selectFrom('receipts')
    .select(['id', 'payment_id'])
    .where((e) => e.and({ mode, network }));

/** `refsOn` for receipts that are on the chain or pending. */
const liveRefsOn = (reader: Reader, place: NetworkRef) =>
  refsOn(reader, place).where('status', 'in', ['seen', 'confirmed']);

/** `liveRefsOn` for queries that begin with an address or a payment instead. */
const liveRefs = (reader: Reader, { mode, network }: NetworkRef) =>
  reader
    .selectFrom('receipts')
    .select(['id', 'payment_id'])
    .where(filtersBy(reader, { mode, network }))
    .where('status', 'in', ['seen', 'confirmed']);

/** The sum that an address has received of a currency, in units of the books and as the chain counts it. */
export async function sumReceived(
  transaction: Transaction,
  place: NetworkRef & { readonly currency: string; readonly address: string },
): Promise<{ amount: bigint; chainAmount: bigint }> {
  const { mode, network, currency, address } = place;
  const sums = await transaction
    .selectFrom('receipts')
    .select([
      sumUnits(transaction, 'amount').as('amount'),
      sumUnits(transaction, 'chain_amount').as('chain_amount'),
    ])
    .where('address', '=', address)
    .where(filtersBy(transaction, { mode, network }))
    .where('currency', '=', currency)
    .where('status', 'in', ['seen', 'confirmed'])
    .executeTakeFirstOrThrow();
  const { amount, chain_amount: chainAmount } = receiptRows.decode(sums);
  return { amount, chainAmount };
}

/** The receipts at some addresses that only the balance showed, and that are on the chain as far as is known. */
export function findByBalance(
  transaction: Transaction,
  place: NetworkRef,
  addresses: readonly string[],
): Promise<ReceiptRef[]> {
  const { mode, network } = place;
  return findShownByBalance(transaction, addresses, { mode, network });
}

const findShownByBalance = preparedIn((reader, addresses, place: NetworkRef) =>
  liveRefs(reader, place).where('address', 'in', addresses).where('found_above', 'is not', null),
);

/** Names the transfer behind a receipt that only the balance had shown, without `countChanges`. */
export async function nameTransfer(transaction: Transaction, receipt: ReceiptRow): Promise<void> {
  const { id, tx_hash, output_index, senders, block_height, block_hash } = receiptRows.encode(receipt);
  await transaction
    .updateTable('receipts')
    .set({ tx_hash, output_index, senders, block_height, block_hash, found_above: null })
    .where('id', '=', id)
    .execute();
}

/** True if receipts of a merchant that were confirmed and lost wait to be confirmed again. */
export function hasReturningReceipts(transaction: Transaction, scope: Scope, currency: string) {
  const lost = transaction.selectFrom('receipts').where('reversals', '>', 0);
  return hasRows(lost.$call(inScope(scope)).where((e) => e.and({ currency, status: 'seen' })));
}

/** Knows the keys of all transfers that are pending or in the new blocks. */
export type PresentTransfers = Pick<ReadonlySet<string>, 'has'>;

interface PendingEffect {
  readonly present: PresentTransfers;
  /** The hashes of the transactions that are no longer pending; undefined if the last scan's are unknown. */
  readonly gone: readonly string[] | undefined;
}

/** A receipt of a payment that is not locked yet. */
export type ReceiptRef = Pick<ReceiptRow, 'id' | 'payment_id'>;

/** One to confirm, or that lost its confirmation. */
export type DueReceipt = Pick<ReceiptRow, 'id' | 'payment_id' | 'status'>;

/**
 * The receipts that a network scan may change.
 * @param txHashes of the transactions that it found
 * @param pending undefined if it did not read the pending transfers
 */
export async function affectedReceipts(
  transaction: Transaction,
  scan: Pick<ScanBatch, 'mode' | 'network' | 'orphanedAbove' | 'head' | 'finalHeight'>,
  txHashes: readonly string[],
  pending: PendingEffect | undefined,
) {
  const { mode, network, orphanedAbove, head, finalHeight = -1 } = scan;
  const live = liveRefsOn(transaction, scan);
  // They travel together.
  const [found, due] = await Promise.all([
    findMoved(transaction, txHashes, { mode, network }),
    findDue(transaction, { mode, network, nextHeight: head.height + 1, finalHeight }),
  ]);
  return {
    /** The scan found them in another place than before. */
    moved: [
      ...found,
      ...(orphanedAbove === undefined ? [] : await live.where('block_height', '>', orphanedAbove).execute()),
    ],
    /** Receipts that must still be confirmed or reversed because the last scan left them undone. */
    due,
    /** Receipts that must be dropped. */
    gone: pending ? await findMissing(transaction, { mode, network }, pending) : [],
  };
}

const findMoved = preparedIn((reader, txHashes, place: NetworkRef) =>
  refsOn(reader, place).where('tx_hash', 'in', txHashes),
);

interface Depths extends NetworkRef {
  /** The height after the last scanned block. */
  readonly nextHeight: number;
  readonly finalHeight: number;
}

/**
 * The receipts that are deep enough to be confirmed, each by its own depth, and those that lost their confirmation and
 * that the last scan left.
 */
const findDue = prepared((reader, { mode, network, nextHeight, finalHeight }: Depths) => {
  const all = refsOn(reader, { mode, network }).select('status');
  const inBlocks = all.where('status', '=', sql.lit('seen')).where('block_height', '<', nextHeight);
  return inBlocks
    .where((e) =>
      e.or([
        e('block_height', '<=', finalHeight),
        e(sql<number>`block_height + required_confirmations`, '<=', nextHeight),
      ]),
    )
    .unionAll(all.where('status', '=', sql.lit('confirmed')).where('confirmed_at', 'is', null));
});

/** The receipts that are each deep enough, in blocks in which no second node has confirmed them. */
export async function findUnchecked(
  reader: Reader,
  { mode, network, head, finalHeight = -1 }: NetworkRef & Pick<ScanBatch, 'head' | 'finalHeight'>,
): Promise<ReceiptRow[]> {
  const due = await findDue(reader, { mode, network, nextHeight: head.height + 1, finalHeight });
  const receipts = await findReceipts(
    reader,
    due.map(({ id }) => id),
    // They are quarantined once they are due.
    () => {},
  );
  return receipts.filter((one) => one.status === 'seen' && one.checked_hash !== one.block_hash);
}

/** Stores that two nodes have confirmed receipts in these blocks. */
export async function storeChecked(
  transaction: Transaction,
  checked: readonly { readonly id: string; readonly blockHash: string }[],
): Promise<void> {
  for (const { id, blockHash } of checked) {
    await transaction
      .updateTable('receipts')
      .set({ checked_hash: blockHash })
      .where((e) => e.and({ id, block_hash: blockHash }))
      .execute();
  }
}

/** If there are more, all that wait are read at once: SQLite may read them for each part of a list. */
const fewGone = 100;

/** The receipts that waited for a block, or whose block was orphaned, and that are now neither pending nor in one. */
export async function findMissing(
  reader: Reader,
  { orphanedAbove, ...place }: NetworkRef & Partial<Pick<ScanBatch, 'orphanedAbove'>>,
  { present, gone }: PendingEffect,
) {
  const waiting = refsOn(reader, place)
    .select(['tx_hash', 'output_index'])
    .where((e) => e.and({ status: 'seen', block_height: null }));
  const isFew = gone && gone.length <= fewGone;
  const rows =
    gone?.length === 0 ? [] : await (isFew ? waiting.where('tx_hash', 'in', gone) : waiting).execute();
  const isGone = gone && new Set(gone);
  const orphaned =
    orphanedAbove === undefined
      ? []
      : await liveRefsOn(reader, place)
          .select(['tx_hash', 'output_index'])
          .where('block_height', '>', orphanedAbove)
          .execute();
  return [...rows.filter((row) => isGone?.has(row.tx_hash) !== false), ...orphaned].filter(
    (row) => !present.has(transferKey(row.tx_hash, row.output_index)),
  );
}

/** The receipts with these ids, oldest first. @param failed takes those that cannot be read */
export async function findReceipts(
  reader: Reader,
  ids: readonly string[],
  failed: Failed<Schema['receipts']>,
): Promise<ReceiptRow[]> {
  const find = async (chunk: readonly string[]) =>
    receiptRows.decodeEach(await findByIds(reader, chunk, {}), failed);
  return (await inChunks([...new Set(ids)], find, smallChunk)).sort(byAge);
}

/** Orders receipts, oldest first. */
export const byAge = (
  one: Pick<ReceiptRow, 'id' | 'first_seen_at'>,
  other: Pick<ReceiptRow, 'id' | 'first_seen_at'>,
): number => one.first_seen_at - other.first_seen_at || (one.id < other.id ? -1 : 1);

const findByIds = preparedIn((reader, ids) =>
  reader.selectFrom('receipts').selectAll().where('id', 'in', ids),
);

/** All receipts on a network that payments have and that are on the chain or pending. */
export function liveReceiptsOf(
  transaction: Transaction,
  place: NetworkRef,
  paymentIds: readonly string[],
): Promise<ReceiptRef[]> {
  return inChunks(paymentIds, (chunk) =>
    liveRefs(transaction, place).where('payment_id', 'in', chunk).execute(),
  );
}

const findAllUncredited = prepared((reader, { id }: { readonly id: string }) =>
  reader
    .selectFrom('receipts')
    .selectAll()
    .where('payment_id', '=', id)
    .where('status', '=', sql.lit('confirmed'))
    .where('is_credited', '=', sql.lit(0))
    .orderBy('first_seen_at')
    .orderBy('id'),
);

/** The confirmed receipts of a payment that are not credited, oldest first. @param hasEnded if not, only those that do not count */
export async function findUncredited(
  transaction: Transaction,
  { id, currency, network }: PaymentRow,
  hasEnded: boolean,
): Promise<ReceiptRow[]> {
  if (hasEnded) return (await findAllUncredited(transaction, { id })).map(receiptRows.decode);
  const rows = await transaction
    .selectFrom('receipts')
    .selectAll()
    .where((e) => e.and({ payment_id: id, status: 'confirmed', is_credited: 0 }))
    .where((e) => e.or([e('network', '!=', network ?? ''), e('currency', '!=', currency ?? '')]))
    .orderBy('first_seen_at')
    .orderBy('id')
    .execute();
  return rows.map(receiptRows.decode);
}
