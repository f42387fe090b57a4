/** Builds the API's representation of the transfers that a payment received, and of its credits. */
import type { Credit, Receipt, UnlistedReceipts } from 'crypto-checkout/contract';
import { transactionPage, type Network } from '../../chains/networks.js';
import type { Currencies } from '../../money/currencies.js';
import { exactNumber } from '../../money/units.js';
import { isoTime } from '../../shared/clock.js';
import { countsTowards } from '../assess.js';
import { shownConfirmations } from '../depth.js';
import type { ReceiptRow } from '../../db/schema.js';
import { isLive } from './receipt-store.js';
import type { PaymentRow, StoredReceipt, StoredRecord } from '../store.js';

/** Transfers to the payment's address, in their order. */
export function viewReceipts(
  row: PaymentAt,
  receipts: readonly StoredReceipt[],
  currencies: Currencies,
): Receipt[] {
  return receipts.map((receipt) => {
    const { currency, network: code, tx_hash: txHash } = receipt;
    const network = currencies.network(row.mode, code);
    const requiredConfirmations = network ? shownConfirmations(receipt.required_confirmations, network) : 0;
    const isConfirmed = receipt.status === 'confirmed';
    return {
      currency,
      network: code,
      amount: exactNumber(receipt.amount, currencies.known(currency).decimals),
      txHash,
      hashOf: isInBlockOnly(receipt) ? 'block' : 'transaction',
      explorerUrl: explorerUrlOf(receipt, network),
      confirmations: confirmationsOf(receipt, row, network),
      requiredConfirmations,
      firstSeenAt: isoTime(receipt.first_seen_at),
      status: isConfirmed ? 'confirmed' : isLive(receipt) ? 'seen' : 'lost',
      counts: countsTowards(row, receipt),
    };
  });
}

/** A payment, and how far its network was read. */
type PaymentAt = PaymentRow & Pick<StoredRecord, 'scanned_height'>;

/** The part of a receipt, or of similar receipts, which its confirmations depend on. */
type Placed = Pick<
  StoredReceipt,
  'network' | 'status' | 'block_height' | 'required_confirmations' | 'scanned_height'
>;

/** The live transfers that are not listed, by network and currency: dust, and those before the listed ones. */
export function viewUnlisted({ sums, receipts }: StoredRecord, currencies: Currencies): UnlistedReceipts[] {
  const rest = new Map<string, { network: string; currency: string; count: number; amount: bigint }>();
  const add = (one: Pick<StoredReceipt, 'network' | 'currency' | 'amount' | 'status'>, count: number) => {
    if (!isLive(one)) return;
    const { network, currency, amount } = one;
    const key = `${network} ${currency}`;
    const known = rest.get(key) ?? { network, currency, count: 0, amount: 0n };
    const units = count < 0 ? -amount : amount;
    rest.set(key, { ...known, count: known.count + count, amount: known.amount + units });
  };
  for (const sum of sums) add(sum, sum.count);
  for (const receipt of receipts) add(receipt, -1);
  return [...rest.values()]
    .filter(({ count }) => count > 0)
    .map((one) => ({ ...one, amount: exactNumber(one.amount, currencies.known(one.currency).decimals) }));
}

/** True if a contract sent the coins, so the chain shows no transaction of theirs: `ChainTransfer.outputIndex`. */
function isInBlockOnly({ output_index: index }: StoredReceipt): boolean {
  return index < 0;
}

function explorerUrlOf(receipt: StoredReceipt, network: Network | undefined): string {
  if (!isInBlockOnly(receipt)) return transactionPage(network, receipt.tx_hash);
  const { block_height: height } = receipt;
  return height === null ? '' : (network?.blockExplorer?.replace('{height}', String(height)) ?? '');
}

/**
 * The depth of a receipt in blocks, in the part of its network that was read; at most what it needs, which a confirmed
 * one has. One that still waits, such as for its block to be final or for a second node, never seems to have them all.
 */
export function confirmationsOf(receipt: Placed, row: PaymentAt, network: Network | undefined): number {
  const { block_height: height, required_confirmations: depth, status } = receipt;
  const needed = network ? shownConfirmations(depth, network) : 0;
  if (status === 'confirmed') return needed;
  const scanned = receipt.network === row.network ? row.scanned_height : (receipt.scanned_height ?? null);
  if (height === null || scanned === null || !isLive(receipt)) return 0;
  return Math.max(0, Math.min(needed - 1, scanned - height + 1));
}

export function viewCredits(row: Pick<StoredRecord, 'sums'>, currencies: Currencies): Credit[] {
  return creditsOf(row.sums).map(({ currency, amount, fee }) => {
    const { decimals } = currencies.known(currency);
    return {
      currency,
      amount: exactNumber(amount, decimals),
      fee: exactNumber(fee, decimals),
      net: exactNumber(amount - fee, decimals),
    };
  });
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
