/** A scan's work on the receipts of a payment. */
import type { ScanBatch } from '../../scanning/scan.js';
import type { ReceiptRow, QuarantineTable } from '../../db/schema.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Clock } from '../../shared/clock.js';
import type { Payments } from '../payments.js';
import type { LogEntryOf } from './log.js';
import type { NewReceipts } from './make-receipt.js';
import type { IncomingTransfer } from './new-receipts.js';
import type { Quarantine } from './quarantine.js';
import type { PresentTransfers } from './receipt-store.js';
import type { LogEntry, PaymentRow } from '../store.js';

/** State that the steps of a scan share. */
export interface ReceiptsContext {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly payments: Pick<Payments, 'deposit' | 'updatePayment'>;
  readonly newReceipts: NewReceipts;
  readonly logEntryOf: LogEntryOf;
  readonly quarantine: Quarantine;
}

/** A batch, and what belongs to it in the database. */
export interface Scan extends ScanBatch {
  /** Quarantined payments and transfers of the network, by id. */
  readonly quarantined: ReadonlyMap<string, QuarantineTable>;
  readonly incoming: ReadonlyMap<string, IncomingTransfer>;
  readonly present: PresentTransfers | undefined;
}

/** A payment whose receipts on the network may change, step by step. */
export interface Work {
  readonly payment: PaymentRow;
  /** Receipts that may change, by the key of their transfer, with the changes made so far. */
  readonly receipts: Map<string, ReceiptRow>;
  /** These receipts as stored, by id. New ones are missing. */
  readonly stored: Map<string, ReceiptRow>;
  /** The log entries about changes that are not stored yet. */
  readonly log: LogEntry[];
  /** True if a receipt was added, or its place on the chain has changed. */
  hasNews: boolean;
  /** True if what is stored of its receipts has changed, and readers of the payment are not shown that yet: `countChanges`. */
  isUncounted: boolean;
  /** The keys of receipts that gave way to the transfer which explains them. */
  readonly replaced: Set<string>;
}

export function newWork(payment: PaymentRow): Work {
  return {
    payment,
    receipts: new Map(),
    stored: new Map(),
    log: [],
    hasNews: false,
    isUncounted: false,
    replaced: new Set(),
  };
}

/** Adds a log entry about a receipt. Dust has none: with thousands of entries, nobody finds the others. */
export function addToLog(log: LogEntry[], receipt: ReceiptRow, entry: LogEntry): void {
  if (!receipt.is_dust) log.push(entry);
}

/** True if a block is deep enough for a receipt. A final one cannot be reorganised, however few blocks follow it. */
export function isDeep(
  { head, finalHeight = -1 }: Pick<ScanBatch, 'head' | 'finalHeight'>,
  { required_confirmations: required }: Pick<ReceiptRow, 'required_confirmations'>,
  height: number,
): boolean {
  return height <= finalHeight || (required !== null && head.height - height + 1 >= required);
}

/**
 * The columns for a receipt's current place. In another block that is not deep enough, it loses its confirmation:
 * `confirmed_at` is null until that is settled, which can take several scans.
 */
export function moveTo(
  receipt: ReceiptRow,
  block: IncomingTransfer['block'],
  scan: Scan,
): Pick<ReceiptRow, 'block_height' | 'block_hash' | 'confirmed_at' | 'awaits_check'> {
  const isKept =
    block !== undefined && (block.hash === receipt.block_hash || isDeep(scan, receipt, block.height));
  return {
    block_height: block?.height ?? null,
    block_hash: block?.hash ?? null,
    confirmed_at: isKept ? receipt.confirmed_at : null,
    awaits_check: block?.hash === receipt.block_hash && receipt.awaits_check,
  };
}

export type DueReceipts = ReturnType<typeof dueReceipts>;

/**
 * The receipts of a payment that change with this scan, by key.
 * @param held the ids of those that are not confirmed now
 */
export function dueReceipts(work: Work, scan: Scan, held: ReadonlySet<string>, budget: number) {
  const all = [...work.receipts];
  // A receipt that waits for a second node makes its payment wait: the same node's other reports may be just as wrong.
  const isAwaiting = all.some(([, { status, awaits_check: awaits }]) => status === 'seen' && awaits);
  const isConfirmed = (receipt: ReceiptRow) => {
    const { id, block_height: height } = receipt;
    return !isAwaiting && !held.has(id) && height !== null && isDeep(scan, receipt, height);
  };
  // While its block exists, a receipt keeps its confirmation, also if the chain is shorter than before.
  const lost = all.filter(([, receipt]) => receipt.status === 'confirmed' && receipt.confirmed_at === null);
  const confirmed = all.filter(([, receipt]) => receipt.status === 'seen' && isConfirmed(receipt));
  const keys = (entries: typeof all, count: number) =>
    entries.slice(0, Math.max(0, count)).map(([key]) => key);
  return {
    // Lost receipts come first: they must not be paid out.
    lost: keys(lost, budget),
    confirmed: keys(confirmed, budget - lost.length),
    dropped: all.filter(([key, receipt]) => isDropped(receipt, key, scan, work)).length,
    /** True if the budget leaves some for the next scan. */
    hasMore: lost.length + confirmed.length > budget,
  };
}

/** True if a receipt that waits for a block is no longer pending, or was replaced by another. */
export function isDropped(receipt: ReceiptRow, key: string, { present }: Scan, { replaced }: Work) {
  if (receipt.status !== 'seen' || receipt.block_height !== null) return false;
  return replaced.has(key) || (present !== undefined && !present.has(key));
}
