/** Posts what a scan changes about the receipts of a payment, and brings the payment up to date with them. */
import type { ReceiptRow } from '../../db/schema.js';
import type { Transaction } from '../../db/engine.js';
import type { Posting } from '../../ledger/ledger.js';
import { scopeOf } from '../../shared/scope.js';
import { confirmation, reversal } from './postings.js';
import { writeReceipts, type ReceiptChange } from './receipt-store.js';
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
  const { payment, receipts, stored } = work;
  const now = clock.now(scopeOf(payment));
  const postings: Posting[] = [];
  // A receipt that is lost and dropped at once is changed twice.
  const changed = new Map<string, ReceiptChange>();
  const confirmed: ReceiptChange[] = [];
  const log: LogEntry[] = [...work.log];
  const change = (after: ReceiptRow) => changed.set(after.id, { before: stored.get(after.id), after });

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
    change({
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
    const after: ReceiptRow = { ...receipt, status: 'confirmed', confirmed_at: now };
    confirmed.push({ before: stored.get(receipt.id), after });
    addToLog(log, receipt, logEntryOf('transfer_confirmed', receipt));
  }
  for (const [key, current] of receipts) {
    const receipt = changed.get(current.id)?.after ?? current;
    if (!isDropped(receipt, key, scan, work)) continue;
    change({ ...receipt, status: receipt.reversals > 0 ? 'reversed' : 'dropped' });
    addToLog(log, receipt, logEntryOf('transfer_dropped', receipt));
  }

  await writeReceipts(transaction, [...changed.values()]);
  await payments.updatePayment(transaction, payment, undefined, {
    postings,
    confirmed,
    isChanged: changed.size > 0 || work.isUncounted,
    log,
  });
}
