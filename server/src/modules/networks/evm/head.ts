/** Reads the head of an EVM network, which never goes back to an older one unless no node knows the newer. */
import type { BlockId, ChainHead } from '../../../core/chains/chain.js';
import { NodeError } from '../rpc/node-error.js';
import { NodesUnavailable } from '../../../core/chains/nodes-unavailable.js';
import type { EvmClient } from './client.js';
import type { EvmNodes } from './evm-nodes.js';
import type { EvmHeader } from './replies.js';

/**
 * The number of times that a node which is behind its own earlier answer is asked again: its balancer may pass the
 * next request to a better one.
 */
const attempts = 3;
/** The interval at which the finalized block is requested. */
const finalizedMs = 10_000;

/** The known facts of a node's finality. */
interface Finality {
  /** When the node is asked again. */
  readonly notBefore: number;
  /** Its last report. */
  readonly last?: BlockId | undefined;
  /** The newest block that it is believed to call final. */
  readonly believed?: BlockId | undefined;
  /** The fewest blocks between a final block that was believed and the newest one: the node's usual rule. */
  readonly lag?: number | undefined;
  /** True if its reports are not believed until they have moved on. */
  readonly isOnTrial: boolean;
  /** The lowest block that it has called final during the trial. */
  readonly base?: BlockId | undefined;
  /** Its last answer contradicted itself. */
  readonly isAbsurd?: boolean;
}

const untried: Finality = { notBefore: 0, isOnTrial: true };

const lowerOf = (a: BlockId | undefined, b: BlockId): BlockId | undefined =>
  a && a.height > b.height ? b : a;

export function createHeadReader(
  nodes: Pick<EvmNodes, 'run'>,
  blockTimeMs: number | undefined,
  now: () => number,
  warn: (message: string) => void,
) {
  let latest: ChainHead | undefined;
  let offered: { readonly header: EvmHeader; readonly node: string } | undefined;
  /** When the newest block was made, in epoch milliseconds; undefined before the first answer. */
  let newestTime: number | undefined;
  /** By the node's name. One node's report on finality never holds for the head of another. */
  const finality = new Map<string, Finality>();

  const finalityOf = ({ name }: Pick<EvmClient, 'name'>) => finality.get(name) ?? untried;

  /** The newest header, and what the node says of finality if that is due, in one request. */
  async function learn(evm: EvmClient): Promise<EvmHeader> {
    const isDue = finalityOf(evm).notBefore <= now();
    const [header, answer] = await Promise.all([evm.head(), isDue ? evm.finalized() : undefined]);
    if (answer === undefined) return header;
    const known = { ...finalityOf(evm), notBefore: now() + finalizedMs };
    // A node that cannot answer now has not withdrawn its report.
    finality.set(evm.name, answer.kind === 'value' ? weigh(evm, header, answer.value, known) : known);
    return header;
  }

  async function ask(evm: EvmClient): Promise<ChainHead> {
    const head = accept(evm, await learn(evm));
    return { ...head, finalized: finalityOf(evm).believed };
  }

  /**
   * A node is believed what it has said twice in a row, of a block that is not above its newest. After a start, a node may name a
   * block at a fixed distance that nobody has made final (go-ethereum#35418): so at first, after each interruption, and when a block is
   * closer to the newest than its rule, it is believed only what it has moved on from.
   */
  function weigh({ name }: EvmClient, head: EvmHeader, reported: BlockId, before: Finality): Finality {
    const { notBefore, last, lag, isOnTrial, isAbsurd } = before;
    if (reported.height > head.height) {
      if (isAbsurd !== true) {
        warn(`${name} calls block ${reported.height} final, above its newest block ${head.height}: ignored`);
      }
      return { notBefore, isOnTrial: true, isAbsurd: true };
    }
    const reportedLag = head.height - reported.height;
    const believed = lowerOf(before.believed, reported);
    const known = { notBefore, last: reported, lag: Math.min(reportedLag, lag ?? reportedLag) };
    if (!isOnTrial && last && reportedLag >= (lag ?? 0)) {
      return { ...known, isOnTrial: false, believed: lowerOf(last, reported) ?? reported };
    }
    const base = lowerOf(before.base, reported) ?? reported;
    if (base.height < reported.height) return { ...known, isOnTrial: false, believed: base };
    return { ...known, lag, isOnTrial: true, base, believed };
  }

  /** @throws NodeError if the block is too old to be the newest */
  function accept({ name }: EvmClient, { height, hash, time }: EvmHeader): ChainHead {
    newestTime = time;
    const ageMs = now() - time;
    if (blockTimeMs !== undefined && ageMs > 3 * blockTimeMs + 60_000) {
      const minutes = Math.round(ageMs / 60_000);
      throw new NodeError(
        'behind',
        `${name} is behind: its newest block ${height} is ${minutes} minutes old`,
      );
    }
    return { height, hash };
  }

  return {
    /** A node's reports on finality have to prove themselves again: the node may have restarted from scratch. */
    doubt(evm: EvmClient): void {
      finality.set(evm.name, { ...finalityOf(evm), isOnTrial: true });
    },

    /** Up to where a node is believed that blocks are final; undefined if it is not yet. */
    async finalHeight(evm: EvmClient): Promise<number | undefined> {
      await learn(evm);
      return finalityOf(evm).believed?.height;
    },

    /** @param beforeEach called with each node before it is asked */
    async read(beforeEach: (evm: EvmClient) => Promise<void>, signal: AbortSignal): Promise<ChainHead> {
      /** The best of the heads that are lower than one that was read before. */
      let lower: ChainHead | undefined;
      const given = offered;
      offered = undefined;
      const readFrom = async (evm: EvmClient): Promise<ChainHead> => {
        await beforeEach(evm);
        if (given?.node === evm.name && accept(evm, given.header).hash === latest?.hash) return latest;
        for (let attempt = 1; ; attempt += 1) {
          const head = await ask(evm);
          if (head.height >= (latest?.height ?? 0)) return head;
          if (!lower || head.height > lower.height) lower = head;
          if (attempt < attempts) continue;
          throw new NodeError('behind', `${evm.name} is behind: it is at block ${head.height}`);
        }
      };
      try {
        latest = await nodes.run(readFrom, signal);
      } catch (error) {
        // Blocks may have been dropped. The scanner compares hashes, and waits if only the newest are missing.
        if (!(error instanceof NodesUnavailable) || !lower) throw error;
        latest = lower;
      }
      return latest;
    },

    /** The last head that was read, with its hash as the node writes it. */
    latest: (): ChainHead | undefined => latest,

    /** Takes a header that came with other answers of a node, for the call of `read` that follows. */
    offer(evm: EvmClient, header: EvmHeader | undefined): void {
      offered = header && { header, node: evm.name };
    },

    /** The time that the next block has been overdue; 0 if it is not, or if blocks are made on demand. */
    overdueMs(): number {
      if (blockTimeMs === undefined || newestTime === undefined) return 0;
      return Math.max(0, now() - newestTime - blockTimeMs);
    },
  };
}
