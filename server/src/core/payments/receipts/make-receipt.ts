/** Makes the receipt of a transfer: what it is worth now, and since when it counts. */
import { fromChain } from '../../chains/assets.js';
import type { ChainTransfer, NetworkRef } from '../../chains/chain.js';
import { inclusionHoursOf, type Depth } from '../../chains/networks.js';
import type { Transaction } from '../../db/engine.js';
import type { ReceiptRow } from '../../db/schema.js';
import { convert, unitRate, type Denomination } from '../../money/rates.js';
import { scopeOf } from '../../shared/scope.js';
import type { IncomingTransfer } from './new-receipts.js';
import { writeFraction } from '../../money/fractions.js';
import { countsTowards, deadlineOf } from '../assess.js';
import { deeper } from '../depth.js';
import { isDust } from '../dust.js';
import type { PaymentsDeps } from '../payments-deps.js';
import { sumReceived } from './receipt-store.js';
import type { PaymentRow, PlainPayment } from '../store.js';

export type NewReceiptsDeps = Pick<PaymentsDeps, 'clock' | 'newId' | 'rates' | 'currencies' | 'depths'>;

/** A transfer, and the block it is in, if any. */
interface Seen extends Pick<IncomingTransfer, 'block' | 'seenAt'> {
  readonly transfer: Pick<ChainTransfer, 'currency' | 'amount'>;
}

/** A transaction can have thousands of inputs, and the payment's replies and webhooks name its senders. */
const mostSenders = 20;

export const keptSenders = ({ senders }: Pick<ChainTransfer, 'senders'>): readonly string[] =>
  senders.slice(0, mostSenders);

export type NewReceipts = ReturnType<typeof createNewReceipts>;

export function createNewReceipts({ clock, newId, rates, currencies, depths }: NewReceiptsDeps) {
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

  /** The worth of a transfer now, and the time since which it counts. */
  function firstSeen({ transfer, block, seenAt }: Seen, payment: PaymentRow) {
    const { currency, amount } = transfer;
    const offset = clock.now(scopeOf(payment)) - clock.real();
    const now = seenAt + offset;
    const value = (to: string) => {
      const rated = pair(currency, to);
      return rated ? convert(amount, ...rated, 'nearest') : null;
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

  /**
   * The time until which a payment that a transfer reached in time waits for it to be confirmed, or first to get into
   * a block.
   */
  function awaitedUntil({ transfer, block }: Seen, network: string, payment: PaymentRow): number {
    if (block) return Number.MAX_SAFE_INTEGER;
    return isDust(currencies, payment, { ...transfer, network }) ? 0 : awaitedWithoutBlock(network, payment);
  }

  /** The time until which a payment waits for a transfer that is not in a block yet and is not dust. */
  function awaitedWithoutBlock(network: string, payment: PlainPayment): number {
    return deadlineOfRow(payment) + inclusionHoursOf(currencies.network(payment.mode, network)) * 3_600_000;
  }

  /**
   * The changes to a receipt when its transfer gets into a block, or leaves it. One that was seen in time, and gets
   * into a block long after the deadline, is priced as late: its payer could otherwise set a fee too low to be mined,
   * and raise it days later if the price suits.
   */
  function atBlock(receipt: ReceiptRow, seen: Seen, payment: PaymentRow): Partial<ReceiptRow> {
    const { network, first_seen_at: firstSeenAt } = receipt;
    const deadline = deadlineOfRow(payment);
    const minedAt = seen.block && seen.block.time + clock.now(scopeOf(payment)) - clock.real();
    const isTooLate = (minedAt ?? 0) > awaitedWithoutBlock(network, payment);
    return {
      awaited_until: awaitedUntil(seen, network, payment),
      ...(firstSeenAt <= deadline && isTooLate && firstSeen(seen, payment)),
    };
  }

  /**
   * The depth that a transfer needs by its own worth; `stake.ts` judges the rest at stake. At least the depth of the
   * locked payment, since an overpayment can be worth far more.
   */
  function depthOf({ currency, amount: units }: ChainTransfer, code: string, payment: PaymentRow): Depth {
    const network = currencies.network(payment.mode, code);
    if (!network) return null;
    const own = depths.depthOf(network, [{ units, currency }]);
    const counts = countsTowards(payment, { currency, network: code });
    return counts ? deeper(own, payment.required_confirmations) : own;
  }

  /**
   * The amount that a transfer adds to the books where a token has more decimals than they have: everything that an
   * address received of it is summed as the chain counts it, and rounded down once. Rounded down one by one, two
   * parts of an exact amount would fall short of it.
   */
  async function amountOf(
    transaction: Transaction,
    { mode, network }: NetworkRef,
    { currency, address, amount, chainAmount = amount }: ChainTransfer,
    unstored: readonly ReceiptRow[],
  ): Promise<bigint> {
    const { decimals: unitDecimals } = currencies.known(currency);
    const decimals = currencies.network(mode, network)?.assets[currency]?.decimals ?? unitDecimals;
    if (decimals <= unitDecimals) return amount;
    const before = await sumReceived(transaction, { mode, network, currency, address });
    const more = unstored.filter((row) => row.address === address && row.currency === currency);
    const sumOf = (column: 'amount' | 'chain_amount') => more.reduce((total, row) => total + row[column], 0n);
    const all = before.chainAmount + sumOf('chain_amount') + chainAmount;
    const added = fromChain({ currency, decimals, unitDecimals }, all) - before.amount - sumOf('amount');
    // Less than its own only if an earlier part was lost that had made up a whole unit with others.
    return added > amount ? added : amount;
  }

  /** @param unstored receipts of the same scan that are not in the database yet */
  async function newReceipt(
    transaction: Transaction,
    found: IncomingTransfer,
    network: string,
    payment: PaymentRow,
    unstored: readonly ReceiptRow[],
  ): Promise<ReceiptRow> {
    const { transfer, block, address } = found;
    const place = { mode: payment.mode, network };
    const amount = await amountOf(transaction, place, transfer, unstored);
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
      amount,
      chain_amount: transfer.chainAmount ?? transfer.amount,
      found_above: transfer.foundAbove ?? null,
      senders: keptSenders(transfer),
      block_height: block?.height ?? null,
      block_hash: block?.hash ?? null,
      status: 'seen',
      confirmed_at: null,
      awaited_until: awaitedUntil(found, network, payment),
      is_dust: isDust(currencies, payment, { currency: transfer.currency, network, amount }),
      required_confirmations: depthOf(transfer, network, payment),
      awaits_check: false,
      checked_hash: null,
      reversals: 0,
      is_credited: false,
      credited_fee: 0n,
      ...firstSeen(found, payment),
    };
  }

  return { firstSeen, atBlock, awaitedWithoutBlock, newReceipt };
}

const deadlineOfRow = ({ expires_at: expiresAt, cancelled_at: cancelledAt }: PlainPayment): number =>
  deadlineOf({ expiresAt, cancelledAt });
