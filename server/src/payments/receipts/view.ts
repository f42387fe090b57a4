/** Turns what happened to a payment into the API's representation: the transfers it received, and what was credited. */
import type { Credit, Receipt } from 'crypto-checkout/contract';
import type { Network } from '../../chains/networks.js';
import type { Currencies } from '../../money/currencies.js';
import { exactNumber } from '../../money/units.js';
import { isoTime } from '../../shared/clock.js';
import { countsTowards } from '../assess.js';
import { creditsOf } from '../credit.js';
import { shownConfirmations } from '../depth.js';
import { isLive } from './receipt-store.js';
import type { StoredReceipt, StoredRecord } from '../store.js';

/** All transfers to the payment's addresses, oldest first. */
export function viewReceipts(row: StoredRecord, currencies: Currencies): Receipt[] {
  return row.receipts.map((receipt) => {
    const { currency, network: code, tx_hash: txHash } = receipt;
    const network = currencies.network(row.mode, code);
    const requiredConfirmations = network ? shownConfirmations(receipt.required_confirmations, network) : 0;
    const isConfirmed = receipt.status === 'confirmed';
    return {
      currency,
      network: code,
      amount: exactNumber(BigInt(receipt.amount), currencies.known(currency).decimals),
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

/** Whether a contract sent the coins, so that the chain shows no transaction of their own: `ChainTransfer.outputIndex`. */
function isInBlockOnly({ output_index: index }: StoredReceipt): boolean {
  return index < 0;
}

function explorerUrlOf(receipt: StoredReceipt, network: Network | undefined): string {
  if (!isInBlockOnly(receipt)) {
    return network?.explorer?.replace('{txHash}', encodeURIComponent(receipt.tx_hash)) ?? '';
  }
  const { block_height: height } = receipt;
  return height === null ? '' : (network?.blockExplorer?.replace('{height}', String(height)) ?? '');
}

/**
 * How many blocks a receipt is deep, in the part of its network that was read; at most what it needs, which a confirmed one has.
 * One that waits for its block to be final, or for a second node, never seems to have them all.
 */
export function confirmationsOf(
  receipt: StoredReceipt,
  row: StoredRecord,
  network: Network | undefined,
): number {
  const { block_height: height, required_confirmations: depth, status } = receipt;
  const needed = network ? shownConfirmations(depth, network) : 0;
  if (status === 'confirmed') return needed;
  const scanned = receipt.scanned_height ?? (receipt.network === row.network ? row.scanned_height : null);
  if (height === null || scanned === null || !isLive(receipt)) return 0;
  const most = depth === null || receipt.needs_check === 1 ? needed - 1 : needed;
  return Math.min(most, Math.max(0, scanned - height + 1));
}

export function viewCredits(row: StoredRecord, currencies: Currencies): Credit[] {
  return creditsOf(row.receipts).map(({ currency, amount, fee }) => {
    const { decimals } = currencies.known(currency);
    return {
      currency,
      amount: exactNumber(amount, decimals),
      fee: exactNumber(fee, decimals),
      net: exactNumber(amount - fee, decimals),
    };
  });
}
