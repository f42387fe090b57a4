/** A chain of a test that is read from two nodes: the second one says what the test makes of the first one's blocks. */
import type { BlockId, Chain, ChainBlock, ChainTransfer, NodeBlock } from '../../src/core/chains/chain.js';

/** A chain read from two nodes. The second one can lack blocks, or return others. */
export class TwoNodeChain implements Chain {
  readonly mode = 'test';
  readonly network: string;
  finalized: BlockId | undefined;
  blocks_: ChainBlock[] = [];
  /** True if the second node cannot be asked. */
  isAlone = false;
  /** The second node's answer instead of a block. */
  second: (block: ChainBlock | undefined) => ChainBlock | undefined = (block) => block;
  /** True if both nodes belong to one provider. */
  isOneProvider = false;
  asked = 0;
  private branch = 0;

  constructor(network: string) {
    this.network = network;
  }

  mine(time: number, transfers: readonly ChainTransfer[] = []): void {
    const height = this.blocks_.length;
    const parentHash = this.blocks_.at(-1)?.hash ?? '';
    this.blocks_.push({
      height,
      hash: `block-${height}${'x'.repeat(this.branch)}`,
      parentHash,
      time,
      transfers,
    });
  }

  /** Replaces the newest blocks by others without transfers. */
  undo(count: number): void {
    const gone = this.blocks_.splice(-count);
    this.branch += 1;
    for (const { time } of gone) this.mine(time);
  }

  head = () =>
    Promise.resolve({
      height: this.blocks_.length - 1,
      hash: this.blocks_.at(-1)?.hash ?? '',
      finalized: this.finalized,
    });
  block = (height: number) => Promise.resolve(this.blocks_[height]);
  pending = () => Promise.resolve([]);

  async blockOfEach(height: number): Promise<NodeBlock[]> {
    this.asked += 1;
    const block = this.blocks_[height];
    const finalHeight = this.finalized?.height;
    const first = { node: 'node 1', provider: 'node 1', block, finalHeight };
    if (this.isAlone) return [first];
    const provider = this.isOneProvider ? 'node 1' : 'node 2';
    return [first, { node: 'node 2', provider, block: this.second(block), finalHeight }];
  }
}
