/** Keeps receipts in step with the chain: posts them when they are confirmed, and reverses them when they are lost. */
import { transferKey, type ScanBatch, type ScanSink } from '../../scanning/scan.js';
import type { UncheckedReceipt } from '../../scanning/scan.js';
import type { Depth } from '../../chains/networks.js';
import type { Transaction } from '../../db/engine.js';
import type { ReceiptRow } from '../../db/schema.js';
import { isolate } from '../../db/savepoint.js';
import { pauseIfLong } from '../../shared/pause.js';
import { findIncoming, followQuarantine, goneTransfers, presentTransfers } from './new-receipts.js';
import { createNewReceipts, type NewReceiptsDeps } from './make-receipt.js';
import type { PaymentsDeps } from '../payments-deps.js';
import type { Posting } from '../../ledger/ledger.js';
import { scopeOf } from '../../shared/scope.js';
import { lockPayments, type LogEntry, type PlainPayment } from '../store.js';
import { createRecordReceipts, storeReceipts, storeRest } from './record.js';
import { createLogEntryOf } from './log.js';
import { accountsOf, confirmation, reversal } from './postings.js';
import {
  affectedReceipts,
  findByBalance,
  findMissing,
  findReceipts,
  findUnchecked,
  liveReceiptsOf,
  markArrived,
  storeChecked,
  writeReceipts,
  type ReceiptChange,
  type ReceiptRef,
} from './receipt-store.js';
import { createChooseDue } from './choose-due.js';
import { createJudge, isReadyNow, readsStakes, takeVerdicts } from './stake.js';
import {
  addToLog,
  dueReceipts,
  isDeep,
  isDropped,
  newWork,
  type DueReceipts,
  type ReceiptsContext,
  type Scan,
  type Work,
} from './work.js';
import { createQuarantine, isRetryDue, readQuarantine, release } from './quarantine.js';
import { createSetAside, type Unreadable } from './unreadable.js';

interface ReceiptsDeps extends NewReceiptsDeps, Pick<PaymentsDeps, 'addresses' | 'ledger' | 'log'> {
  readonly payments: ReceiptsContext['payments'];
}

/**
 * The most receipts of one payment that one scan confirms or reverses. The rest waits for the next scan, so that a payment
 * with a flood of small transfers does not delay those of others.
 */
const budget = 1000;

export function createReceipts(deps: ReceiptsDeps): ScanSink {
  const { clock, currencies, addresses, ledger, payments } = deps;
  const logEntryOf = createLogEntryOf(currencies);
  const quarantine = createQuarantine(clock, deps.log);
  const newReceipts = createNewReceipts(deps);
  const context = { clock, ledger, payments, newReceipts, logEntryOf, quarantine };
  const setAside = createSetAside(quarantine, newReceipts);
  const recordReceipts = createRecordReceipts(context);
  const judge = createJudge(deps);
  const chooseDue = createChooseDue();

  /** Gathers what belongs to a batch. Keeps the quarantined transfers in step with it. */
  async function openScan(transaction: Transaction, batch: ScanBatch, realNow: number): Promise<Scan> {
    const quarantined = new Map((await readQuarantine(transaction, batch)).map((row) => [row.id, row]));
    const present = presentTransfers(batch);
    const incoming = await findIncoming(transaction, addresses, batch, realNow);
    await followQuarantine(transaction, batch, addresses, quarantined, incoming, present, realNow);
    return { ...batch, quarantined, incoming, present };
  }

  /**
   * Locks the payments that a scan may change, and reads those of their receipts that it may change: a payment can have
   * thousands.
   */
  async function findWorks(transaction: Transaction, scan: Scan, isWaiting: (paymentId: string) => boolean) {
    const { quarantined, incoming, present } = scan;
    const isDue = (receipt: ReceiptRef) => !isWaiting(receipt.payment_id);
    const { moved, due, gone } = await affectedReceipts(
      transaction,
      scan,
      [...new Set([...incoming.values()].map(({ transfer }) => transfer.txHash))],
      present && { present, gone: goneTransfers(scan, present) },
    );
    // Retried transfers missed the changes of the scans since they failed.
    const retried = [...quarantined.values()].filter(
      ({ id, transfer }) => transfer === null && !isWaiting(id),
    );
    const ofRetried = await liveReceiptsOf(
      transaction,
      scan,
      retried.map(({ id }) => id),
    );
    const byBalance = await findByBalance(transaction, scan, [
      ...new Set([...incoming.values()].map(({ address }) => address.address)),
    ]);
    const now = [...moved, ...byBalance, ...gone.filter(isDue), ...ofRetried];
    const { chosen, hasMore } = chooseDue(transaction, scan, due.filter(isDue), [
      ...now.map((receipt) => receipt.payment_id),
      ...[...incoming.values()].flatMap(({ address }) => address.payment_id ?? []),
    ]);
    const affected = [...now, ...chosen];
    const works = new Map<string, Work>();
    const unreadable = new Map<string, Unreadable>();
    const keep = (payment: PlainPayment, error: unknown) => {
      unreadable.set(payment.id, { payment, error, keys: new Set() });
    };
    const lockedIds = [
      ...retried.map(({ id }) => id),
      ...affected.map((receipt) => receipt.payment_id),
      ...[...incoming.values()].flatMap(({ address }) => address.payment_id ?? []),
    ];
    await pauseIfLong();
    for (const payment of await lockPayments(transaction, lockedIds, keep)) {
      works.set(payment.id, newWork(payment));
    }
    await pauseIfLong();
    const receipts = await findReceipts(
      transaction,
      affected.map(({ id }) => id),
      ({ payment_id, ...receipt }, error) => {
        const payment = works.get(payment_id)?.payment;
        if (payment) keep(payment, error);
        works.delete(payment_id);
        unreadable.get(payment_id)?.keys.add(keyOfReceipt(receipt));
      },
    );
    for (const receipt of receipts) {
      const { payment_id: id } = receipt;
      const key = keyOfReceipt(receipt);
      works.get(id)?.receipts.set(key, receipt);
      works.get(id)?.stored.set(receipt.id, receipt);
      unreadable.get(id)?.keys.add(key);
    }
    return { works, unreadable, hasMore };
  }

  /**
   * Judges receipts that are deep enough by all that is at stake with them, and marks those that must wait.
   * @param all of the scan. They are stored first if stored receipts are at stake too
   * @param works the payments whose receipts may be confirmed
   * @returns the ids of the receipts that are not confirmed now
   */
  async function judgeDue(
    transaction: Transaction,
    scan: Scan,
    all: readonly Work[],
    works: readonly Work[],
  ): Promise<ReadonlySet<string>> {
    const owners = new Map<string, { readonly work: Work; readonly key: string }>();
    const due: ReceiptRow[] = [];
    for (const work of works) {
      for (const [key, receipt] of work.receipts) {
        const { status, block_height: height } = receipt;
        if (status !== 'seen' || height === null || !isDeep(scan, receipt, height)) continue;
        owners.set(receipt.id, { work, key });
        due.push(receipt);
      }
    }
    if (due.length > 0 && readsStakes(currencies, scan)) await storeReceipts(transaction, all);
    const { changed, held } = takeVerdicts(scan, await judge(transaction, scan, due));
    for (const after of changed) {
      const owner = owners.get(after.id);
      owner?.work.receipts.set(owner.key, after);
    }
    return held;
  }

  return {
    hasDue: (reader, network) => isRetryDue(reader, network, clock.real()),

    async missing(reader, batch) {
      const { mode, network, orphanedAbove } = batch;
      const present = presentTransfers(batch);
      const gone = present && goneTransfers(batch, present);
      if (!present || (gone?.length === 0 && orphanedAbove === undefined)) return [];
      const rows = await findMissing(reader, { mode, network, orphanedAbove }, { present, gone });
      return rows.map((row) => ({ txHash: row.tx_hash, outputIndex: row.output_index }));
    },

    async unchecked(reader, place) {
      if (currencies.network(place.mode, place.network)?.crossCheckAbove === undefined) return [];
      return (await judge(reader, place, await findUnchecked(reader, place)))
        .filter((one) => one.needsCheck && isReadyNow(place, one))
        .map(({ receipt, required }) => toUnchecked(receipt, required));
    },

    async apply(transaction, batch) {
      const { mode, network } = batch;
      const realNow = clock.real();
      await storeChecked(transaction, batch.checked);
      const scan = await openScan(transaction, batch, realNow);
      const { quarantined } = scan;
      const isWaiting = (paymentId: string) => (quarantined.get(paymentId)?.retry_at ?? 0) > realNow;
      const { works, unreadable, hasMore } = await findWorks(transaction, scan, isWaiting);
      const readable = unreadable.size > 0 ? await setAside(transaction, scan, unreadable, isWaiting) : scan;
      if (works.size === 0 && readable.incoming.size === 0) return hasMore ? 'more' : 'complete';
      await pauseIfLong();
      await recordReceipts(transaction, readable, works);

      const all = [...works.values()];
      const current = all.filter(({ payment }) => !isWaiting(payment.id));
      const held = await judgeDue(transaction, scan, all, current);
      await pauseIfLong();
      const ready = current
        .map((work) => ({ work, due: dueReceipts(work, scan, held, budget) }))
        .sort((a, b) => (a.work.payment.id < b.work.payment.id ? -1 : 1));
      const receiptsOf = ({ receipts }: Work, keys: readonly string[]) =>
        keys.flatMap((key) => receipts.get(key) ?? []);
      const confirming = ready.flatMap(({ work, due }) => receiptsOf(work, due.confirmed));
      const lost = ready.flatMap(({ work, due }) => receiptsOf(work, due.lost));
      await storeReceipts(transaction, all, new Set(confirming.map(({ id }) => id)));
      await markArrived(transaction, lost);
      const posted = [...lost, ...confirming];
      if (posted.length > 0) await ledger.lock(transaction, mode, accountsOf(posted));

      const settled = new Set<Work>();
      for (const { work, due } of ready) {
        await pauseIfLong();
        const { id } = work.payment;
        const previous = quarantined.get(id);
        const hasWork = due.lost.length + due.confirmed.length + due.dropped > 0;
        if (!hasWork && !work.hasNews && !previous) continue;
        const failure = await isolate(transaction, () =>
          settleReceipts(context, transaction, scan, work, due),
        );
        if (failure) {
          await storeReceipts(transaction, [work]);
          const failed = { mode, network, id, paymentId: id, transfer: undefined, ...failure };
          await quarantine(transaction, failed, previous);
          continue;
        }
        settled.add(work);
        if (previous) await release(transaction, previous);
      }
      await storeRest(
        transaction,
        clock,
        all.filter((work) => !settled.has(work)),
      );
      return hasMore || ready.some(({ due }) => due.hasMore) ? 'more' : 'complete';
    },
  };
}

const keyOfReceipt = ({ tx_hash, output_index }: Pick<ReceiptRow, 'tx_hash' | 'output_index'>) =>
  transferKey(tx_hash, output_index);

function toUnchecked(receipt: ReceiptRow, required: Depth): UncheckedReceipt {
  const { id, currency, address, tx_hash: txHash, output_index: outputIndex } = receipt;
  return {
    id,
    currency,
    address,
    txHash,
    outputIndex,
    chainAmount: receipt.chain_amount,
    height: receipt.block_height ?? 0,
    blockHash: receipt.block_hash ?? '',
    needsFinality: required === null,
  };
}

/** Confirms, reverses and drops a payment's receipts, and reassesses the payment. */
async function settleReceipts(
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
