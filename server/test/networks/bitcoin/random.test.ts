/**
 * Random payments, replacements, blocks, reorgs and failures: a scan that followed them ends where a fresh one does,
 * and agrees with the node's coins.
 */
import { describe, expect, it } from 'vitest';
import { createAddressSource } from '../../../src/core/addresses/address-sources.js';
import { createBitcoinChain } from '../../../src/modules/networks/bitcoin/bitcoin-chain.js';
import { readSatoshis } from '../../../src/modules/networks/bitcoin/transactions.js';
import type { Chain, ChainBlock, ChainHead, ChainTransfer } from '../../../src/core/chains/chain.js';
import { readDifference } from '../../../src/core/chains/read-chain.js';
import { litecoinTestKey } from '../../support/extended-keys.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../../support/litecoin.js';
import { startNodeProxy } from '../../support/core-proxy.js';
import { roundsOf, startRound } from '../../support/rounds.js';

const { signal } = new AbortController();
const title = 'The Bitcoin adapter';
const rounds = roundsOf({ usual: 1, soak: 10 });
const actions = 25;
const source = createAddressSource('test', 'litecoin', litecoinTestKey, { net: 'regtest' });
const ours = Array.from({ length: 5 }, (_, index) => source.derive(index));
const watched = async (addresses: readonly string[]) =>
  new Set(addresses.filter((address) => ours.includes(address)));

/** Mulberry32: a small random number generator that gives the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Follows a chain as the scanner does. */
function follow(chain: Chain, start: ChainHead) {
  let last = start;
  const blocks = new Map<number, ChainBlock>();
  const known: ChainHead[] = [start];
  let pending: readonly ChainTransfer[] = [];
  return {
    async scan() {
      for (let isDone = false; !isDone;) {
        const read = await readDifference(
          chain,
          {
            last,
            scanned: async () => ({ blocks: [...known].reverse(), isComplete: true }),
            beforeBlock: async () => {},
          },
          50,
          signal,
        );
        const { orphanedAbove } = read;
        if (orphanedAbove !== undefined) {
          while ((known.at(-1)?.height ?? 0) > orphanedAbove) blocks.delete(known.pop()?.height ?? 0);
        }
        for (const block of read.blocks) {
          blocks.set(block.height, block);
          known.push(block);
        }
        last = read.head;
        if (read.pending) pending = read.pending;
        isDone = read.pending !== undefined;
      }
    },
    transfers: () => [...blocks.values()].flatMap(({ transfers }) => transfers),
    pending: () => pending,
  };
}

const textOf = (transfers: readonly ChainTransfer[]) =>
  transfers.map(({ txHash, outputIndex, amount }) => `${txHash}:${outputIndex} ${amount}`).sort();

describe.skipIf(!hasLitecoind)(title, () => {
  it.each(Array.from({ length: rounds }, (_, index) => index + 1))(
    'A scan that followed random events ends where a fresh scan does (seed %i)',
    async (seed) => {
      startRound(title, seed - 1, rounds);
      const node = await startLitecoin();
      const proxy = await startNodeProxy(node.url);
      try {
        await run(seed, node, proxy);
      } finally {
        await proxy.close();
        await node.stop();
      }
    },
    60_000,
  );
});

async function run(
  seed: number,
  node: LitecoinNode,
  proxy: Awaited<ReturnType<typeof startNodeProxy>>,
): Promise<void> {
  const random = randomOf(seed);
  const openChain = (nodes: readonly string[]) =>
    createBitcoinChain({ ...litecoinRegtest, nodes }, { watched });
  const chain = openChain([proxy.url]);
  const start = await chain.head(signal);
  const follower = follow(chain, start);
  const replaceable: string[] = [];
  const done: string[] = [];
  const somebody = await node.rpc<string>('getnewaddress');
  const address = () => ours[random(ours.length)] ?? somebody;

  for (let count = 0; count < actions; count += 1) {
    const action = random(10);
    done.push(String(action));
    if (action < 3) {
      const isReplaceable = random(2) === 0;
      const txid = await node.pay(address(), `0.${1000 + random(9000)}`, isReplaceable);
      if (isReplaceable) replaceable.push(txid);
    } else if (action === 3) {
      const txid = replaceable.pop();
      const waiting = await node.rpc<string[]>('getrawmempool');
      if (txid !== undefined && waiting.includes(txid)) {
        // It fails if another transaction already spends its change: then it stays.
        await node.replace(txid, random(2) === 0 ? somebody : address()).catch(() => undefined);
      }
    } else if (action < 7) {
      await node.mine(1 + random(2));
    } else if (action === 7) {
      await node.reorg(1 + random(3), random(2) === 0 ? 'mined again' : 'waiting');
    } else {
      // Fails at a random call of the next scan.
      let calls = random(6);
      proxy.behave = () => ((calls -= 1) === 0 ? 'hang up' : undefined);
    }
    await follower.scan().catch(() => undefined);
    if (action >= 8) proxy.behave = undefined;
  }
  await follower.scan();
  expect(textOf(follower.pending())).toEqual(textOf(await freshPending(openChain([node.url]))));
  await node.mine();
  await follower.scan();

  const fresh = follow(openChain([node.url]), start);
  await fresh.scan();
  expect(textOf(follower.transfers()), done.join()).toEqual(textOf(fresh.transfers()));
  expect(follower.pending()).toEqual([]);

  // Nobody spends from our addresses, so what the node counts there is what arrived.
  const { total_amount: total } = await node.rpc<{ total_amount: number }>(
    'scantxoutset',
    'start',
    ours.map((one) => `addr(${one})`),
  );
  const arrived = follower.transfers().reduce((sum, { amount }) => sum + amount, 0n);
  expect(arrived).toBe(readSatoshis(total));
  expect(arrived).toBeGreaterThan(0n);
}

async function freshPending(chain: Chain): Promise<readonly ChainTransfer[]> {
  await chain.head(signal);
  return chain.pending(signal);
}
