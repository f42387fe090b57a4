/** Credits confirmed funds to the merchant: in one settlement on success, and otherwise receipt by receipt. */
import { statusOf } from 'crypto-checkout/contract';
import type { ReceiptRow } from '../db/schema.js';
import type { Ledger, Posting } from '../ledger/ledger.js';
import type { PostingKey } from '../ledger/posting-kinds.js';
import { countsTowards, type ReceiptFact } from './assess.js';
import { feeShares } from './quote.js';
import type { ReceiptSum } from './payment-facts.js';
import { receiptKey } from './receipts/postings.js';
import { byAge, findUncredited, writeReceipts, type ReceiptChange } from './receipts/receipt-store.js';
import type { LogEntry, PaymentRow } from './store.js';
import type { Transaction } from '../db/engine.js';

/** Changes that a scan makes to the receipts of a payment. */
export interface ChangedReceipts {
  /** They come before those of credits: all are posted with the same statements. */
  readonly postings: readonly Posting[];
  /** Those that are confirmed now, and not stored as such. */
  readonly confirmed: readonly ReceiptChange[];
  /** True if others have changed, which are stored. */
  readonly isChanged: boolean;
  /** Comes before the log entries of the change that they cause. */
  readonly log: readonly LogEntry[];
}

/** Receipts that are credited together, so that one fee is taken from their sum. */
interface Credit {
  readonly key: PostingKey;
  readonly receipts: readonly ReceiptRow[];
}

/**
 * Credits the confirmed receipts that do not depend on the payment's outcome any longer. Receipts that do not count
 * towards the payment are credited at once, the others when it has ended. The fee is taken from every credit, and each
 * receipt keeps its share of it. A receipt that is confirmed now is stored once: confirmed, and credited if it is due.
 * @param sums of all its receipts. Only if they show that stored ones are due, those are read
 * @param changed what the caller has changed of its receipts
 * @returns what was credited. The payment's version is left to the caller: `countChanges`
 */
export async function creditReceipts(
  transaction: Transaction,
  ledger: Ledger,
  payment: PaymentRow,
  sums: readonly ReceiptSum[],
  changed: ChangedReceipts,
): Promise<readonly ReceiptRow[]> {
  const hasEnded = statusOf(payment.state) !== 'in progress';
  const isDue = (receipt: Pick<ReceiptFact, 'currency' | 'network'>) =>
    hasEnded || !countsTowards(payment, receipt);
  const hasStored = sums.some((sum) => sum.isStored && sum.isConfirmed && !sum.isCredited && isDue(sum));
  const stored = hasStored ? await findUncredited(transaction, payment, hasEnded) : [];
  const confirmed = changed.confirmed.map(({ after }) => after).filter(isDue);
  const due = [...stored, ...confirmed].sort(byAge);
  const postings = [...changed.postings];
  const changes = new Map(changed.confirmed.map((change) => [change.after.id, change]));
  const credited: ReceiptRow[] = [];
  for (const { key, receipts } of creditsFor(payment, due)) {
    const amounts = receipts.map((receipt) => receipt.amount);
    const fees = feeShares(amounts, payment.fee_basis_points);
    receipts.forEach((receipt, index) => {
      const after = { ...receipt, is_credited: true, credited_fee: fees[index] ?? 0n };
      const change = changes.get(receipt.id);
      changes.set(receipt.id, { before: change ? change.before : receipt, after });
      credited.push(after);
    });
    postings.push(creditPosting(payment, key, receipts[0]?.currency ?? '', sum(amounts), sum(fees)));
  }
  await ledger.postAll(transaction, postings);
  await writeReceipts(transaction, [...changes.values()]);
  return credited;
}

function creditsFor(payment: PaymentRow, due: readonly ReceiptRow[]): Credit[] {
  const single = (receipt: ReceiptRow) => ({ key: receiptKey('credit', receipt), receipts: [receipt] });
  const credits = due.filter((receipt) => !countsTowards(payment, receipt)).map(single);
  const counting = due.filter((receipt) => countsTowards(payment, receipt));
  if (counting.length === 0) return credits;
  // The first success posts all counting receipts as one settlement. Later receipts are credited one by one.
  const isFirstSuccess = statusOf(payment.state) === 'success' && payment.settled_at === null;
  return isFirstSuccess
    ? [...credits, { key: `settlement:${payment.id}`, receipts: counting }]
    : [...credits, ...counting.map(single)];
}

function creditPosting(
  { id, mode, merchant_id: merchantId }: PaymentRow,
  key: PostingKey,
  currency: string,
  amount: bigint,
  fee: bigint,
): Posting {
  return {
    key,
    mode,
    currency,
    paymentId: id,
    entries: [
      { account: { kind: 'unallocated', merchantId }, debit: amount },
      { account: { kind: 'available', merchantId }, credit: amount - fee },
      { account: { kind: 'fee_income' }, credit: fee },
    ],
  };
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/**
 * The sums that receipts brought their merchant, before the fee, by currency. Receipts that were lost again bring
 * nothing.
 */
export function creditsOf(
  receipts: readonly Pick<ReceiptRow, 'currency' | 'amount' | 'credited_fee' | 'is_credited'>[],
) {
  const sums = new Map<string, { currency: string; amount: bigint; fee: bigint }>();
  for (const { currency, amount, credited_fee: fee, is_credited: isCredited } of receipts) {
    if (!isCredited) continue;
    const sum = sums.get(currency) ?? { currency, amount: 0n, fee: 0n };
    sums.set(currency, { currency, amount: sum.amount + amount, fee: sum.fee + fee });
  }
  return [...sums.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}
