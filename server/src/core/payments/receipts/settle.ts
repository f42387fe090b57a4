/** Posts what a scan changes about the receipts of a payment, and brings the payment up to date with them. */
import type { ReceiptRow } from '../../db/schema.js';
import type { Transaction } from '../../db/engine.js';
import type { Posting } from '../../ledger/ledger.js';
import { scopeOf } from '../../shared/scope.js';
import { confirmation, reversal } from './postings.js';
import { updateReceipts, type ReceiptChange } from './receipt-store.js';
import { addToLog, isDropped, type DueReceipts, type ReceiptsContext, type Scan, type Work } from './work.js';
import type { LogEntry } from '../store.js';

/** Confirms, reverses and drops a payment's receipts, and reassesses the payment. */
export async function settleReceipts(
  { clock, ledger, payments, logEntryOf }: ReceiptsContext,
  transaction: Transaction,
  scan: Scan,
  work: Work,
  due: DueReceipts,
): Promise<void> {
  const { payment, receipts } = work;
  const now = clock.now(scopeOf(payment));
  const postings: Posting[] = [];
  // A receipt that is lost and dropped at once is changed twice.
  const changed = new Map<string, ReceiptChange>();
  const confirmed: ReceiptChange[] = [];
  const log: LogEntry[] = [];
  const change = (key: string, before: ReceiptRow, after: ReceiptRow) => {
    receipts.set(key, after);
    changed.set(after.id, { before: changed.get(after.id)?.before ?? before, after });
  };

  const available = new Map<string, bigint>();
  for (const key of due.lost) {
    const receipt = receipts.get(key);
    if (!receipt) continue;
    const { currency, merchant_id: merchantId } = receipt;
    const before =
      available.get(currency) ??
      (await ledger.balance(transaction, payment.mode, currency, { kind: 'available', merchantId }));
    const { posting, taken } = reversal(receipt, before);
    available.set(currency, before - taken);
    postings.push(posting);
    change(key, receipt, {
      ...receipt,
      status: 'seen',
      confirmed_at: null,
      is_credited: false,
      credited_fee: 0n,
      reversals: receipt.reversals + 1,
    });
    addToLog(log, receipt, logEntryOf('transfer_unconfirmed', receipt));
  }
  for (const key of due.confirmed) {
    const receipt = receipts.get(key);
    if (!receipt) continue;
    postings.push(confirmation(receipt));
    confirmed.push({ before: receipt, after: { ...receipt, status: 'confirmed', confirmed_at: now } });
    addToLog(log, receipt, logEntryOf('transfer_confirmed', receipt));
  }
  for (const [key, receipt] of receipts) {
    if (!isDropped(receipt, key, scan, work)) continue;
    change(key, receipt, { ...receipt, status: receipt.reversals > 0 ? 'reversed' : 'dropped' });
    addToLog(log, receipt, logEntryOf('transfer_dropped', receipt));
  }

  await updateReceipts(transaction, [...changed.values()]);
  await payments.updatePayment(transaction, payment, undefined, {
    postings,
    confirmed,
    isChanged: changed.size > 0,
    log,
  });
}
