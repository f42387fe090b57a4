/** Reads what an account has sent of the coin: its nonce tells the blocks, and they hold its transactions. */
import type { BalanceReading, Spending } from '../balance-source.js';
import { unlessRefused, type EvmClient } from './client.js';

/** So many blocks are read: an account that sends more is no deposit address. */
const mostBlocks = 50;

/** @returns undefined if the node does not tell, or has another block at that height */
export async function readSpending(
  evm: EvmClient,
  owner: string,
  since: number,
  { height: upTo, hash }: Pick<BalanceReading, 'height' | 'hash'>,
): Promise<Spending | undefined> {
  const nonceAt = (height: number) => unlessRefused(evm.nonce(owner, height));
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
