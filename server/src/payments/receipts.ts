/** Keeps receipts in step with the chain: posts them when they are confirmed, and reverses them when they are lost. */
import type { DepositAddresses } from '../chains/addresses/deposit-addresses.js';
import type { ChainBlock, ChainTransfer } from '../chains/chain.js';
import type { ScanBatch, ScanSink } from '../chains/scan.js';
import type { Clock } from '../shared/clock.js';
import type { Currencies } from '../money/currencies.js';
import type { AddressTable, ReceiptTable, SetAsideTable } from '../db/schema.js';
import type { Logger } from 'pino';
import type { NewId } from '../shared/ids.js';
import type { AccountName, CurrencyAccount, Ledger, Posting } from '../ledger/ledger.js';
import { formatUnits } from '../money/units.js';
import type { Payments } from './payments.js';
import { countsTowards } from './assess.js';
import { appendLog, type NewLogEntry, type StoredRecord } from './store.js';
import { convert, unitRate, type Denomination, type RateSource } from '../money/rates.js';
import { writeFraction } from './base-rate.js';
import {
  affectedPayments,
  insertReceipts,
  isUnchanged,
  transferKey,
  updateReceipts,
  type PresentTransfers,
} from './receipt-store.js';
import {
  isRetryDue,
  readArrival,
  readSetAside,
  setAside,
  takeBack,
  updateArrival,
  type Failed,
  type StoredArrival,
} from './set-aside.js';
import { isolate } from '../db/savepoint.js';
import { afterCommit } from '../db/transaction-context.js';
import { scopeOf, type Mode } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface ReceiptsDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly rates: RateSource;
  readonly currencies: Currencies;
  readonly addresses: DepositAddresses;
  readonly ledger: Ledger;
  readonly payments: Pick<Payments, 'lock' | 'deposit' | 'reassess'>;
  readonly log: Logger;
  /** The most receipts of one payment that one scan confirms or reverses. */
  readonly receiptsPerScan?: number;
}

/** A transfer to one of our addresses, and the block it is in, if any. */
interface Arrival extends StoredArrival {
  readonly address: AddressTable;
}

/** A payment whose receipts on the network may change, step by step. */
interface Work {
  record: StoredRecord;
  /** By the key of their transfer, as far as they are brought up to date. Only those on this network. */
  readonly receipts: Map<string, ReceiptTable>;
  /** The log entries about changes that are not stored yet. */
  readonly notes: NewLogEntry[];
  /** Whether a receipt was added, or its place on the chain has changed. */
  hasNews: boolean;
}

/**
 * The most receipts of one payment that one scan confirms or reverses. The rest waits for the next scan, so that a payment
 * with a flood of small transfers does not delay those of others.
 */
const defaultBudget = 1000;

export function createReceipts(deps: ReceiptsDeps): ScanSink {
  const { clock, newId, rates, currencies, addresses, ledger, payments, log } = deps;
  const budget = deps.receiptsPerScan ?? defaultBudget;

  function describe(receipt: Pick<ReceiptTable, 'amount' | 'currency' | 'network'>): string {
    const currency = currencies.known(receipt.currency);
    return `${formatUnits(BigInt(receipt.amount), currency)} ${currency.code} on ${receipt.network}`;
  }

  /** What the log says about a receipt, for pages in other languages. */
  function valuesOf({ amount, currency, network }: Pick<ReceiptTable, 'amount' | 'currency' | 'network'>) {
    return { amount: formatUnits(BigInt(amount), currencies.known(currency)), currency, network };
  }

  /** Two currencies at their latest rates; undefined if a rate is unknown. */
  function pair(from: string, to: string): [Denomination, Denomination] | undefined {
    const fromRate = rates.latest(from);
    const toRate = rates.latest(to);
    return (
      fromRate &&
      toRate && [
        { rate: fromRate, decimals: currencies.known(from).decimals },
        { rate: toRate, decimals: currencies.known(to).decimals },
      ]
    );
  }

  /** What a transfer is worth now, and since when it counts. */
  function firstSeen({ transfer, block, seenAt }: Arrival, payment: StoredRecord) {
    const { currency, amount } = transfer;
    const offset = clock.now(scopeOf(payment)) - clock.real();
    const now = seenAt + offset;
    const value = (to: string) => {
      const rated = pair(currency, to);
      return rated ? convert(amount, ...rated, 'nearest').toString() : null;
    };
    const base = pair(currency, payment.base_currency);
    return {
      // A block's time is real; the receipt's is on the merchant's clock.
      first_seen_at: block ? Math.min(now, block.time + offset) : now,
      naira_value: value('NGN'),
      dollar_value: value('USD'),
      base_rate: base ? writeFraction(unitRate(...base)) : null,
    };
  }

  function newReceipt(arrival: Arrival, network: string, payment: StoredRecord): ReceiptTable {
    const { transfer, block, address } = arrival;
    return {
      id: newId(),
      payment_id: payment.id,
      merchant_id: payment.merchant_id,
      mode: payment.mode,
      network,
      address: address.address,
      currency: transfer.currency,
      tx_hash: transfer.txHash,
      output_index: transfer.outputIndex,
      amount: transfer.amount.toString(),
      senders: JSON.stringify(transfer.senders),
      block_height: block?.height ?? null,
      block_hash: block?.hash ?? null,
      status: 'seen',
      confirmed_at: null,
      reversals: 0,
      is_credited: 0,
      credited_fee: '0',
      ...firstSeen(arrival, payment),
    };
  }

  /** The posting of a confirmed receipt: debits custody and credits unallocated. */
  function confirmation(receipt: ReceiptTable): Posting {
    const { merchant_id: merchantId, network, currency, mode } = receipt;
    const amount = BigInt(receipt.amount);
    return {
      key: receiptKey('receipt', receipt),
      mode,
      currency,
      paymentId: receipt.payment_id,
      entries: [
        { account: { kind: 'custody', network, merchantId }, debit: amount },
        { account: { kind: 'unallocated', merchantId }, credit: amount },
      ],
    };
  }

  /**
   * Undoes the posting of a confirmed receipt that the chain lost, and its credit if it had one.
   * @param available the merchant's balance before this posting
   */
  function reversal(receipt: ReceiptTable, available: bigint): { posting: Posting; taken: bigint } {
    const { merchant_id: merchantId, network, currency, mode } = receipt;
    const amount = BigInt(receipt.amount);
    const isCredited = receipt.is_credited === 1;
    const fee = BigInt(receipt.credited_fee);
    const share = isCredited ? amount - fee : 0n;
    // What the merchant has already withdrawn cannot be taken back. It becomes a debt that later credits repay.
    const taken = share < available ? share : available;
    const posting = {
      key: receiptKey('reversal', receipt),
      mode,
      currency,
      paymentId: receipt.payment_id,
      entries: [
        { account: { kind: 'available', merchantId }, debit: taken },
        { account: { kind: 'unallocated', merchantId, isDebt: true }, debit: share - taken },
        { account: { kind: 'fee_income' }, debit: fee },
        { account: { kind: 'unallocated', merchantId }, debit: isCredited ? 0n : amount },
        { account: { kind: 'custody', network, merchantId }, credit: amount },
      ],
    } as const satisfies Posting;
    return { posting, taken };
  }

  /** The payment that a transfer belongs to: the one with its address, or a new deposit if it went to a wallet. */
  async function paymentOf(
    transaction: Transaction,
    { transfer, address }: Arrival,
    network: string,
    works: ReadonlyMap<string, Work>,
  ): Promise<StoredRecord> {
    if (address.payment_id !== null) {
      const work = works.get(address.payment_id);
      if (!work) throw new Error(`The payment ${address.payment_id} of a receipt does not exist`);
      return work.record;
    }
    if (address.wallet_id === null) {
      throw new Error(`The address ${address.id} belongs to neither a payment nor a wallet`);
    }
    const { currency, amount } = transfer;
    return payments.deposit(transaction, address.wallet_id, { address, network, currency, amount });
  }

  /**
   * Stores what the chain says: new receipts, and where the known ones are. A transfer whose receipt cannot be stored is
   * set aside.
   */
  async function storeFacts(transaction: Transaction, scan: Scan, works: Map<string, Work>): Promise<void> {
    const { network, arrivals, orphanedAbove, confirmations, confirmedUpTo, aside } = scan;
    const known = new Map<string, Work>();
    for (const work of works.values()) for (const key of work.receipts.keys()) known.set(key, work);
    const added: ReceiptTable[] = [];
    const moved: ReceiptTable[] = [];

    for (const [key, arrival] of arrivals) {
      const work = known.get(key);
      const receipt = work?.receipts.get(key);
      if (work && receipt) {
        const isBack = receipt.status === 'dropped' || receipt.status === 'reversed';
        const current: ReceiptTable = {
          ...receipt,
          // It counts from when it came back: it could have been kept back until the rate had changed.
          ...(isBack && { status: 'seen' as const, ...firstSeen(arrival, work.record) }),
          ...moveTo(receipt, arrival.block, confirmedUpTo),
        };
        if (isUnchanged(receipt, current)) continue;
        if (isBack) {
          work.notes.push({
            type: 'event',
            event: `Seen again: ${describe(receipt)}`,
            code: 'transfer_seen_again',
            values: valuesOf(receipt),
          });
        }
        work.receipts.set(key, current);
        work.hasNews = true;
        moved.push(current);
        continue;
      }
      const failure = await attempt(transaction, arrival, async () => {
        const record = await paymentOf(transaction, arrival, network, works);
        const payment = works.get(record.id) ?? newWork(record, network);
        const inserted = newReceipt(arrival, network, record);
        works.set(record.id, payment);
        payment.receipts.set(key, inserted);
        payment.hasNews = true;
        added.push(inserted);
        const doesCount = countsTowards(record, inserted);
        payment.notes.push({
          type: 'event',
          event: doesCount
            ? `Seen: ${describe(inserted)}, waiting for ${confirmations} confirmations`
            : `Seen: ${describe(inserted)}, which does not count towards this payment`,
          code: doesCount ? 'transfer_seen' : 'other_transfer_seen',
          values: { ...valuesOf(inserted), ...(doesCount && { confirmations: String(confirmations) }) },
        });
      });
      const former = aside.get(key);
      if (failure) {
        const failed = { ...scan, id: key, paymentId: arrival.address.payment_id, arrival, ...failure };
        await putAside(transaction, failed, former);
      } else if (former) await takeBack(transaction, former);
    }

    for (const work of works.values()) {
      for (const [key, receipt] of work.receipts) {
        const isOrphaned =
          orphanedAbove !== undefined && !arrivals.has(key) && (receipt.block_height ?? 0) > orphanedAbove;
        if (!isOrphaned) continue;
        const current = { ...receipt, ...moveTo(receipt, undefined, confirmedUpTo) };
        work.receipts.set(key, current);
        work.hasNews = true;
        moved.push(current);
      }
    }
    await insertReceipts(transaction, added);
    await updateReceipts(transaction, moved);
    for (const work of works.values()) await storeNotes(transaction, work);
  }

  async function storeNotes(transaction: Transaction, work: Work): Promise<void> {
    const { record, notes } = work;
    if (notes.length === 0) return;
    const now = clock.now(scopeOf(record));
    const logged = await appendLog(transaction, record.id, now, notes.splice(0));
    work.record = { ...record, log: [...record.log, ...logged] };
  }

  /** A deposit to a wallet is a new payment, which needs statements of its own. All other failures change nothing. */
  async function attempt(transaction: Transaction, { address }: Arrival, work: () => Promise<void>) {
    if (address.wallet_id !== null) return isolate(transaction, work);
    try {
      await work();
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async function putAside(
    transaction: Transaction,
    failed: Failed,
    former: SetAsideTable | undefined,
  ): Promise<void> {
    await setAside(transaction, failed, former, clock.real());
    const { id, paymentId, mode, network, error } = failed;
    afterCommit(() =>
      log.error(
        { err: error, mode, network, id, paymentId },
        'A payment was set aside, because it cannot be processed; the network goes on, and it is tried again',
      ),
    );
  }

  /** Confirms, reverses and drops a payment's receipts, and brings the payment up to date with them. */
  async function settle(transaction: Transaction, scan: Scan, work: Work, due: DueReceipts): Promise<void> {
    const { record, receipts } = work;
    const now = clock.now(scopeOf(record));
    const postings: Posting[] = [];
    const changed: ReceiptTable[] = [];
    const notes: NewLogEntry[] = [];
    const change = (key: string, receipt: ReceiptTable) => {
      receipts.set(key, receipt);
      changed.push(receipt);
    };

    const available = new Map<string, bigint>();
    for (const key of due.lost) {
      const receipt = receipts.get(key);
      if (!receipt) continue;
      const { currency, merchant_id: merchantId } = receipt;
      const before =
        available.get(currency) ??
        (await ledger.balance(transaction, record.mode, currency, { kind: 'available', merchantId }));
      const { posting, taken } = reversal(receipt, before);
      available.set(currency, before - taken);
      postings.push(posting);
      change(key, {
        ...receipt,
        status: 'seen',
        confirmed_at: null,
        is_credited: 0,
        credited_fee: '0',
        reversals: receipt.reversals + 1,
      });
      notes.push({
        type: 'error',
        event: `Confirmation lost: ${describe(receipt)} is no longer in its block`,
        code: 'transfer_unconfirmed',
        values: valuesOf(receipt),
      });
    }
    for (const key of due.confirmed) {
      const receipt = receipts.get(key);
      if (!receipt) continue;
      postings.push(confirmation(receipt));
      change(key, { ...receipt, status: 'confirmed', confirmed_at: now });
      notes.push({
        type: 'event',
        event: `Received: ${describe(receipt)}, confirmed`,
        code: 'transfer_confirmed',
        values: valuesOf(receipt),
      });
    }
    for (const [key, receipt] of receipts) {
      if (!isDropped(receipt, key, scan)) continue;
      change(key, { ...receipt, status: receipt.reversals > 0 ? 'reversed' : 'dropped' });
      notes.push({
        type: 'error',
        event: `Dropped from the network: ${describe(receipt)}`,
        code: 'transfer_dropped',
        values: valuesOf(receipt),
      });
    }

    await ledger.postAll(transaction, postings, now);
    // A receipt that is lost and dropped at once was changed twice: the later change holds.
    await updateReceipts(transaction, [...new Map(changed.map((receipt) => [receipt.id, receipt])).values()]);
    await payments.reassess(
      transaction,
      { ...record, receipts: merge(record.receipts, [...receipts.values()]) },
      notes,
    );
  }

  return {
    hasDue: (reader, network) => isRetryDue(reader, network, clock.real()),

    async apply(transaction, batch) {
      const { mode, network, head } = batch;
      const confirmations = currencies.network(mode, network)?.confirmations ?? 0;
      // A finalized block cannot be reorganised, however few blocks follow it.
      const confirmedUpTo = Math.max(head.height - confirmations + 1, head.finalizedHeight ?? 0);
      const realNow = clock.real();
      const aside = new Map((await readSetAside(transaction, batch)).map((row) => [row.id, row]));
      const present = presentTransfers(batch);
      const arrivals = await findArrivals(transaction, addresses, batch, realNow);
      await followSetAside(transaction, batch, addresses, aside, arrivals, present, realNow);
      const scan: Scan = { ...batch, confirmations, confirmedUpTo, aside, arrivals, present };

      const affected = await affectedPayments(transaction, {
        ...{ mode, network, orphanedAbove: batch.orphanedAbove },
        txHashes: [...new Set([...arrivals.values()].map((arrival) => arrival.transfer.txHash))],
        confirmedUpTo,
        pending: present && { present, gone: goneTransfers(batch, present) },
      });
      for (const { id, arrival, retry_at } of aside.values()) {
        if (arrival === null && retry_at <= realNow) affected.add(id);
      }
      for (const { address } of arrivals.values()) {
        if (address.payment_id !== null) affected.add(address.payment_id);
      }
      if (affected.size === 0 && arrivals.size === 0) return 'complete';

      const records = await payments.lock(transaction, [...affected]);
      const works = new Map([...records].map(([id, record]) => [id, newWork(record, network)] as const));
      await storeFacts(transaction, scan, works);

      const isWaiting = ({ record }: Work) => (aside.get(record.id)?.retry_at ?? 0) > realNow;
      const ready = [...works.values()]
        .filter((work) => !isWaiting(work))
        .map((work) => ({ work, due: dueReceipts(work, scan, budget) }))
        .sort((a, b) => (a.work.record.id < b.work.record.id ? -1 : 1));
      const posted = ready.flatMap(({ work, due }) =>
        [...due.lost, ...due.confirmed].flatMap((key) => work.receipts.get(key) ?? []),
      );
      if (posted.length > 0) await ledger.lock(transaction, mode, accountsOf(posted));

      for (const { work, due } of ready) {
        const { id } = work.record;
        const former = aside.get(id);
        const hasWork = due.lost.length + due.confirmed.length + due.dropped > 0;
        if (!hasWork && !work.hasNews && !former) continue;
        const failure = await isolate(transaction, () => settle(transaction, scan, work, due));
        if (failure) {
          const failed = { mode, network, id, paymentId: id, arrival: undefined, ...failure };
          await putAside(transaction, failed, former);
        } else if (former) await takeBack(transaction, former);
      }
      return ready.some(({ due }) => due.hasMore) ? 'more' : 'complete';
    },
  };
}

/** A batch, and what belongs to it in the database. */
interface Scan extends ScanBatch {
  readonly confirmations: number;
  /** Receipts in blocks up to this height have enough confirmations, or are final. */
  readonly confirmedUpTo: number;
  /** What is set aside on the network, by id. */
  readonly aside: ReadonlyMap<string, SetAsideTable>;
  readonly arrivals: ReadonlyMap<string, Arrival>;
  readonly present: PresentTransfers | undefined;
}

function newWork(record: StoredRecord, network: string): Work {
  const receipts = new Map(
    record.receipts
      .filter((receipt) => receipt.network === network)
      .map((receipt) => [transferKey(receipt.tx_hash, receipt.output_index), receipt]),
  );
  return { record, receipts, notes: [], hasNews: false };
}

/**
 * Where a receipt is now. In another block that is not deep enough, it loses its confirmation: `confirmed_at` is null until
 * that is settled, which can take several scans.
 */
function moveTo(
  receipt: ReceiptTable,
  block: Arrival['block'],
  confirmedUpTo: number,
): Pick<ReceiptTable, 'block_height' | 'block_hash' | 'confirmed_at'> {
  const isKept = block !== undefined && (block.hash === receipt.block_hash || block.height <= confirmedUpTo);
  return {
    block_height: block?.height ?? null,
    block_hash: block?.hash ?? null,
    confirmed_at: isKept ? receipt.confirmed_at : null,
  };
}

/** The receipts of a payment that change with this scan, by key. */
interface DueReceipts {
  readonly lost: readonly string[];
  readonly confirmed: readonly string[];
  readonly dropped: number;
  /** Whether the budget leaves some for the next scan. */
  readonly hasMore: boolean;
}

function dueReceipts({ receipts }: Work, scan: Scan, budget: number): DueReceipts {
  const isDeepEnough = ({ block_height: height }: ReceiptTable) =>
    height !== null && height <= scan.confirmedUpTo;
  const all = [...receipts];
  // While its block stands, a receipt keeps its confirmation, also if the chain is shorter than before.
  const lost = all.filter(([, receipt]) => receipt.status === 'confirmed' && receipt.confirmed_at === null);
  const confirmed = all.filter(([, receipt]) => receipt.status === 'seen' && isDeepEnough(receipt));
  const keys = (entries: typeof all, count: number) =>
    entries.slice(0, Math.max(0, count)).map(([key]) => key);
  return {
    // What is lost comes first: it must not be paid out.
    lost: keys(lost, budget),
    confirmed: keys(confirmed, budget - lost.length),
    dropped: all.filter(([key, receipt]) => isDropped(receipt, key, scan)).length,
    hasMore: lost.length + confirmed.length > budget,
  };
}

/** Whether a receipt that waits for a block is no longer pending. */
function isDropped(receipt: ReceiptTable, key: string, { present }: Scan): boolean {
  return (
    present !== undefined && receipt.status === 'seen' && receipt.block_height === null && !present.has(key)
  );
}

/** Undefined if the pending transfers were not read. */
function presentTransfers({ pending, blocks }: ScanBatch): PresentTransfers | undefined {
  if (!pending) return undefined;
  const inBlocks = new Set(blocks.flatMap((block) => block.transfers).map(keyOf));
  return { has: (key) => pending.has(key) || inBlocks.has(key) };
}

function keyOf({ txHash, outputIndex }: ChainTransfer): string {
  return transferKey(txHash, outputIndex);
}

/** The hashes of the transactions that the last scan saw pending, and that are now neither pending nor in a block. */
function goneTransfers(
  { formerPending }: ScanBatch,
  present: PresentTransfers,
): readonly string[] | undefined {
  if (!formerPending) return undefined;
  const gone = [...formerPending.keys()].filter((key) => !present.has(key));
  return [...new Set(gone.map((key) => key.slice(0, key.lastIndexOf(':'))))];
}

/** Replaces receipts by their newer versions and adds new ones, in the order in which the store reads them. */
function merge(receipts: readonly ReceiptTable[], newer: readonly ReceiptTable[]): ReceiptTable[] {
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  for (const receipt of newer) byId.set(receipt.id, receipt);
  return [...byId.values()].sort((a, b) => a.first_seen_at - b.first_seen_at || (a.id < b.id ? -1 : 1));
}

/**
 * The new transfers of a batch to our addresses. One that is both pending and in a block counts as in the block. Transfers
 * that were pending at the last scan and still are need no look: nothing about them has changed.
 */
async function findArrivals(
  transaction: Transaction,
  addresses: DepositAddresses,
  batch: ScanBatch,
  seenAt: number,
): Promise<Map<string, Arrival>> {
  const { pending = new Map<string, ChainTransfer>(), formerPending } = batch;
  const transfers = [
    ...[...pending]
      .filter(([key]) => !formerPending?.has(key))
      .map(([, transfer]) => ({ transfer, block: undefined })),
    ...withEarliestTimes(batch).flatMap(({ block, time }) =>
      block.transfers.map((transfer) => ({ transfer, block: { ...block, time } })),
    ),
    // Tokens let anyone forge a transfer of 0 between any two addresses (address poisoning). It is not a receipt.
  ].filter(({ transfer }) => transfer.amount > 0n);
  const arrivals = new Map<string, Arrival>();
  if (transfers.length === 0) return arrivals;
  const ours = await findAddresses(
    transaction,
    addresses,
    batch.mode,
    transfers.map(({ transfer }) => transfer.address),
  );
  for (const { transfer, block } of transfers) {
    const address = ours.get(transfer.address);
    if (!address) continue;
    arrivals.set(keyOf(transfer), { transfer, block, address, seenAt });
  }
  return arrivals;
}

/**
 * Blocks with the time when they can have been there at the earliest. Whoever makes a block sets its time, on Bitcoin up to an
 * hour too early, and could so make a late payment count as in time. But a block is no older than its parent, nor than the
 * last scan, which did not find it.
 */
function withEarliestTimes({ blocks, readUpTo }: ScanBatch): { block: ChainBlock; time: number }[] {
  return blocks.map((block, index) => ({
    block,
    time: Math.max(block.time, blocks[index - 1]?.time ?? 0, readUpTo),
  }));
}

async function findAddresses(
  transaction: Transaction,
  addresses: DepositAddresses,
  mode: Mode,
  wanted: readonly string[],
): Promise<Map<string, AddressTable>> {
  const found = await addresses.find(transaction, mode, [...new Set(wanted)]);
  return new Map(found.map((address) => [address.address, address]));
}

/**
 * Keeps the transfers that are set aside in step with the chain, and adds those that are due to the arrivals, with the time
 * when they were first seen.
 */
async function followSetAside(
  transaction: Transaction,
  { orphanedAbove }: ScanBatch,
  addresses: DepositAddresses,
  aside: Map<string, SetAsideTable>,
  arrivals: Map<string, Arrival>,
  present: PresentTransfers | undefined,
  now: number,
): Promise<void> {
  for (const row of [...aside.values()]) {
    if (row.arrival === null) continue;
    const stored = readArrival(row.arrival);
    const arrival = arrivals.get(row.id);
    if (arrival) {
      arrivals.set(row.id, { ...arrival, seenAt: stored.seenAt });
      continue;
    }
    const isOrphaned = orphanedAbove !== undefined && (stored.block?.height ?? 0) > orphanedAbove;
    const current = isOrphaned ? { ...stored, block: undefined } : stored;
    if (!current.block && present && !present.has(row.id)) {
      // It left the network before a receipt was stored: there is nothing to credit.
      await takeBack(transaction, row);
      aside.delete(row.id);
      continue;
    }
    if (isOrphaned) await updateArrival(transaction, row, current);
    if (row.retry_at > now) continue;
    const address = (await findAddresses(transaction, addresses, row.mode, [stored.transfer.address])).get(
      stored.transfer.address,
    );
    if (address) arrivals.set(row.id, { ...current, address });
  }
}

/** The accounts that confirming, crediting or reversing receipts posts to. */
function accountsOf(receipts: readonly ReceiptTable[]): CurrencyAccount[] {
  const accounts = new Map<string, CurrencyAccount>();
  for (const { merchant_id: merchantId, network, currency } of receipts) {
    const names: AccountName[] = [
      { kind: 'custody', network, merchantId },
      { kind: 'unallocated', merchantId },
      { kind: 'available', merchantId },
      { kind: 'fee_income' },
    ];
    for (const account of names)
      accounts.set(`${currency}/${account.kind}/${merchantId}`, { currency, account });
  }
  return [...accounts.values()];
}

function receiptKey(kind: 'receipt' | 'reversal', receipt: ReceiptTable): string {
  return receipt.reversals === 0 ? `${kind}:${receipt.id}` : `${kind}:${receipt.id}:${receipt.reversals}`;
}
