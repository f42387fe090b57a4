/** Follows a chain as the scanner does, and keeps what it found in memory. */
import type { Chain, ChainBlock, ChainHead, ChainTransfer } from '../../../src/core/chains/chain.js';
import { readDifference } from '../../../src/core/chains/read-chain.js';

const { signal } = new AbortController();

export interface Follower {
  /** Continues with another adapter, as a restarted server does. */
  restart(chain: Chain): void;
  /** Reads up to the head. */
  sync(): Promise<void>;
  /** The transfers to an address, by the blocks that are on the chain now. */
  received(address: string): Pick<ChainTransfer, 'currency' | 'amount'>[];
  /** The transfers to an address, with the height of their block, or `pending`. */
  transfers(address: string): (ChainTransfer & { readonly height: number | 'pending' })[];
  /** The heights above which blocks were dropped, in order. */
  readonly reorgs: number[];
  /** The newest block that was read. */
  head(): ChainHead;
}

/** @param last the block to begin after; the head by default */
export async function follow(first: Chain, last?: ChainHead): Promise<Follower> {
  let chain = first;
  let cursor = last ?? (await chain.head(signal));
  let scanned: ChainHead[] = [cursor];
  const blocks = new Map<number, ChainBlock>();
  let pending: readonly ChainTransfer[] = [];
  const reorgs: number[] = [];

  const transfers: Follower['transfers'] = (address) =>
    [
      ...[...blocks.values()].flatMap((block) =>
        block.transfers.map((transfer) => ({ ...transfer, height: block.height })),
      ),
      ...pending.map((transfer) => ({ ...transfer, height: 'pending' as const })),
    ].filter((transfer) => transfer.address === address);

  return {
    reorgs,
    restart(other) {
      chain = other;
    },
    head: () => cursor,
    transfers,
    received: (address) =>
      transfers(address)
        .filter(({ height }) => height !== 'pending')
        .map(({ currency, amount }) => ({ currency, amount })),
    async sync() {
      for (;;) {
        const difference = await readDifference(
          chain,
          {
            last: cursor,
            scanned: async () => ({ blocks: [...scanned].reverse(), isComplete: true }),
            beforeBlock: async () => {},
          },
          50,
          signal,
        );
        const { orphanedAbove } = difference;
        if (orphanedAbove !== undefined) {
          reorgs.push(orphanedAbove);
          scanned = scanned.filter(({ height }) => height <= orphanedAbove);
          for (const height of [...blocks.keys()]) if (height > orphanedAbove) blocks.delete(height);
        }
        for (const block of difference.blocks) {
          if (blocks.has(block.height)) throw new Error(`Block ${block.height} was applied twice`);
          blocks.set(block.height, block);
          scanned.push({ height: block.height, hash: block.hash });
        }
        cursor = difference.head;
        if (difference.pending) {
          pending = difference.pending;
          return;
        }
      }
    },
  };
}
