/** Reads the head of an EVM network, which never goes back to an older one unless no node knows the newer. */
import type { BlockId, ChainHead } from '../chain.js';
import { NodeError, NodesUnavailable } from '../../rpc/node-error.js';
import type { EvmClient } from './client.js';
import type { EvmNodes } from './evm-nodes.js';
import type { EvmHeader } from './replies.js';

/** How often a node that is behind itself is asked again: its balancer may pass the next request to a better one. */
const attempts = 3;
/** How often the finalized block is asked for, and how often a node that reports none. */
const finalizedMs = 10_000;
const finalizedRetryMs = 600_000;

interface Finality {
  /** When the node is asked again. */
  readonly notBefore: number;
  /** What it said last. */
  readonly last?: BlockId;
  /** The lower one of its last two answers. */
  readonly believed?: BlockId;
  /** Its last answer contradicted itself. */
  readonly isAbsurd?: true;
}

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
  /** By the node's name. What one node says of finality never holds for the head of another. */
  const finality = new Map<string, Finality>();

  async function ask(evm: EvmClient): Promise<ChainHead> {
    const known = finality.get(evm.name);
    const isDue = (known?.notBefore ?? 0) <= now();
    const [header, finalized] = await Promise.all([evm.head(), isDue ? evm.finalized() : undefined]);
    const head = accept(evm, header);
    const current = isDue || !known ? weigh(evm, head, finalized, known) : known;
    finality.set(evm.name, current);
    return { ...head, finalized: current.believed };
  }

  /** A node is believed what it has said twice in a row, of a block that is not above its newest. */
  function weigh(
    { name }: EvmClient,
    head: BlockId,
    said: BlockId | undefined,
    before: Finality | undefined,
  ): Finality {
    if (!said) return { notBefore: now() + finalizedRetryMs };
    if (said.height > head.height) {
      if (before?.isAbsurd !== true) {
        warn(`${name} calls block ${said.height} final, above its newest block ${head.height}: ignored`);
      }
      return { notBefore: now() + finalizedMs, isAbsurd: true };
    }
    const last = before?.last;
    const lower = last && last.height < said.height ? last : said;
    return { notBefore: now() + finalizedMs, last: said, ...(last && { believed: lower }) };
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
        // Maybe blocks were taken back. The scanner compares hashes, and waits if nothing but the newest are missing.
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

    /** How long the next block has been overdue; 0 if it is not, or if blocks are made on demand. */
    overdueMs(): number {
      if (blockTimeMs === undefined || newestTime === undefined) return 0;
      return Math.max(0, now() - newestTime - blockTimeMs);
    },
  };
}
