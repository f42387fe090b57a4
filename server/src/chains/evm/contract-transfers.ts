/** Finds the native coins that contracts sent to the addresses of open payments, in the way that the network allows. */
import type { ChainTransfer } from '../chain.js';
import type { NodeClient } from '../rpc/node-client.js';
import { toUnits } from './assets.js';
import { mostAddresses, readBalances, transfersInContracts } from './balances.js';
import type { EvmAsset, EvmDeps } from './config.js';
import { firstContractIndex, type ReadBlock, type TransferContext } from './transfers.js';

export interface ContractReader {
  /**
   * The transfers of each block, in the order of the blocks.
   * @param blocks linked by their hashes
   * @param found the native transfers of each block that its transactions made themselves
   */
  read(
    node: NodeClient,
    blocks: readonly ReadBlock[],
    found: readonly (readonly ChainTransfer[])[],
    signal: AbortSignal,
  ): Promise<ChainTransfer[][]>;
}

/** @param noteMissing called with the height of each block of which the node does not tell what contracts sent */
export function createContractReader(
  context: TransferContext,
  openNative: EvmDeps['openNative'],
  noteMissing: (height: number) => void,
): ContractReader {
  const { dialect } = context;
  /** The balances after the block that was read last. */
  let last: { readonly hash: string; readonly balances: ReadonlyMap<string, bigint> } | undefined;

  async function readMoves(
    node: NodeClient,
    blocks: readonly ReadBlock[],
    addresses: readonly string[],
    native: EvmAsset,
    signal: AbortSignal,
  ): Promise<ChainTransfer[][]> {
    const wanted = new Set(addresses);
    const transfers: ChainTransfer[][] = [];
    for (const { block } of blocks) {
      const moves = await dialect.contractMoves?.(node, block, wanted, signal);
      if (!moves) noteMissing(block.height);
      transfers.push(
        (moves ?? []).map(({ txHash, place, from, to, amount }) => ({
          txHash: dialect.writeHash(txHash),
          outputIndex: firstContractIndex + place,
          currency: native.currency,
          senders: [dialect.writeAddress(from)],
          address: dialect.writeAddress(to),
          amount: toUnits(amount, native),
        })),
      );
    }
    return transfers;
  }

  async function compareBalances(
    node: NodeClient,
    blocks: readonly ReadBlock[],
    found: readonly (readonly ChainTransfer[])[],
    addresses: readonly string[],
    native: EvmAsset,
    signal: AbortSignal,
  ): Promise<ChainTransfer[][]> {
    const parentHash = blocks[0]?.block.parentHash ?? '';
    const kept = last?.hash === parentHash ? last.balances : undefined;
    const known = kept && addresses.every((address) => kept.has(address)) ? kept : undefined;
    const hashes = blocks.map(({ block }) => block.hash);
    const read = await readBalances(node, addresses, known ? hashes : [parentHash, ...hashes], signal);
    const series = known ? [known, ...read] : read;
    const newest = series.at(-1);
    last = newest && { hash: hashes.at(-1) ?? parentHash, balances: newest };
    return blocks.map(({ block }, index) => {
      const [before, after] = [series[index], series[index + 1]];
      if (before && after) {
        return transfersInContracts({ block, before, after, transfers: found[index] ?? [] }, native, dialect);
      }
      noteMissing(block.height);
      return [];
    });
  }

  return {
    async read(node, blocks, found, signal) {
      const { native } = context.assets;
      const canTell = dialect.hasBalancesAtBlock || dialect.contractMoves !== undefined;
      const open = native && openNative && canTell ? await openNative() : [];
      signal.throwIfAborted();
      const addresses = [...new Set(open)]
        .slice(0, mostAddresses)
        .flatMap((address) => dialect.readAddress(address) ?? []);
      if (!native || addresses.length === 0) return blocks.map(() => []);
      return dialect.contractMoves
        ? readMoves(node, blocks, addresses, native, signal)
        : compareBalances(node, blocks, found, addresses, native, signal);
    },
  };
}
