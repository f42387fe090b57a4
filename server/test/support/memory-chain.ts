/** A live network without a node. */
import type { Chain, ChainBlock, ChainTransfer } from '../../src/core/chains/chain.js';

/** A chain in memory whose blocks the test adds. */
export class MemoryChain implements Chain {
  readonly mode = 'live';
  readonly network = 'tron';
  readonly #blocks: ChainBlock[] = [
    { height: 0, hash: '0', parentHash: '', time: Date.now(), transfers: [] },
  ];
  #pending: ChainTransfer[] = [];

  send(transfer: ChainTransfer): void {
    this.#pending.push(transfer);
  }

  mine(count: number): void {
    for (let added = 0; added < count; added += 1) {
      const height = this.#blocks.length;
      const parentHash = this.#blocks.at(-1)?.hash ?? '';
      this.#blocks.push({
        height,
        hash: String(height),
        parentHash,
        time: Date.now(),
        transfers: this.#pending,
      });
      this.#pending = [];
    }
  }

  head = () => Promise.resolve({ height: this.#blocks.length - 1, hash: this.#blocks.at(-1)?.hash ?? '' });
  block = (height: number) => Promise.resolve(this.#blocks[height]);
  pending = () => Promise.resolve(this.#pending);
}
