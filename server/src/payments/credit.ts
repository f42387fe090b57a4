/** Credits confirmed funds to the merchant: in one settlement on success, and otherwise receipt by receipt. */
import type { ReceiptTable } from '../db/schema.js';
import type { Ledger, LedgerEntry } from '../ledger/ledger.js';
import { countsTowards, statusOf } from './assess.js';
import { feeOf } from './quote.js';
import { updateReceipt } from './receipt-store.js';
import type { PaymentRow, StoredRecord } from './store.js';
import type { Transaction } from '../db/engine.js';

/**
 * Credits the confirmed receipts that do not depend on the payment's outcome any longer. Receipts that do not count
 * towards the payment are credited at once, the others when it has ended. The fee is taken from every credit.
 */
export async function creditReceipts(
  transaction: Transaction,
  ledger: Ledger,
  payment: StoredRecord,
  now: number,
): Promise<void> {
  const waiting = payment.receipts.filter(
    (receipt) => receipt.status === 'confirmed' && receipt.is_credited === 0,
  );
  const hasEnded = statusOf(payment.state) !== 'in progress';
  const counting = waiting.filter((receipt) => countsTowards(payment, receipt));
  const credits = waiting
    .filter((receipt) => !countsTowards(payment, receipt))
    .map((receipt) => ({ key: creditKey(receipt), receipts: [receipt] }));
  if (hasEnded && counting.length > 0) {
    // The first success posts all counting receipts as one settlement. Later receipts are credited one by one.
    if (statusOf(payment.state) === 'success' && payment.settled_at === null) {
      credits.push({ key: `settlement:${payment.id}`, receipts: counting });
    } else {
      credits.push(...counting.map((receipt) => ({ key: creditKey(receipt), receipts: [receipt] })));
    }
  }
  for (const { key, receipts: credited } of credits) {
    const [first] = credited;
    if (!first) continue;
    const amount = credited.reduce((sum, receipt) => sum + BigInt(receipt.amount), 0n);
    await ledger.post(
      transaction,
      {
        key,
        mode: payment.mode,
        currency: first.currency,
        paymentId: payment.id,
        entries: creditEntries(payment, amount),
      },
      now,
    );
    for (const receipt of credited) await updateReceipt(transaction, { ...receipt, is_credited: 1 });
  }
}

function creditEntries(payment: PaymentRow, amount: bigint): LedgerEntry[] {
  const fee = feeOf(amount, payment.fee_basis_points);
  const merchantId = payment.merchant_id;
  return [
    { account: { kind: 'unallocated', merchantId }, debit: amount },
    { account: { kind: 'available', merchantId }, credit: amount - fee },
    { account: { kind: 'fee_income' }, credit: fee },
  ];
}

/** A receipt that was lost and confirmed again needs a new key to be credited again. */
function creditKey(receipt: ReceiptTable): string {
  return receipt.reversals === 0 ? `credit:${receipt.id}` : `credit:${receipt.id}:${receipt.reversals}`;
}
