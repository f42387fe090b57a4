/** Keeps receipts in step with the chain: posts them when they are confirmed, and reverses them when they are lost. */
import type { DepositAddresses } from '../chains/addresses/deposit-addresses.js';
import type { ChainBlock, ChainTransfer } from '../chains/chain.js';
import type { ScanBatch, ScanSink } from '../chains/scan.js';
import type { Clock } from '../shared/clock.js';
import type { Currencies } from '../money/currencies.js';
import type { AddressTable, ReceiptTable } from '../db/schema.js';
import type { NewId } from '../shared/ids.js';
import type { AccountName, CurrencyAccount, Ledger } from '../ledger/ledger.js';
import { formatUnits } from '../money/units.js';
import type { Payments } from './payments.js';
import { countsTowards } from './assess.js';
import { feeOf } from './quote.js';
import type { NewLogEntry, StoredRecord } from './store.js';
import { convert, type RateSource } from '../money/rates.js';
import * as store from './receipt-store.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface ReceiptsDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly rates: RateSource;
  readonly currencies: Currencies;
  readonly addresses: DepositAddresses;
  readonly ledger: Ledger;
  readonly payments: Payments;
}

/** A transfer to one of our addresses, and the block it is in, if any. */
interface Arrival {
  readonly transfer: ChainTransfer;
  readonly block: ChainBlock | undefined;
  readonly address: AddressTable;
}

export function createReceipts(deps: ReceiptsDeps): ScanSink {
  const { clock, newId, rates, currencies, addresses, ledger, payments } = deps;

  function describe(receipt: Pick<ReceiptTable, 'amount' | 'currency' | 'network'>): string {
    const currency = currencies.known(receipt.currency);
    return `${formatUnits(BigInt(receipt.amount), currency)} ${currency.code} on ${receipt.network}`;
  }

  /** What the log says about a receipt, for pages in other languages. */
  function valuesOf({ amount, currency, network }: Pick<ReceiptTable, 'amount' | 'currency' | 'network'>) {
    return { amount: formatUnits(BigInt(amount), currencies.known(currency)), currency, network };
  }

  /** Converts an amount at the latest rates, to units of the other currency; null if a rate is unknown. */
  function worth(amount: bigint, from: string, to: string, rounding: 'down' | 'nearest'): string | null {
    const fromRate = rates.latest(from);
    const toRate = rates.latest(to);
    if (!fromRate || !toRate) return null;
    return convert(
      amount,
      { rate: fromRate, decimals: currencies.known(from).decimals },
      { rate: toRate, decimals: currencies.known(to).decimals },
      rounding,
    ).toString();
  }

  function newReceipt(
    { transfer, block, address }: Arrival,
    network: string,
    payment: StoredRecord,
  ): ReceiptTable {
    const now = clock.now(payment.mode);
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
      first_seen_at: block ? Math.min(now, block.time) : now,
      block_height: block?.height ?? null,
      block_hash: block?.hash ?? null,
      status: 'seen',
      confirmed_at: null,
      reversals: 0,
      is_credited: 0,
      naira_value: worth(transfer.amount, transfer.currency, 'NGN', 'nearest'),
      dollar_value: worth(transfer.amount, transfer.currency, 'USD', 'nearest'),
      base_value: worth(transfer.amount, transfer.currency, payment.base_currency, 'down'),
    };
  }

  /** Posts a receipt: debits custody and credits unallocated. */
  async function confirm(transaction: Transaction, receipt: ReceiptTable, mode: Mode): Promise<ReceiptTable> {
    const { merchant_id: merchantId, network, currency } = receipt;
    const amount = BigInt(receipt.amount);
    const now = clock.now(mode);
    await ledger.post(
      transaction,
      {
        key: receiptKey('receipt', receipt),
        mode,
        currency,
        paymentId: receipt.payment_id,
        entries: [
          { account: { kind: 'custody', network }, debit: amount },
          { account: { kind: 'unallocated', merchantId }, credit: amount },
        ],
      },
      now,
    );
    return { ...receipt, status: 'confirmed', confirmed_at: now };
  }

  /** Undoes the posting of a confirmed receipt that the chain lost, and its credit if it had one. */
  async function reverse(transaction: Transaction, receipt: ReceiptTable, payment: StoredRecord) {
    const { merchant_id: merchantId, network, currency } = receipt;
    const { mode } = payment;
    const amount = BigInt(receipt.amount);
    const available = await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
    const isCredited = receipt.is_credited === 1;
    const fee = isCredited ? feeOf(amount, payment.fee_basis_points) : 0n;
    const share = isCredited ? amount - fee : 0n;
    // What the merchant has already withdrawn cannot be taken back. It becomes a debt that later credits repay.
    const taken = share < available ? share : available;
    await ledger.post(
      transaction,
      {
        key: receiptKey('reversal', receipt),
        mode,
        currency,
        paymentId: receipt.payment_id,
        entries: [
          { account: { kind: 'available', merchantId }, debit: taken },
          { account: { kind: 'unallocated', merchantId, isDebt: true }, debit: share - taken },
          { account: { kind: 'fee_income' }, debit: fee },
          { account: { kind: 'unallocated', merchantId }, debit: isCredited ? 0n : amount },
          { account: { kind: 'custody', network }, credit: amount },
        ],
      },
      clock.now(mode),
    );
    return {
      ...receipt,
      status: 'seen' as const,
      confirmed_at: null,
      is_credited: 0 as const,
      reversals: receipt.reversals + 1,
    };
  }

  return {
    async apply(transaction, batch) {
      const { mode, network, head, orphanedAbove } = batch;
      const confirmations = currencies.network(mode, network)?.confirmations ?? 0;
      const arrivals = await findArrivals(transaction, addresses, batch);
      const affected = await store.affectedPayments(transaction, {
        mode,
        network,
        orphanedAbove,
        txHashes: [...arrivals.values()].map((arrival) => arrival.transfer.txHash),
        confirmedUpTo: head.height - confirmations + 1,
        isAtTip: batch.pending !== undefined,
      });
      if (affected.length === 0 && arrivals.size === 0) return;

      const records = await payments.lock(transaction, [
        ...affected,
        ...[...arrivals.values()].flatMap(({ address }) => address.payment_id ?? []),
      ]);
      const notes = createNotes();
      const recordOf = (id: string): StoredRecord => {
        const record = records.get(id);
        if (!record) throw new Error(`The payment ${id} of a receipt does not exist`);
        return record;
      };

      /** The payment that a transfer belongs to: the one with its address, or a new deposit if it went to a wallet. */
      const paymentOf = async ({ transfer, address }: Arrival): Promise<StoredRecord> => {
        if (address.payment_id !== null) return recordOf(address.payment_id);
        if (address.wallet_id === null) {
          throw new Error(`The address ${address.id} belongs to neither a payment nor a wallet`);
        }
        const { currency, amount } = transfer;
        const deposit = await payments.deposit(transaction, address.wallet_id, {
          address,
          network,
          currency,
          amount,
        });
        records.set(deposit.id, deposit);
        return deposit;
      };

      /** By transfer, brought up to date with the chain step by step. */
      const receipts = new Map<string, ReceiptTable>();
      /** By id, as they are in the database. */
      const stored = new Map<string, ReceiptTable>();
      for (const receipt of [...records.values()].flatMap((record) => record.receipts)) {
        if (receipt.network !== network) continue;
        stored.set(receipt.id, receipt);
        receipts.set(keyOf(receipt.tx_hash, receipt.output_index), receipt);
      }

      for (const [key, arrival] of arrivals) {
        const receipt = receipts.get(key);
        if (!receipt) {
          const payment = await paymentOf(arrival);
          const inserted = newReceipt(arrival, network, payment);
          await store.insertReceipt(transaction, inserted);
          stored.set(inserted.id, inserted);
          receipts.set(key, inserted);
          const doesCount = countsTowards(payment, inserted);
          notes.add(
            payment.id,
            doesCount ? 'transfer_seen' : 'other_transfer_seen',
            doesCount
              ? `Seen: ${describe(inserted)}, waiting for ${confirmations} confirmations`
              : `Seen: ${describe(inserted)}, which does not count towards this payment`,
            { ...valuesOf(inserted), ...(doesCount && { confirmations: String(confirmations) }) },
          );
          continue;
        }
        const isBack = receipt.status === 'dropped' || receipt.status === 'reversed';
        if (isBack)
          notes.add(
            receipt.payment_id,
            'transfer_seen_again',
            `Seen again: ${describe(receipt)}`,
            valuesOf(receipt),
          );
        receipts.set(key, {
          ...receipt,
          status: isBack ? 'seen' : receipt.status,
          block_height: arrival.block?.height ?? null,
          block_hash: arrival.block?.hash ?? null,
        });
      }

      for (const [key, receipt] of receipts) {
        const isOrphaned =
          orphanedAbove !== undefined && !arrivals.has(key) && (receipt.block_height ?? 0) > orphanedAbove;
        if (isOrphaned) receipts.set(key, { ...receipt, block_height: null, block_hash: null });
      }
      const isDeepEnough = ({ block_height: height }: ReceiptTable) =>
        height !== null && head.height - height + 1 >= confirmations;
      const isLost = (receipt: ReceiptTable) => receipt.status === 'confirmed' && !isDeepEnough(receipt);
      const isConfirmed = (receipt: ReceiptTable) => receipt.status === 'seen' && isDeepEnough(receipt);
      const posted = [...receipts.values()].filter((receipt) => isLost(receipt) || isConfirmed(receipt));
      if (posted.length > 0) await ledger.lock(transaction, mode, posted.flatMap(accountsOf));

      const changed = new Map<string, ReceiptTable[]>();
      for (const [key, current] of receipts) {
        const { payment_id: paymentId } = current;
        let receipt = current;
        if (isLost(receipt)) {
          receipt = await reverse(transaction, receipt, recordOf(paymentId));
          notes.add(
            paymentId,
            'transfer_unconfirmed',
            `Confirmation lost: ${describe(receipt)} is no longer in its block`,
            valuesOf(receipt),
            'error',
          );
        }
        if (isConfirmed(receipt)) {
          receipt = await confirm(transaction, receipt, mode);
          notes.add(
            paymentId,
            'transfer_confirmed',
            `Received: ${describe(receipt)}, confirmed`,
            valuesOf(receipt),
          );
        }
        const isDropped =
          receipt.status === 'seen' &&
          receipt.block_height === null &&
          batch.pending !== undefined &&
          !arrivals.has(key);
        if (isDropped) {
          receipt = { ...receipt, status: receipt.reversals > 0 ? 'reversed' : 'dropped' };
          notes.add(
            paymentId,
            'transfer_dropped',
            `Dropped from the network: ${describe(receipt)}`,
            valuesOf(receipt),
            'error',
          );
        }
        const before = stored.get(receipt.id);
        const isNew = !recordOf(paymentId).receipts.includes(before ?? receipt);
        const isUpdated = before !== undefined && !isSame(before, receipt);
        if (isUpdated) await store.updateReceipt(transaction, receipt);
        if (isNew || isUpdated) changed.set(paymentId, [...(changed.get(paymentId) ?? []), receipt]);
      }

      for (const [id, newer] of [...changed].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const record = recordOf(id);
        await payments.reassess(
          transaction,
          { ...record, receipts: merge(record.receipts, newer) },
          notes.of(id),
        );
      }
    },
  };
}

/** Collects the log entries about receipts, by payment. */
function createNotes() {
  const entries = new Map<string, NewLogEntry[]>();
  return {
    add(
      paymentId: string,
      code: NewLogEntry['code'],
      event: string,
      values: NewLogEntry['values'],
      type: NewLogEntry['type'] = 'event',
    ) {
      entries.set(paymentId, [...(entries.get(paymentId) ?? []), { type, event, code, values }]);
    },
    of: (paymentId: string): readonly NewLogEntry[] => entries.get(paymentId) ?? [],
  };
}

function isSame(a: ReceiptTable, b: ReceiptTable): boolean {
  return (
    a.status === b.status &&
    a.block_height === b.block_height &&
    a.block_hash === b.block_hash &&
    a.reversals === b.reversals &&
    a.is_credited === b.is_credited
  );
}

/** Replaces receipts by their newer versions and adds new ones, in the order in which the store reads them. */
function merge(receipts: readonly ReceiptTable[], newer: readonly ReceiptTable[]): ReceiptTable[] {
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  for (const receipt of newer) byId.set(receipt.id, receipt);
  return [...byId.values()].sort((a, b) => a.first_seen_at - b.first_seen_at || (a.id < b.id ? -1 : 1));
}

/** The transfers of a batch to our addresses. One that is both pending and in a block counts as in the block. */
async function findArrivals(
  transaction: Transaction,
  addresses: DepositAddresses,
  batch: ScanBatch,
): Promise<Map<string, Arrival>> {
  const transfers = [
    ...(batch.pending ?? []).map((transfer) => ({ transfer, block: undefined })),
    ...batch.blocks.flatMap((block) => block.transfers.map((transfer) => ({ transfer, block }))),
    // Tokens let anyone forge a transfer of 0 between any two addresses (address poisoning). It is not a receipt.
  ].filter(({ transfer }) => transfer.amount > 0n);
  const arrivals = new Map<string, Arrival>();
  if (transfers.length === 0) return arrivals;
  const ours = new Map(
    (
      await addresses.find(transaction, batch.mode, [
        ...new Set(transfers.map(({ transfer }) => transfer.address)),
      ])
    ).map((address) => [address.address, address]),
  );
  for (const { transfer, block } of transfers) {
    const address = ours.get(transfer.address);
    if (address) arrivals.set(keyOf(transfer.txHash, transfer.outputIndex), { transfer, block, address });
  }
  return arrivals;
}

/** The accounts that confirming, crediting or reversing a receipt posts to. */
function accountsOf({ merchant_id: merchantId, network, currency }: ReceiptTable): CurrencyAccount[] {
  const accounts: AccountName[] = [
    { kind: 'custody', network },
    { kind: 'unallocated', merchantId },
    { kind: 'available', merchantId },
    { kind: 'fee_income' },
  ];
  return accounts.map((account) => ({ currency, account }));
}

function keyOf(txHash: string, outputIndex: number): string {
  return `${txHash}:${outputIndex}`;
}

function receiptKey(kind: 'receipt' | 'reversal', receipt: ReceiptTable): string {
  return receipt.reversals === 0 ? `${kind}:${receipt.id}` : `${kind}:${receipt.id}:${receipt.reversals}`;
}
