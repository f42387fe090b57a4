/** Reads what addresses hold from the nodes of an EVM network: at a block where they keep its state, otherwise now. */
import type { ChainAsset } from '../../../core/chains/assets.js';
import type { BlockId } from '../../../core/chains/chain.js';
import { NodeError } from '../rpc/node-error.js';
import type { BlockRef, EvmClient } from './client.js';
import type { Dialect } from './dialect.js';
import type { EvmNodes } from './evm-nodes.js';
import { groupBy } from '../../../core/shared/group-by.js';

export interface AskedBalance {
  /** In canonical form. */
  readonly address: string;
  readonly asset: ChainAsset;
}

/** Balances after one block, from one node. */
export interface BalanceReading {
  /** `node 1` for the first of the configuration. */
  readonly node: string;
  readonly height: number;
  readonly hash: string;
  /** As the chain counts them, in the order asked. */
  readonly amounts: readonly bigint[];
}

export interface Spending {
  /** The number of transactions that the address had sent after the block. */
  readonly sent: number;
  readonly amount: bigint;
  /** The height of the first of those transactions. */
  readonly from: number;
}

export type BalanceSource = ReturnType<typeof createBalanceSource>;

/** The number of times that the newest balances are read again if a block came in between. */
const attempts = 3;
/** The number of addresses to ask about at once, if one call of a token covers them all, and if each takes a call of its own. */
const mostAtOnce = 250;
const mostOneByOne = 15;

export function createBalanceSource(nodes: EvmNodes, dialect: Dialect) {
  async function readAll(evm: EvmClient, asked: readonly AskedBalance[], at: BlockRef): Promise<bigint[]> {
    const amounts = new Array<bigint>(asked.length).fill(0n);
    const places = asked.map(({ address, asset }, place) => {
      const token = asset.contract && dialect.readAddress(asset.contract);
      const hex = dialect.readAddress(address);
      if (hex === undefined) throw new Error(`${address} is not an address of this network`);
      return { token, hex, place };
    });
    await Promise.all(
      [...groupBy(places, ({ token }) => token)].map(async ([token, list]) => {
        const addresses = list.map(({ hex }) => hex);
        const read = dialect.hasBalancesAtBlock
          ? await evm.balances(token, addresses, at)
          : await Promise.all(addresses.map((address) => evm.newestBalance(token, address)));
        for (const [index, { place }] of list.entries()) amounts[place] = read[index] ?? 0n;
      }),
    );
    return amounts;
  }

  async function readNewest(evm: EvmClient, asked: readonly AskedBalance[]): Promise<BalanceReading> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const before = await evm.head();
      const amounts = await readAll(evm, asked, 'latest');
      const { height, hash } = await evm.head();
      if (hash === before.hash) return { node: evm.name, height, hash: dialect.writeHash(hash), amounts };
    }
    throw new NodeError('inconsistent', `${evm.name} had a new block each time that balances were read`);
  }

  const rawHash = (hash: string) => (hash.startsWith('0x') ? hash : `0x${hash}`);

  /** Undefined if the node does not report older balances. */
  async function readAt(
    evm: EvmClient,
    asked: readonly AskedBalance[],
    { height, hash }: BlockId,
  ): Promise<BalanceReading | undefined> {
    if (!dialect.hasBalancesAtBlock) return undefined;
    const amounts = await evm.atBlock(() => readAll(evm, asked, { blockHash: rawHash(hash) }));
    return amounts && { node: evm.name, height, hash: dialect.writeHash(rawHash(hash)), amounts };
  }

  return {
    /** True if a node belongs to another provider than the previous node, or if all nodes belong to one provider. */
    isAnother: (node: string, previous: string): boolean =>
      nodes.providers === 1 || nodes.providerOf(node) !== nodes.providerOf(previous),
    /** The number of addresses that a node reports at little cost. */
    pageSize: dialect.hasBalancesAtBlock ? mostAtOnce : mostOneByOne,

    /**
     * Reads balances after a block, or after the newest one if the node does not report older ones.
     * @param except the node not to ask, nor others of its provider, if there is another
     * @throws NodesUnavailable, like all that follow
     */
    read: (asked: readonly AskedBalance[], block: BlockId, except: string | undefined, signal: AbortSignal) =>
      nodes.run(async (evm) => (await readAt(evm, asked, block)) ?? readNewest(evm, asked), signal, except),

    /** The same after a block by its height, which may be old; undefined if no node has its state. */
    readOld: (
      asked: readonly AskedBalance[],
      height: number,
      except: string | undefined,
      signal: AbortSignal,
    ) =>
      nodes.run(
        async (evm) => {
          const header = dialect.hasBalancesAtBlock ? await evm.header(height) : undefined;
          return header && readAt(evm, asked, header);
        },
        signal,
        except,
      ),

    /** The number of transactions that an address has sent; undefined if nodes do not report it. */
    sent: (address: string, signal: AbortSignal) =>
      nodes.run((evm) => evm.sent(dialect.readAddress(address) ?? address), signal),

    /**
     * The amount of the coin that an account at an address has sent up to a block, with the fees, in all transactions
     * but its first ones; undefined if the nodes do not report it.
     * @param since the number of transactions that are left out
     */
    async spending(
      address: string,
      since: number,
      upTo: Pick<BalanceReading, 'height' | 'hash'>,
      signal: AbortSignal,
    ): Promise<Spending | undefined> {
      const owner = dialect.readAddress(address);
      if (owner === undefined || !dialect.hasBalancesAtBlock) return undefined;
      const answers = await nodes.each(
        (evm) => readSpending(evm, owner, since, { ...upTo, hash: rawHash(upTo.hash) }),
        signal,
      );
      return answers.find((found) => found !== undefined);
    },

    /** When a block was made, and its hash. */
    blockAt: (height: number, signal: AbortSignal) =>
      nodes.run(async (evm) => {
        const header = await evm.header(height);
        return (
          header && {
            hash: dialect.writeHash(header.hash),
            parentHash: dialect.writeHash(header.parentHash),
            time: header.time,
          }
        );
      }, signal),
  };
}

/** So many blocks are read: an account that sends more is no deposit address. */
const mostBlocks = 50;

/**
 * The amount of the coin that an account has sent: its nonce identifies the blocks, and they hold its transactions.
 * @returns undefined if the node does not report it, or has another block at that height
 */
async function readSpending(
  evm: EvmClient,
  owner: string,
  since: number,
  { height: upTo, hash }: Pick<BalanceReading, 'height' | 'hash'>,
): Promise<Spending | undefined> {
  const nonceAt = (height: number) => evm.atBlock(() => evm.nonce(owner, height));
  const sent = await nonceAt(upTo);
  if (sent === undefined || sent <= since) return undefined;
  const heights = await blocksOf(nonceAt, since, { height: upTo, nonce: sent });
  if (!heights) return undefined;
  let [amount, found] = [0n, 0];
  for (const height of heights) {
    const block = await evm.block(height);
    const own = block?.transactions.filter(({ from }) => from === owner) ?? [];
    const receipts = await evm.receipts(own.map((one) => one.hash));
    for (const [index, { value }] of own.entries()) {
      const receipt = receipts[index];
      if (!receipt?.fee || receipt.blockHash !== block?.hash) return undefined;
      amount += receipt.fee.amount + (receipt.isSuccess ? value : 0n);
      found += 1;
    }
  }
  // Delegated accounts (EIP-7702) have nonces without a transaction of their own.
  const isWhole = found === sent - since && (await evm.header(upTo))?.hash === hash;
  return isWhole ? { sent, amount, from: heights[0] ?? upTo } : undefined;
}

interface NonceAt {
  readonly height: number;
  readonly nonce: number;
}

/** The blocks in which the nonce rose, oldest first: backwards in growing steps, and then by halves. */
async function blocksOf(
  nonceAt: (height: number) => Promise<number | undefined>,
  since: number,
  last: NonceAt,
): Promise<number[] | undefined> {
  let first = last;
  for (let step = 1; first.nonce > since && first.height > 0; step *= 2) {
    const height = Math.max(0, first.height - step);
    const nonce = await nonceAt(height);
    if (nonce === undefined) return undefined;
    first = { height, nonce };
  }
  if (first.nonce > since) return undefined;
  const heights: number[] = [];
  const spans: (readonly [NonceAt, NonceAt])[] = [[first, last]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [from, to] = span;
    if (to.nonce <= Math.max(from.nonce, since)) continue;
    if (to.height - from.height === 1) {
      if (heights.push(to.height) > mostBlocks) return undefined;
      continue;
    }
    const height = Math.floor((from.height + to.height) / 2);
    const nonce = await nonceAt(height);
    if (nonce === undefined) return undefined;
    spans.push([{ height, nonce }, to], [from, { height, nonce }]);
  }
  return heights;
}
