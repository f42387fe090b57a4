/** What arrived: receipts as the chain shows them now, posted when confirmed and taken back when lost. */
import type { Addresses } from '../addresses/addresses.js';
import type { ChainBlock, ChainTransfer } from '../chains/chain.js';
import type { ScanBatch, ScanSink } from '../chains/scan.js';
import type { Clock } from '../clock.js';
import type { Currencies } from '../currencies/currencies.js';
import type { Transaction } from '../db/database.js';
import type { AddressTable, Mode, ReceiptTable } from '../db/schema.js';
import type { NewId } from '../ids.js';
import type { AccountName, CurrencyAccount, Ledger } from '../ledger/ledger.js';
import { toText } from '../payments/numbers.js';
import type { Payments } from '../payments/payments.js';
import type { PaymentToPay } from '../payments/to-pay.js';
import { convert, type RateSource } from '../rates/rates.js';
import * as store from './store.js';

export interface ReceiptsDependencies {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly rates: RateSource;
  readonly currencies: Currencies;
  readonly addresses: Addresses;
  readonly ledger: Ledger;
  readonly payments: Payments;
}

/** A transfer to one of our addresses, and the block it is in, if any. */
interface Arrival {
  readonly transfer: ChainTransfer;
  readonly block: ChainBlock | undefined;
  readonly address: AddressTable;
}

type Log = Map<string, { type: 'event' | 'error'; event: string }[]>;

export function createReceipts(dependencies: ReceiptsDependencies): ScanSink {
  const { clock, newId, rates, currencies, addresses, ledger, payments } = dependencies;

  function describe(receipt: Pick<ReceiptTable, 'amount' | 'currency' | 'network'>): string {
    const currency = currencies.known(receipt.currency);
    return `${toText(BigInt(receipt.amount), currency)} ${currency.code} on ${receipt.network}`;
  }

  /** What an amount is worth in another currency at the newest rates; null where one is unknown. */
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
    payment: PaymentToPay,
  ): ReceiptTable {
    const now = clock.now(payment.mode);
    return {
      id: newId(),
      payment_id: payment.id,
      merchant_id: payment.merchantId,
      address: address.address,
      network,
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
      base_value: worth(transfer.amount, transfer.currency, payment.baseCurrency, 'down'),
    };
  }

  /** Custody to unallocated, or back when a confirmed receipt was lost. */
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

  async function reverse(transaction: Transaction, receipt: ReceiptTable, payment: PaymentToPay) {
    const { merchant_id: merchantId, network, currency } = receipt;
    const { mode } = payment;
    const amount = BigInt(receipt.amount);
    const available = await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
    const isCredited = receipt.is_credited === 1;
    const fee = isCredited ? payment.feeOn(amount) : 0n;
    const share = isCredited ? amount - fee : 0n;
    // What was withdrawn already cannot be taken back: the merchant owes it, and what is credited next repays it.
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
      const { network, head, orphanedAbove } = batch;
      const confirmations = currencies.network(network)?.confirmations ?? 0;
      const arrivals = await findArrivals(transaction, addresses, batch);
      const affected = await store.affectedReceipts(transaction, network, {
        orphanedAbove,
        txHashes: [...arrivals.values()].map((arrival) => arrival.transfer.txHash),
        confirmedUpTo: head.height - confirmations + 1,
        isAtTip: batch.pending !== undefined,
      });
      if (affected.length === 0 && arrivals.size === 0) return;

      const toPay = await payments.lock(transaction, [
        ...affected.map((receipt) => receipt.payment_id),
        ...[...arrivals.values()].flatMap(({ address }) => address.payment_id ?? []),
      ]);
      // Until they were locked, payments could end and so credit what they had received.
      const known = await store.readCredited(transaction, affected);
      const log: Log = new Map();
      const note = (paymentId: string, event: string, type: 'event' | 'error' = 'event') => {
        log.set(paymentId, [...(log.get(paymentId) ?? []), { type, event }]);
      };
      const paymentOf = (id: string): PaymentToPay => {
        const payment = toPay.get(id);
        if (!payment) throw new Error(`The payment ${id} of a receipt does not exist`);
        return payment;
      };

      /** Who a new receipt belongs to: the payment that the address was given to, or a deposit of its own. */
      const payeeOf = async ({ transfer, address }: Arrival): Promise<PaymentToPay> => {
        if (address.payment_id !== null) return paymentOf(address.payment_id);
        if (address.wallet_id === null) throw new Error(`The address ${address.id} belongs to nobody`);
        const { currency, amount } = transfer;
        const deposit = await payments.deposit(transaction, address.wallet_id, {
          address,
          network,
          currency,
          amount,
        });
        toPay.set(deposit.id, deposit);
        return deposit;
      };

      const receipts = new Map(
        known.map((receipt) => [keyOf(receipt.tx_hash, receipt.output_index), receipt]),
      );
      for (const [key, arrival] of arrivals) {
        const receipt = receipts.get(key);
        const payment = receipt ? paymentOf(receipt.payment_id) : await payeeOf(arrival);
        if (!receipt) {
          const inserted = newReceipt(arrival, network, payment);
          await store.insertReceipt(transaction, inserted);
          receipts.set(key, inserted);
          note(
            payment.id,
            payment.counts(inserted)
              ? `Seen: ${describe(inserted)}, waiting for ${confirmations} confirmations`
              : `Seen: ${describe(inserted)}, which does not count towards this payment`,
          );
          continue;
        }
        const isBack = receipt.status === 'dropped' || receipt.status === 'reversed';
        if (isBack) note(payment.id, `Seen again: ${describe(receipt)}`);
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
      const [first] = posted;
      if (first) await ledger.lock(transaction, paymentOf(first.payment_id).mode, posted.flatMap(accountsOf));

      const stored = new Map(known.map((receipt) => [receipt.id, receipt]));
      for (const [key, current] of receipts) {
        const payment = paymentOf(current.payment_id);
        const before = stored.get(current.id) ?? current;
        let receipt = current;
        if (isLost(receipt)) {
          receipt = await reverse(transaction, receipt, payment);
          note(payment.id, `Confirmation lost: ${describe(receipt)} left its block`, 'error');
        }
        if (isConfirmed(receipt)) {
          receipt = await confirm(transaction, receipt, payment.mode);
          note(payment.id, `Received: ${describe(receipt)}, confirmed`);
        }
        const isGone =
          receipt.status === 'seen' &&
          receipt.block_height === null &&
          batch.pending !== undefined &&
          !arrivals.has(key);
        if (isGone) {
          receipt = { ...receipt, status: receipt.reversals > 0 ? 'reversed' : 'dropped' };
          note(payment.id, `Gone from the network: ${describe(receipt)}`, 'error');
        }
        if (receipt !== before) await store.updateReceipt(transaction, receipt);
      }

      const touched = new Set([...receipts.values()].map((receipt) => receipt.payment_id));
      for (const id of [...touched].sort()) {
        await payments.reassess(transaction, id, log.get(id) ?? []);
      }
    },
  };
}

/** The transfers of a batch that pay to our addresses; one that is in a block counts as that, not as pending. */
async function findArrivals(
  transaction: Transaction,
  addresses: Addresses,
  batch: ScanBatch,
): Promise<Map<string, Arrival>> {
  const transfers = [
    ...(batch.pending ?? []).map((transfer) => ({ transfer, block: undefined })),
    ...batch.blocks.flatMap((block) => block.transfers.map((transfer) => ({ transfer, block }))),
    // Tokens let anybody send nothing from anywhere to anyone: a bait in lists of transfers, and no receipt.
  ].filter(({ transfer }) => transfer.amount > 0n);
  const arrivals = new Map<string, Arrival>();
  if (transfers.length === 0) return arrivals;
  const ours = new Map(
    (await addresses.find(transaction, [...new Set(transfers.map(({ transfer }) => transfer.address))])).map(
      (address) => [address.address, address],
    ),
  );
  for (const { transfer, block } of transfers) {
    const address = ours.get(transfer.address);
    if (address) arrivals.set(keyOf(transfer.txHash, transfer.outputIndex), { transfer, block, address });
  }
  return arrivals;
}

/** What is posted to when a receipt is confirmed and credited, or lost. */
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
