/** The notes of `ledger check --chain` on the wallets of extended keys. */
import type { LedgerCheck } from '../../core/audit/check-report.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import { amountText } from '../../core/commands/records.js';
import { readWallets, type WalletBalance, type WalletDeps } from './wallet-balances.js';

/**
 * @returns undefined if the nodes of this kind of network do not report balances of addresses
 * @throws NodesUnavailable
 */
export async function compareWallets(
  deps: WalletDeps,
  on: ConnectedNetwork,
  signal: AbortSignal,
): Promise<LedgerCheck[] | undefined> {
  const compared = await readWallets(deps, on, signal);
  if (!compared) return undefined;
  const { height, wallets } = compared;
  const { code, mode } = on.network;
  const invariant = `The wallets of extended keys were read on ${code} (${mode}) at block ${height}`;
  const notes = wallets.map(noteOf);
  return wallets.length === 0 ? [] : [{ invariant, checked: wallets.length, violations: [], notes }];
}

function noteOf({ merchantId, currency, books, chain }: WalletBalance): string {
  const place = `The addresses of ${merchantId} hold ${amountText(chain, currency)}`;
  if (chain === books) return `${place}, as the books say`;
  return `${place}, the books say ${amountText(books, currency)}. ${
    chain < books
      ? 'The wallet has moved the rest, or paid transfers that were not settled: "transfers settle ID --tx-hash HASH"'
      : 'More has arrived than is confirmed, or blocks are still to be read: see "chains status"'
  }`;
}
