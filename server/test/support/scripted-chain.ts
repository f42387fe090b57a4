/** A network of the tests, in memory: a tree of blocks, a mempool, and a node that fails, lags, and moves while it is read. */
import type { Chain, ChainBlock, ChainHead, ChainTransfer } from '../../src/core/chains/chain.js';
import type { Mode } from '../../src/core/shared/scope.js';

/** A transaction. Those that spend the same coins conflict: one of them at most is on a branch. */
export interface ScriptedTx {
  readonly hash: string;
  readonly coins: number;
  readonly transfers: readonly ChainTransfer[];
}

export interface ScriptedBlock {
  readonly height: number;
  readonly hash: string;
  readonly parent: ScriptedBlock | undefined;
  readonly time: number;
  readonly txs: readonly ScriptedTx[];
}

/** A node's knowledge. A server of a balancer can know what was true some time ago. */
export interface NodeView {
  readonly tip: ScriptedBlock;
  readonly pending: readonly ScriptedTx[];
}

/** The trouble that the next scan meets. Calls are counted from 1. */
export interface Trouble {
  /** The call that fails. */
  readonly failsAt?: number;
  /** Called before a call is answered. */
  readonly moves?: { readonly at: number; readonly move: () => void };
  /** An older view that is returned instead of the current one. */
  readonly lag?: NodeView;
}

export class ScriptedChain implements Chain {
  readonly mode: Mode;
  readonly network: string;
  tip: ScriptedBlock;
  mempool: ScriptedTx[] = [];
  trouble: Trouble = {};
  /** The result of the last call of `pending`. */
  reported: readonly ScriptedTx[] = [];
  readonly blocks?: NonNullable<Chain['blocks']>;
  #calls = 0;
  readonly #byHash = new Map<string, ScriptedBlock>();
  #made = 0;

  /** @param rangeSize the most blocks that are returned at once; 0 for a node that returns one by one */
  constructor(mode: Mode, network: string, rangeSize: number, time: number) {
    this.mode = mode;
    this.network = network;
    this.tip = this.#add(undefined, time, []);
    if (rangeSize === 0) return;
    this.blocks = async (from, to) => {
      const { tip } = this.#view();
      const end = Math.min(to, from + rangeSize - 1, tip.height);
      const found = Array.from({ length: Math.max(0, end - from + 1) }, (_, index) => at(tip, from + index));
      return found.flatMap((block) => (block ? toBlock(block) : []));
    };
  }

  #add(parent: ScriptedBlock | undefined, time: number, txs: readonly ScriptedTx[]): ScriptedBlock {
    this.#made += 1;
    const hash = `${this.mode}-${this.network}-${this.#made}`;
    const block = { height: (parent?.height ?? -1) + 1, hash, parent, time, txs };
    this.#byHash.set(hash, block);
    return block;
  }

  /** Counts a call, and answers with the node's view. */
  #view(): NodeView {
    this.#calls += 1;
    const { failsAt, moves, lag } = this.trouble;
    if (this.#calls === failsAt) throw new Error('The node is down');
    if (this.#calls === moves?.at) moves.move();
    return lag ?? this.view();
  }

  view(): NodeView {
    return { tip: this.tip, pending: [...this.mempool] };
  }

  /** The next scan meets this trouble. */
  expect(trouble: Trouble): void {
    this.trouble = trouble;
    this.#calls = 0;
  }

  find(hash: string): ScriptedBlock {
    const block = this.#byHash.get(hash);
    if (!block) throw new Error(`${this.network} never had the block ${hash}`);
    return block;
  }

  send(tx: ScriptedTx): void {
    this.mempool.push(tx);
  }

  /** @param isTaken selects the waiting transactions that get into the first block */
  mine(count: number, time: number, isTaken: (tx: ScriptedTx) => boolean = () => true): void {
    const taken = this.mempool.filter(isTaken);
    const spent = new Set(taken.map(({ coins }) => coins));
    this.mempool = this.mempool.filter(({ coins }) => !spent.has(coins));
    const now = Math.max(time, this.tip.time);
    for (let made = 0; made < count; made += 1) this.tip = this.#add(this.tip, now, made === 0 ? taken : []);
  }

  /**
   * Replaces the last blocks by empty ones.
   * @param returns selects those of their transactions that wait for a block again
   * @param longer the number of blocks that the new branch has more than the old one
   */
  reorg(depth: number, longer: number, time: number, returns: (tx: ScriptedTx) => boolean): void {
    const { height } = this.tip;
    for (let taken = 0; taken < depth; taken += 1) {
      const { parent, txs } = this.tip;
      if (!parent) return;
      this.mempool.push(...txs.filter(returns));
      this.tip = parent;
    }
    this.mine(height - this.tip.height + longer, time, () => false);
  }

  /** The block of a branch that has a transaction. */
  blockOf(txHash: string, tip: ScriptedBlock, lowest: number): ScriptedBlock | undefined {
    for (let block: ScriptedBlock | undefined = tip; block && block.height >= lowest; block = block.parent) {
      if (block.txs.some(({ hash }) => hash === txHash)) return block;
    }
    return undefined;
  }

  async head(): Promise<ChainHead> {
    const { height, hash } = this.#view().tip;
    return { height, hash };
  }

  async block(height: number): Promise<ChainBlock | undefined> {
    const block = at(this.#view().tip, height);
    return block && toBlock(block);
  }

  async pending(): Promise<readonly ChainTransfer[]> {
    const { pending } = this.#view();
    this.reported = pending;
    return pending.flatMap(repeated);
  }
}

function at(tip: ScriptedBlock, height: number): ScriptedBlock | undefined {
  let block: ScriptedBlock | undefined = tip;
  while (block && block.height > height) block = block.parent;
  return block?.height === height ? block : undefined;
}

function toBlock({ height, hash, parent, time, txs }: ScriptedBlock): ChainBlock {
  return { height, hash, parentHash: parent?.hash ?? '', time, transfers: txs.flatMap(repeated) };
}

/** The transfers of a transaction. Now and then a node returns some of them twice. */
function repeated({ transfers, coins }: ScriptedTx): readonly ChainTransfer[] {
  return coins % 3 === 0 ? [...transfers, ...transfers] : transfers;
}
