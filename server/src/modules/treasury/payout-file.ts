/** Writes transfers for the wallet that pays them: as calls, as EIP-681 links, and as a batch for Safe. */
import { fromUnits } from 'crypto-checkout/contract';
import { toChain } from '../../core/chains/assets.js';
import { transferData } from '../networks/evm/abi.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { Currencies } from '../../core/money/currencies.js';
import { invalidState } from '../../core/shared/problem.js';
import type { EvmConnected } from './context.js';
import { safeBatch, type WalletCall } from './safe-batch.js';

export type WrittenPayouts = ReturnType<typeof writePayouts>;

/**
 * Problem: `invalid_state` if an asset is not configured any more, or an amount is too small for the chain.
 * @param made of the export: what Safe shows of it. The time is in epoch milliseconds
 */
export function writePayouts(
  on: EvmConnected,
  made: { readonly id: string | undefined; readonly createdAt: number },
  transfers: readonly TransferRow[],
  currencies: Pick<Currencies, 'known'>,
) {
  const payouts = transfers.map((transfer) => ({ transfer, call: payoutCall(on, transfer) }));
  const calls = payouts.map(({ call }) => call);
  return {
    transfers: payouts.map(({ transfer, call }) => ({
      id: transfer.id,
      merchant: transfer.merchant_id,
      // With every digit: what a wallet pays must be exact.
      amount: fromUnits(transfer.amount, currencies.known(transfer.currency).decimals),
      currency: transfer.currency,
      address: transfer.address,
      to: call.to,
      value: (call.value ?? 0n).toString(),
      data: call.data,
      link: linkOf(transfer.address, call, on.chainId),
    })),
    safe: safeBatch(`Transfers ${made.id ?? ''}`.trim(), on.chainId, calls, made.createdAt),
  };
}

/** https://eips.ethereum.org/EIPS/eip-681 */
function linkOf(address: string, call: WalletCall, chainId: number): string {
  if (call.value !== undefined) return `ethereum:${address}@${chainId}?value=${call.value}`;
  const amount = BigInt(`0x${call.data.slice(-64)}`);
  return `ethereum:${call.to}@${chainId}/transfer?address=${address}&uint256=${amount}`;
}

/** Problem: `invalid_state`. */
export function payoutCall({ chainAssets }: EvmConnected, row: TransferRow): WalletCall {
  const asset = chainAssets[row.currency];
  const amount = asset && toChain(asset, row.amount);
  if (amount === undefined) {
    throw invalidState(
      asset
        ? `${row.amount} units of ${row.currency} have more decimals than its contract can send`
        : `NETWORKS_FILE has no ${row.currency} on ${row.network} any more`,
    );
  }
  if (asset?.contract === undefined) return { to: row.address, data: '0x', value: amount };
  return { to: asset.contract, data: transferData(row.address, amount) };
}
