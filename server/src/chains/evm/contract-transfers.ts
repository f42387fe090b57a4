/** Finds the coins that contracts sent to the addresses of open payments, in the way that the network allows. */
import { fromChain, type ChainAsset } from '../assets.js';
import type { ChainTransfer } from '../chain.js';
import { transfersInContracts, type Balances } from './balance-changes.js';
import { unlessRefused, type EvmClient } from './client.js';
import type { EvmDeps } from './config.js';
import { firstContractIndex, type ReadBlock, type TransferContext } from './transfers.js';

export type ContractReader = ReturnType<typeof createContractReader>;

/** The most addresses whose balance is read in each block. */
const mostAddresses = 500;

/** @param noteMissing called with the height of each block of which the node does not report what contracts sent */
export function createContractReader(
  context: TransferContext,
  openNative: EvmDeps['openNative'],
  noteMissing: (height: number) => void,
) {
  const { dialect } = context;
  /** The balances after the block that was read last. */
  let last: { readonly hash: string; readonly balances: Balances } | undefined;

  async function readMoves(
    evm: EvmClient,
    blocks: readonly ReadBlock[],
    addresses: readonly string[],
    coin: ChainAsset,
  ): Promise<ChainTransfer[][]> {
    const wanted = new Set(addresses);
    const transfers: ChainTransfer[][] = [];
    for (const { block } of blocks) {
      const moves = await dialect.contractMoves?.(evm, block, wanted);
      if (!moves) noteMissing(block.height);
      transfers.push(
        (moves ?? []).map(({ txHash, place, from, to, amount }) => ({
          txHash: dialect.writeHash(txHash),
          outputIndex: firstContractIndex + place,
          currency: coin.currency,
          senders: [dialect.writeAddress(from)],
          address: dialect.writeAddress(to),
          amount: fromChain(coin, amount),
        })),
      );
    }
    return transfers;
  }

  async function compareBalances(
    evm: EvmClient,
    blocks: readonly ReadBlock[],
    found: readonly (readonly ChainTransfer[])[],
    addresses: readonly string[],
    coin: ChainAsset,
  ): Promise<ChainTransfer[][]> {
    const parentHash = blocks[0]?.block.parentHash ?? '';
    const kept = last?.hash === parentHash ? last.balances : undefined;
    const known = kept && addresses.every((address) => kept.has(address)) ? kept : undefined;
    const hashes = blocks.map(({ block }) => block.hash);
    const read = await Promise.all(
      (known ? hashes : [parentHash, ...hashes]).map((hash) => balancesAfter(evm, addresses, hash)),
    );
    const series = known ? [known, ...read] : read;
    const newest = series.at(-1);
    last = newest && { hash: hashes.at(-1) ?? parentHash, balances: newest };
    return blocks.map(({ block }, index) => {
      const [before, after] = [series[index], series[index + 1]];
      if (before && after) {
        return transfersInContracts({ block, before, after, transfers: found[index] ?? [] }, coin, dialect);
      }
      noteMissing(block.height);
      return [];
    });
  }

  return {
    /**
     * The transfers of each block, in the order of the blocks.
     * @param blocks linked by their hashes
     * @param found the transfers of the coin in each block that its transactions made themselves
     */
    async read(
      evm: EvmClient,
      blocks: readonly ReadBlock[],
      found: readonly (readonly ChainTransfer[])[],
    ): Promise<ChainTransfer[][]> {
      const { coin } = context.assets;
      const isReported = dialect.hasBalancesAtBlock || dialect.contractMoves !== undefined;
      const open = coin && openNative && isReported ? await openNative() : [];
      const addresses = [...new Set(open)]
        .slice(0, mostAddresses)
        .flatMap((address) => dialect.readAddress(address) ?? []);
      if (!coin || addresses.length === 0) return blocks.map(() => []);
      return dialect.contractMoves
        ? readMoves(evm, blocks, addresses, coin)
        : compareBalances(evm, blocks, found, addresses, coin);
    },
  };
}

/** The balances of the coin after a block; undefined if the node refuses them, mostly because it has dropped the state. */
async function balancesAfter(
  evm: EvmClient,
  addresses: readonly string[],
  blockHash: string,
): Promise<Balances | undefined> {
  const balances = await unlessRefused(evm.balances(undefined, addresses, { blockHash }));
  return balances && new Map(addresses.map((address, index) => [address, balances[index] ?? 0n]));
}
