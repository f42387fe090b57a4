/**
 * Brings a payment's state, log and ledger up to date with its facts. Receipts change a payment only through here. Confirmed
 * funds are credited to the merchant in one settlement on success, and otherwise receipt by receipt.
 */
import { statusOf } from 'crypto-checkout/contract';
import { scopeOf, type Actor } from '../shared/scope.js';
import type { Announcements } from './announcements.js';
import {
  assess,
  countsTowards,
  findingsOf,
  isTakenShort,
  totals,
  type PaymentFacts,
  type ReceiptFact,
} from './assess.js';
import { shownConfirmations } from './depth.js';
import { nowFor, readFacts, readUntilOf, type ReceiptSum } from './payment-facts.js';
import type { PaymentsDeps } from './payments-deps.js';
import { assessDeposit, logEntriesOfDeposit } from './deposits.js';
import { isDust } from './dust.js';
import { formatUnits } from '../money/units.js';
import * as store from './store.js';
import type { LogEntry, PaymentRow } from './store.js';
import { logEntriesOfChange, type Sums } from './log-messages.js';
import { createLogEntryOf } from './receipts/log.js';
import { receiptKey } from './receipts/postings.js';
import {
  byAge,
  countChanges,
  findUncredited,
  writeReceipts,
  type ReceiptChange,
} from './receipts/receipt-store.js';
import { feeShares } from './quote.js';
import type { Ledger, Posting } from '../ledger/ledger.js';
import type { PostingKey } from '../ledger/posting-kinds.js';
import { newlyUnaccepted } from './unaccepted.js';
import type { Transaction } from '../db/engine.js';
import { tables, type ReceiptRow } from '../db/schema.js';

const { findings: findingsColumn } = tables.payments.columns;

/** Changes that a scan makes to the receipts of a payment. */
export interface ChangedReceipts {
  /** They come before those of credits: all are posted with the same statements. */
  readonly postings: readonly Posting[];
  /** Receipts that are confirmed now, and not stored as confirmed yet. */
  readonly confirmed: readonly ReceiptChange[];
  /** True if other receipts have changed. They are stored already. */
  readonly isChanged: boolean;
  /** Comes before the log entries of the change that they cause. */
  readonly log: readonly LogEntry[];
}

const noReceipts: ChangedReceipts = { postings: [], confirmed: [], isChanged: false, log: [] };

export type UpdatePayment = ReturnType<typeof createUpdatePayment>;

export function createUpdatePayment(deps: PaymentsDeps, announcements: Announcements) {
  const { clock, currencies, ledger, onStatusChange } = deps;
  const logEntryOf = createLogEntryOf(currencies);

  function sumsOf(row: PaymentRow, facts: PaymentFacts): Sums | undefined {
    if (row.currency === null) return undefined;
    const currency = currencies.known(row.currency);
    const network = currencies.network(row.mode, row.network ?? '');
    const { confirmed, seen } = totals(facts);
    const amount = facts.amount ?? 0n;
    return {
      currency: currency.code,
      amount: formatUnits(amount, currency),
      received: formatUnits(confirmed, currency),
      excess: confirmed > amount ? formatUnits(confirmed - amount, currency) : '0',
      seen: formatUnits(seen, currency),
      confirmations: String(network ? shownConfirmations(row.required_confirmations, network) : 0),
    };
  }

  /**
   * @param payment locked, as it is stored
   * @param cancelledBy the kind of key that has just cancelled the payment
   * @param changed those of its receipts that the caller has changed. All others are stored
   */
  return async (
    transaction: Transaction,
    payment: PaymentRow,
    cancelledBy?: Actor['kind'],
    changed: ChangedReceipts = noReceipts,
  ): Promise<void> => {
    const { id } = payment;
    const scope = scopeOf(payment);
    const now = nowFor(payment, clock);
    const facts = await readFacts(transaction, payment, now, deps.factsOf, changed.confirmed);
    const isDeposit = payment.wallet_id !== null;
    // The height that the chain was read to matters only after the deadline.
    const readUntil = clock.at(
      scope,
      now < payment.expires_at ? Number.NEGATIVE_INFINITY : await readUntilOf(transaction, payment),
    );
    const state = isDeposit ? assessDeposit(facts) : assess(facts, now, readUntil);
    const isTooSmall = (sum: Parameters<typeof isDust>[2]) => isDust(currencies, payment, sum);
    const before = { state: payment.state, findings: payment.findings };
    // A deposit is whatever arrived.
    const after = {
      state,
      findings: isDeposit ? [] : findingsOf(facts, state, isTooSmall),
      isTakenShort: isTakenShort(facts, now, readUntil),
    };
    const { findings } = after;
    const logEntriesOf = isDeposit ? logEntriesOfDeposit : logEntriesOfChange;
    const ofChange = logEntriesOf(before, after, sumsOf(payment, facts));
    const isFirstSuccess = statusOf(state) === 'success' && payment.settled_at === null;
    const changes = { state, findings, updated_at: now, ...(isFirstSuccess && { settled_at: now }) };
    const hasChanged =
      state !== payment.state || findingsColumn.write(findings) !== findingsColumn.write(payment.findings);
    if (hasChanged) await store.updatePayment(transaction, id, changes);
    const credited = await creditReceipts(
      transaction,
      ledger,
      { ...payment, state },
      facts.receipts,
      changed,
    );
    const haveReceiptsChanged = changed.isChanged || changed.confirmed.length > 0 || credited.length > 0;
    // A change of the payment itself is counted with it.
    if (!hasChanged && haveReceiptsChanged) await countChanges(transaction, [id]);
    const unaccepted = isDeposit ? [] : newlyUnaccepted(facts, state, credited, isTooSmall);
    const ofUnaccepted = unaccepted.map(({ amount, ...asset }) =>
      logEntryOf('unaccepted', { ...asset, mode: payment.mode, amount }),
    );
    await store.appendLog(transaction, id, now, [...changed.log, ...ofUnaccepted, ...ofChange]);
    const status = statusOf(state);
    if (status !== statusOf(payment.state)) {
      await onStatusChange(transaction, { ...payment, ...changes, status, cancelledBy });
    }
    if (!hasChanged && unaccepted.length === 0) return;
    await announcements.publish(transaction, before, { ...payment, ...changes }, after, unaccepted);
  };
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
 * @param changed those of its receipts that the caller has changed
 * @returns the receipts credited. The payment's version is left to the caller: `countChanges`
 */
async function creditReceipts(
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
