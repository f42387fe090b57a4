/** Up to which height the blocks that were read are final: what a node says of finality holds only for blocks that were read. */
import type { Reader } from '../db/engine.js';
import type { BlockId, NetworkRef } from '../chains/chain.js';
import type { Network } from '../chains/networks.js';
import { readScannedHash } from './cursors.js';
import type { Difference } from '../chains/read-chain.js';

/**
 * @param warn called once if a node calls another block final than the one that was read
 * @returns a function that finds it; undefined if nothing is known to be final. No maximum is kept: if a node lowers its final height, the lower one holds
 */
export function createFinality(reader: Reader, network: NetworkRef, warn: (message: string) => void) {
  /** The last block compared; `isRead` if it is on the chain that was read. */
  let last: (BlockId & { readonly isRead: boolean }) | undefined;

  async function hashOf({ blocks, head }: Difference, height: number): Promise<string | undefined> {
    if (height === head.height) return head.hash;
    const fresh = blocks.find((block) => block.height === height);
    return fresh?.hash ?? readScannedHash(reader, network, height);
  }

  return async (difference: Difference): Promise<number | undefined> => {
    const { finalized } = difference.head;
    // While catching up, the block will be read later.
    if (!finalized || finalized.height > difference.head.height) return undefined;
    const { height, hash } = finalized;
    const isSame = last?.height === height && last.hash === hash && difference.orphanedAbove === undefined;
    if (!isSame) {
      const read = await hashOf(difference, height);
      if (read !== undefined && read !== hash) {
        warn(`A node calls block ${hash} final at height ${height}, where ${read} was read: ignored`);
      }
      last = { height, hash, isRead: read === hash };
    }
    return last?.isRead === true ? height : undefined;
  };
}

/**
 * The last block that is deep enough to settle by. A single node's final block does not count here.
 * @param height the newest block that was read
 */
export const finalHeight = ({ confirmations }: Pick<Network, 'confirmations'>, height: number): number =>
  height - confirmations + 1;
