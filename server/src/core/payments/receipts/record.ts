/** Brings receipts up to date with the chain as a scan found it, and stores them. */
import type { ReceiptRow } from '../../db/schema.js';
import type { Transaction } from '../../db/engine.js';
import { isUnavailable } from '../../db/errors.js';
import { isolate } from '../../db/savepoint.js';
import { pauseIfLong } from '../../shared/pause.js';
import { scopeOf } from '../../shared/scope.js';
import type { IncomingTransfer } from './new-receipts.js';
import { countsTowards } from '../assess.js';
import { replaceByBalance, retireChanged } from './replaced.js';
import {
  countChanges,
  isUnchanged,
  markArrived,
  writeReceipts,
  type ReceiptChange,
} from './receipt-store.js';
import { addToLog, moveTo, newWork, type ReceiptsContext, type Scan, type Work } from './work.js';
import { release } from './quarantine.js';
import { appendLog, type PaymentRow } from '../store.js';

/**
 * Makes the new receipts, and finds where the known ones are. A transfer whose receipt cannot be made is quarantined.
 * Deposits to wallets are added to `works`, which are by payment.
 */
export function createRecordReceipts(context: ReceiptsContext) {
  const { clock, payments, logEntryOf, quarantine } = context;
  const { firstSeen, atBlock, newReceipt } = context.newReceipts;

  /** The payment that a transfer belongs to: the one with its address, or a new deposit if it went to a wallet. */
  async function paymentOf(
    transaction: Transaction,
    { transfer, address }: IncomingTransfer,
    network: string,
    works: ReadonlyMap<string, Work>,
  ): Promise<PaymentRow> {
    if (address.payment_id !== null) {
      const work = works.get(address.payment_id);
      if (!work) throw new Error(`The payment ${address.payment_id} of a receipt does not exist`);
      return work.payment;
    }
    if (address.wallet_id === null) {
      throw new Error(`The address ${address.id} belongs to neither a payment nor a wallet`);
    }
    const { currency, amount } = transfer;
    return payments.deposit(transaction, address.wallet_id, { address, network, currency, amount });
  }

  /** A deposit to a wallet is a new payment, which needs statements of its own. All other failures change nothing. */
  async function attempt(transaction: Transaction, { address }: IncomingTransfer, work: () => Promise<void>) {
    if (address.wallet_id !== null) return isolate(transaction, work);
    try {
      await work();
      return undefined;
    } catch (error) {
      // It concerns the whole transaction.
      if (isUnavailable(error)) throw error;
      return { error };
    }
  }

  return async (transaction: Transaction, scan: Scan, works: Map<string, Work>): Promise<void> => {
    const { network, incoming, orphanedAbove, quarantined } = scan;
    await retireChanged(transaction, scan, works);
    await replaceByBalance(transaction, scan, works);
    const known = new Map<string, Work>();
    for (const work of works.values()) for (const key of work.receipts.keys()) known.set(key, work);
    const added: ReceiptRow[] = [];

    for (const [key, found] of incoming) {
      await pauseIfLong();
      const work = known.get(key);
      const receipt = work?.receipts.get(key);
      const previous = quarantined.get(key);
      if (work && receipt) {
        // Its payment can be read again.
        if (previous) await release(transaction, previous);
        const isBack = receipt.status === 'dropped' || receipt.status === 'reversed';
        const current: ReceiptRow = {
          ...receipt,
          // It counts from when it came back: it could have been kept back until the rate had changed.
          ...(isBack && { status: 'seen' as const, ...firstSeen(found, work.payment) }),
          ...moveTo(receipt, found.block, scan),
          ...atBlock(receipt, found, work.payment),
        };
        if (isUnchanged(receipt, current)) continue;
        if (isBack) addToLog(work.log, receipt, logEntryOf('transfer_seen_again', receipt));
        work.receipts.set(key, current);
        work.hasNews ||= !isInertMove(receipt, current, work.payment, clock.now(scopeOf(work.payment)));
        continue;
      }
      const failure = await attempt(transaction, found, async () => {
        const payment = await paymentOf(transaction, found, network, works);
        const owner = works.get(payment.id) ?? newWork(payment);
        const receipt = await newReceipt(transaction, found, network, payment, added);
        const code = countsTowards(payment, receipt) ? 'transfer_seen' : 'other_transfer_seen';
        addToLog(owner.log, receipt, logEntryOf(code, receipt));
        owner.receipts.set(key, receipt);
        owner.hasNews = true;
        works.set(payment.id, owner);
        added.push(receipt);
      });
      if (failure) {
        const failed = {
          ...scan,
          id: key,
          paymentId: found.address.payment_id,
          transfer: found,
          ...failure,
        };
        await quarantine(transaction, failed, previous);
      } else if (previous) await release(transaction, previous);
    }

    for (const work of works.values()) {
      for (const [key, receipt] of work.receipts) {
        const isOrphaned =
          orphanedAbove !== undefined && !incoming.has(key) && (receipt.block_height ?? 0) > orphanedAbove;
        if (!isOrphaned) continue;
        const { currency, amount } = receipt;
        const lost = { transfer: { currency, amount }, block: undefined, seenAt: 0 };
        const current = {
          ...receipt,
          ...moveTo(receipt, undefined, scan),
          ...atBlock(receipt, lost, work.payment),
        };
        work.receipts.set(key, current);
        work.hasNews = true;
      }
    }
  };
}

/**
 * Stores receipts as they are on the chain, so that they are kept even if their payments cannot be brought up to date.
 * @param confirming the ids of those that are stored when they are confirmed, or once that has failed
 */
export async function storeReceipts(
  transaction: Transaction,
  works: Iterable<Work>,
  confirming: ReadonlySet<string> = new Set(),
): Promise<void> {
  const changes: ReceiptChange[] = [];
  const later: ReceiptChange[] = [];
  for (const work of works) {
    for (const after of work.receipts.values()) {
      const before = work.stored.get(after.id);
      if (before && isUnchanged(before, after)) continue;
      if (confirming.has(after.id)) {
        later.push({ before, after });
        continue;
      }
      changes.push({ before, after });
      work.stored.set(after.id, after);
      work.isUncounted = true;
    }
    await pauseIfLong();
  }
  await markArrived(
    transaction,
    [...changes, ...later].map(({ after }) => after),
  );
  await writeReceipts(transaction, changes);
}

/** Stores the rest of payments that were not settled: their log entries, and that their receipts have changed. */
export async function storeRest(
  transaction: Transaction,
  clock: ReceiptsContext['clock'],
  works: readonly Work[],
): Promise<void> {
  for (const { payment, log } of works) {
    if (log.length === 0) continue;
    await appendLog(transaction, payment.id, clock.now(scopeOf(payment)), log);
    await pauseIfLong();
  }
  const uncounted = works.filter(({ isUncounted }) => isUncounted);
  await countChanges(
    transaction,
    uncounted.map(({ payment }) => payment.id),
  );
}

/**
 * True if a receipt only got into a block, and its payment has not ended: nothing else of the payment depends on that. After the
 * deadline, it may have waited for the block.
 */
function isInertMove(before: ReceiptRow, after: ReceiptRow, payment: PaymentRow, now: number): boolean {
  return (
    [before, after].every(({ status }) => status === 'seen') &&
    before.block_height === null &&
    before.first_seen_at === after.first_seen_at &&
    payment.cancelled_at === null &&
    now < payment.expires_at
  );
}
