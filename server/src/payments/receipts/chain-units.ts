/**
 * What a transfer adds to the books where a token has more decimals than they have: all that an address received of it is summed
 * as the chain counts it, and cut off once. Cut off one by one, two parts of an exact amount would be short of it.
 */
import { fromChain } from '../../chains/assets.js';
import type { ChainTransfer } from '../../chains/chain.js';
import type { Transaction } from '../../db/engine.js';
import type { ReceiptTable } from '../../db/schema.js';
import type { Currencies } from '../../money/currencies.js';
import type { Mode } from '../../shared/scope.js';
import { sumReceived } from './receipt-store.js';

export interface ReceivedAmounts {
  /** In units of the books. */
  readonly amount: bigint;
  readonly chainAmount: bigint;
}

/** @param unstored receipts that are not in the database yet */
export async function amountsOfReceipt(
  transaction: Transaction,
  currencies: Currencies,
  { mode, network }: { readonly mode: Mode; readonly network: string },
  { currency, address, amount, chainAmount = amount }: ChainTransfer,
  unstored: readonly ReceiptTable[],
): Promise<ReceivedAmounts> {
  const { decimals: unitDecimals } = currencies.known(currency);
  const decimals = currencies.network(mode, network)?.assets[currency]?.decimals ?? unitDecimals;
  if (decimals <= unitDecimals) return { amount, chainAmount };
  const before = await sumReceived(transaction, { mode, network, currency, address });
  const more = unstored.filter((row) => row.address === address && row.currency === currency);
  const sumOf = (column: 'amount' | 'chain_amount') =>
    more.reduce((total, row) => total + BigInt(row[column]), 0n);
  const all = before.chainAmount + sumOf('chain_amount') + chainAmount;
  const added = fromChain({ currency, decimals, unitDecimals }, all) - before.amount - sumOf('amount');
  // Less than its own only if an earlier part was lost that had made up a whole unit with others.
  return { amount: added > amount ? added : amount, chainAmount };
}
