/**
 * The coins that contracts sent to deposit addresses, on networks whose nodes report them. Elsewhere, and where a node does not,
 * the balance shows them: see reconciliation/.
 */
import { amountsOf } from '../assets.js';
import type { ChainTransfer } from '../chain.js';
import type { EvmClient } from './client.js';
import { firstContractIndex, type ReadBlock, type TransferContext } from './transfers.js';

export async function findContractMoves(
  evm: EvmClient,
  { block }: ReadBlock,
  { assets: { coin }, dialect, watched }: TransferContext,
): Promise<ChainTransfer[]> {
  const moves = (coin && (await dialect.contractMoves?.(evm, block))) ?? [];
  if (!coin || moves.length === 0) return [];
  const ours = await watched([...new Set(moves.map(({ to }) => dialect.askedAddress(to)))]);
  return moves
    .filter(({ to }) => ours.has(dialect.askedAddress(to)))
    .map(({ txHash, place, from, to, amount }) => ({
      txHash: dialect.writeHash(txHash),
      outputIndex: firstContractIndex + place,
      currency: coin.currency,
      senders: [dialect.writeAddress(from)],
      address: dialect.writeAddress(to),
      ...amountsOf(coin, amount),
    }));
}
