/** The EVM adapter finds every transfer to a watched address on a real node, once, whatever the chain does. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { createEvmChain, type EvmChain } from '../../../src/modules/networks/evm/evm-chain.js';
import type { ChainDeps } from '../../../src/modules/networks/nodes.js';
import type { EvmConfig } from '../../../src/modules/networks/evm/evm-nodes.js';
import { anvilChainId, startAnvil, type Anvil } from '../../support/anvil.js';
import { startProviderProxy, type ProviderProxy } from '../../support/provider-proxy.js';
import { roundsOf } from '../../support/rounds.js';
import { testAddress } from '../../chains/fixture.js';
import { follow, type Follower } from './follower.js';

const ether = 10n ** 18n;
let anvil: Anvil;
let tokens: { readonly plain: Hex; readonly silent: Hex; readonly fee: Hex; readonly other: Hex };
let splitter: Hex;
let nextIndex = 0;
/** All deposit addresses, in lower case. */
const ours = new Set<string>();

function newAddress(): Hex {
  const address = testAddress('evm', nextIndex++) as Hex;
  ours.add(address.toLowerCase());
  return address;
}

const watched: ChainDeps['watched'] = async (addresses) =>
  new Set(addresses.filter((address) => ours.has(address)));

function config(changes: Partial<EvmConfig> = {}): EvmConfig {
  return {
    mode: 'test',
    network: 'evm-dev',
    chainId: anvilChainId,
    nodes: [anvil.url],
    assets: [
      { currency: 'ETH', decimals: 18 },
      { currency: 'USDC', decimals: 18, unitDecimals: 6, contract: tokens.plain },
      { currency: 'USDT', decimals: 6, contract: tokens.silent },
      { currency: 'FEE', decimals: 6, contract: tokens.fee },
    ],
    ...changes,
  };
}

const openChain = (changes: Partial<EvmConfig> = {}, deps: Partial<ChainDeps> = {}): EvmChain =>
  createEvmChain(config(changes), { watched, ...deps });

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

beforeAll(async () => {
  anvil = await startAnvil();
  tokens = {
    plain: await anvil.deploy('PlainToken', [18]),
    silent: await anvil.deploy('SilentToken'),
    fee: await anvil.deploy('FeeToken'),
    other: await anvil.deploy('PlainToken', [6]),
  };
  splitter = await anvil.deploy('Splitter');
  await anvil.mine(10);
});
afterAll(() => anvil.stop());

describe('Transfers in blocks', () => {
  let follower: Follower;
  beforeAll(async () => {
    follower = await follow(openChain());
  });

  it('A transfer of the native coin is found, with its sender and exact amount', async () => {
    const address = newAddress();
    const txHash = await anvil.send(address, 1_234_567_890_123_456_789n);
    await follower.sync();
    expect(follower.transfers(address)).toEqual([
      {
        txHash,
        outputIndex: 0,
        currency: 'ETH',
        senders: [anvil.sender],
        address,
        amount: 1_234_567_890_123_456_789n,
        height: follower.head().height,
      },
    ]);
  });

  it.each([
    { name: 'plain', contract: 'PlainToken', currency: 'USDC', sent: 5n * ether, got: 5_000_000n },
    { name: 'silent', contract: 'SilentToken', currency: 'USDT', sent: 5_000_001n, got: 5_000_001n },
    { name: 'fee', contract: 'FeeToken', currency: 'FEE', sent: 5_000_000n, got: 4_950_000n },
  ] as const)(
    'A transfer of a $contract is found, with the amount that arrived',
    async ({ name, contract, currency, sent, got }) => {
      const address = newAddress();
      const txHash = await anvil.call(contract, tokens[name], 'transfer', [address, sent]);
      await follower.sync();
      expect(follower.transfers(address)).toMatchObject([
        { txHash, currency, amount: got, senders: [anvil.sender] },
      ]);
    },
  );

  it('A fraction of the smallest unit of the currency is cut off', async () => {
    const address = newAddress();
    await anvil.call('PlainToken', tokens.plain, 'transfer', [address, 1_999_999_999_999n]);
    await follower.sync();
    expect(follower.received(address)).toEqual([{ currency: 'USDC', amount: 1n }]);
  });

  it('Two transfers of one transaction are found, and two transactions in one block', async () => {
    const [a, b] = [newAddress(), newAddress()];
    await anvil.call('PlainToken', tokens.plain, 'transferToBoth', [a, b, ether]);
    await anvil.automine(false);
    await anvil.send(a, 1n);
    await anvil.send(a, 2n);
    await anvil.call('PlainToken', tokens.plain, 'transferToBoth', [a, a, 2n * ether]);
    await anvil.mine();
    await anvil.automine(true);
    await follower.sync();
    expect(follower.received(a)).toEqual([
      { currency: 'USDC', amount: 1_000_000n },
      { currency: 'ETH', amount: 1n },
      { currency: 'ETH', amount: 2n },
      { currency: 'USDC', amount: 2_000_000n },
      { currency: 'USDC', amount: 2_000_000n },
    ]);
    expect(follower.received(b)).toEqual([{ currency: 'USDC', amount: 1_000_000n }]);
    const keys = follower.transfers(a).map(({ txHash, outputIndex }) => `${txHash}:${outputIndex}`);
    expect(new Set(keys).size).toBe(5);
  });

  it('Tokens that are not configured, addresses of others and transfers of nothing are ignored', async () => {
    const address = newAddress();
    await anvil.call('PlainToken', tokens.other, 'transfer', [address, ether]);
    await anvil.call('PlainToken', tokens.plain, 'transfer', [address, 0n]);
    await anvil.send(address, 0n);
    const foreign = testAddress('evm', 5000) as Hex;
    await anvil.send(foreign, 1n);
    await follower.sync();
    expect([...follower.transfers(address), ...follower.transfers(foreign)]).toEqual([]);
  });

  it('A transaction that failed is ignored', async () => {
    const address = newAddress();
    ours.add(splitter.toLowerCase());
    // The splitter stands for a deposit address here: the transaction sends coins to it, and fails.
    await anvil.call('Splitter', splitter, 'fail', [address], ether);
    await follower.sync();
    ours.delete(splitter.toLowerCase());
    expect(follower.received(splitter)).toEqual([]);
  });

  it('A transfer from an address to itself is ignored: nothing arrives', async () => {
    ours.add(anvil.sender.toLowerCase());
    await anvil.send(anvil.sender, ether);
    await anvil.call('PlainToken', tokens.plain, 'transfer', [anvil.sender, ether]);
    await follower.sync();
    ours.delete(anvil.sender.toLowerCase());
    expect(follower.received(anvil.sender)).toEqual([]);
  });

  it('A new block in which nothing arrives needs two requests: the head, and the block with its logs', async () => {
    const chain = openChain();
    const quiet = await follow(chain);
    await quiet.sync();
    await anvil.send(testAddress('evm', 5000), 1n);
    const { signal } = new AbortController();
    const before = chain.status().nodes[0]?.requests ?? 0;
    const { height } = await chain.head(signal);
    expect(height).toBe(quiet.head().height + 1);
    expect(await chain.block(height, signal)).toMatchObject({ transfers: [] });
    expect((chain.status().nodes[0]?.requests ?? 0) - before).toBe(2);
    // An older block needs its hash before its logs can be asked for.
    expect(await chain.block(height - 1, signal)).toMatchObject({ height: height - 1 });
    expect((chain.status().nodes[0]?.requests ?? 0) - before).toBe(4);
  });
});

describe('Pending transfers', () => {
  it.each([
    { what: 'the native coin', send: (to: Hex) => anvil.send(to, ether), amount: ether },
    {
      what: 'a token',
      send: (to: Hex) => anvil.call('SilentToken', tokens.silent, 'transfer', [to, 7n]),
      amount: 7n,
    },
  ])('A transfer of $what is seen before its block, under the same identity', async ({ send, amount }) => {
    const address = newAddress();
    const follower = await follow(openChain());
    await anvil.automine(false);
    const txHash = await send(address);
    await follower.sync();
    const [pending] = follower.transfers(address);
    await anvil.mine();
    await anvil.automine(true);
    await follower.sync();
    const [mined, ...more] = follower.transfers(address);
    expect(pending).toMatchObject({ txHash, amount, height: 'pending' });
    expect(mined).toEqual({ ...pending, height: follower.head().height });
    expect(more).toEqual([]);
  });

  it('The log of a token that takes a fee replaces the pending amount', async () => {
    const address = newAddress();
    const follower = await follow(openChain());
    await anvil.automine(false);
    await anvil.call('FeeToken', tokens.fee, 'transfer', [address, 100n]);
    await follower.sync();
    const [pending] = follower.transfers(address);
    await anvil.mine();
    await anvil.automine(true);
    await follower.sync();
    const [mined] = follower.transfers(address);
    expect([pending?.amount, mined?.amount]).toEqual([100n, 99n]);
    expect(mined?.outputIndex).toBe(pending?.outputIndex);
  });

  it('Pending transfers are not asked for while no payment is open, except those that are known', async () => {
    const address = newAddress();
    let isOpen = true;
    const chain = openChain({}, { hasOpen: async () => isOpen });
    const follower = await follow(chain);
    await anvil.automine(false);
    await anvil.send(address, ether);
    await follower.sync();
    isOpen = false;
    await follower.sync();
    expect(follower.transfers(address)).toMatchObject([{ height: 'pending' }]);
    await anvil.mine();
    await anvil.send(address, ether);
    await follower.sync();
    expect(follower.transfers(address)).toMatchObject([{ amount: ether }]);
    expect(follower.received(address)).toHaveLength(1);
    await anvil.automine(true);
  });

  it('A pending transfer that was replaced is forgotten', async () => {
    const [address, other] = [newAddress(), newAddress()];
    const follower = await follow(openChain());
    await anvil.automine(false);
    const txHash = await anvil.send(address, ether);
    await follower.sync();
    expect(follower.transfers(address)).toMatchObject([{ height: 'pending' }]);
    await anvil.rpc('anvil_dropTransaction', [txHash]);
    await anvil.send(other, ether);
    await follower.sync();
    expect(follower.transfers(address)).toEqual([]);
    expect(follower.transfers(other)).toMatchObject([{ height: 'pending' }]);
    await anvil.mine();
    await anvil.automine(true);
    await follower.sync();
    expect(follower.received(other)).toEqual([{ currency: 'ETH', amount: ether }]);
  });
});

describe('Reorganisations', () => {
  describe.each([1, 2, 5, 13])('A reorganisation of depth %i', (depth) => {
    it('A reorganisation drops the payments in its blocks', async () => {
      const address = newAddress();
      const follower = await follow(openChain());
      await anvil.send(address, ether);
      await anvil.call('SilentToken', tokens.silent, 'transfer', [address, 9n]);
      await anvil.mine(Math.max(0, depth - 2));
      await follower.sync();
      const total = follower.received(address).length;
      await anvil.reorg(Math.max(depth, 1));
      await follower.sync();
      expect(total).toBe(2);
      expect(follower.received(address)).toHaveLength(depth === 1 ? 1 : 0);
      expect(follower.reorgs).toHaveLength(1);
    });

    it('A reorganisation moves a payment to another block, where it keeps its identity', async () => {
      const address = newAddress();
      const follower = await follow(openChain());
      const raw = await anvil.sign(address, ether);
      await anvil.publish(raw);
      await anvil.mine(depth - 1);
      await follower.sync();
      const [before] = follower.transfers(address);
      await anvil.reorg(depth, [[raw, depth - 1]]);
      await follower.sync();
      const after = follower.transfers(address);
      expect(after).toHaveLength(1);
      expect(after[0]).toMatchObject({
        txHash: before?.txHash,
        outputIndex: before?.outputIndex,
        amount: ether,
      });
      expect(after[0]?.height).toBe(Number(before?.height) + depth - 1);
    });

    it('A reorganisation replaces a payment by one to another address', async () => {
      const [address, other] = [newAddress(), newAddress()];
      const follower = await follow(openChain());
      const nonce = Number(await anvil.rpc<string>('eth_getTransactionCount', [anvil.sender, 'latest']));
      await anvil.publish(await anvil.sign(address, ether, nonce));
      await anvil.mine(depth - 1);
      await follower.sync();
      await anvil.reorg(depth, [[await anvil.sign(other, ether, nonce), 0]]);
      await follower.sync();
      expect(follower.received(address)).toEqual([]);
      expect(follower.received(other)).toEqual([{ currency: 'ETH', amount: ether }]);
    });
  });
});

describe('Random events', () => {
  const seeds = Array.from({ length: roundsOf({ usual: 2, soak: 20 }) }, (_, index) => index + 1);

  it.each(seeds)(
    'Random events leave what a fresh reading finds, whenever blocks were read in between (seed %i)',
    async (seed) => {
      const random = randomOf(seed);
      const addresses = Array.from({ length: 4 }, newAddress);
      const { blocks: _, ...single } = openChain();
      const followers = [await follow(openChain()), await follow(single)];
      const start = followers[0]?.head();
      let depth = 0;
      for (let count = 0; count < 40; count += 1) {
        const address = addresses[random(addresses.length)] ?? newAddress();
        const amount = BigInt(1 + random(1000));
        switch (random(8)) {
          case 0:
          case 1:
            await anvil.send(address, amount);
            depth += 1;
            break;
          case 2:
            await anvil.call('SilentToken', tokens.silent, 'transfer', [address, amount]);
            depth += 1;
            break;
          case 3: {
            const blocks = 1 + random(12);
            await anvil.mine(blocks);
            depth += blocks;
            break;
          }
          case 4: {
            const replaced = Math.min(depth, 1 + random(4));
            if (replaced > 0) await anvil.reorg(replaced);
            break;
          }
          default:
            await followers[random(2)]?.sync();
        }
      }
      for (const follower of followers) await follower.sync();
      const fresh = await follow(single, start);
      await fresh.sync();
      const found = (follower: Follower) =>
        addresses.map((address) =>
          follower.transfers(address).sort((a, b) => Number(a.height) - Number(b.height)),
        );
      const expected = found(fresh);
      expect(followers.map(found)).toEqual([expected, expected]);
      const { signal } = new AbortController();
      const balances = addresses.map((address) => anvil.rpc<string>('eth_getBalance', [address, 'latest']));
      const received = addresses.map((address) =>
        fresh
          .received(address)
          .filter(({ currency }) => currency === 'ETH')
          .reduce((sum, { amount }) => sum + amount, 0n),
      );
      expect(received).toEqual((await Promise.all(balances)).map(BigInt));
      expect(await openChain().head(signal)).toMatchObject({
        height: fresh.head().height,
        hash: fresh.head().hash,
      });
    },
  );
});

describe('Catching up', () => {
  it('Catching up by ranges has the same result as block by block', async () => {
    const start = await follow(openChain());
    const last = start.head();
    const addresses = Array.from({ length: 12 }, newAddress);
    for (const address of addresses) {
      await anvil.send(address, ether);
      await anvil.call('SilentToken', tokens.silent, 'transfer', [address, 3n]);
      await anvil.mine(4);
    }
    const ranged = openChain();
    const byRange = await follow(ranged, last);
    await byRange.sync();
    const { blocks: _, ...single } = openChain();
    const byBlock = await follow(single, last);
    await byBlock.sync();
    const found = addresses.map((address) => byRange.transfers(address));
    expect(found).toEqual(addresses.map((address) => byBlock.transfers(address)));
    expect(found.map((transfers) => transfers.length)).toEqual(addresses.map(() => 2));
    const { nodes } = ranged.status();
    expect(nodes[0]?.requests).toBeLessThan(80);
  });

  it('Catching up reads ahead of the requested blocks, but not near the newest one, and gives every block once', async () => {
    const { signal } = new AbortController();
    const before = await openChain().head(signal);
    const address = newAddress();
    for (let part = 0; part < 10; part += 1) {
      await anvil.send(address, ether);
      await anvil.mine(10);
    }
    const chain = openChain();
    const requests = () => chain.status().nodes[0]?.requests ?? 0;
    const { height: tip } = await chain.head(signal);
    const read: string[] = [];
    const paid: string[] = [];
    let from = before.height + 1;
    // Steps end in the middle of the blocks that were read ahead.
    for (let step = 11; from <= tip; step += 1) {
      const blocks = await chain.blocks(from, Math.min(tip, from + step - 1), signal);
      for (const { height, hash, parentHash, transfers } of blocks) {
        expect([height, read.at(-1) ?? parentHash]).toEqual([from, parentHash]);
        read.push(hash);
        paid.push(...transfers.map(({ txHash }) => txHash));
        from += 1;
      }
    }
    expect(new Set(paid).size).toBe(10);
    expect(paid).toHaveLength(10);
    // The last blocks could still be replaced: they are read when they are asked for, after a reorganisation too.
    const last = await anvil.send(newAddress(), ether);
    await anvil.reorg(1);
    await chain.head(signal);
    const used = requests();
    const [newest] = await chain.blocks(tip + 1, tip + 1, signal);
    expect(requests()).toBeGreaterThan(used);
    expect(newest?.transfers.map(({ txHash }) => txHash)).not.toContain(last);
  });
});

describe('Assets', () => {
  it('An asset is off, with a reason, if its contract has other decimals or is no token', async () => {
    const warnings: string[] = [];
    const chain = openChain(
      {
        assets: [
          { currency: 'ETH', decimals: 18 },
          { currency: 'USDT', decimals: 18, contract: tokens.silent },
          { currency: 'USDC', decimals: 6, contract: splitter },
        ],
      },
      { warn: (message) => warnings.push(message) },
    );
    const follower = await follow(chain);
    const address = newAddress();
    await anvil.call('SilentToken', tokens.silent, 'transfer', [address, 5n]);
    await anvil.send(address, ether);
    await follower.sync();
    expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: ether }]);
    expect(chain.status().assetProblems).toEqual([
      {
        currency: 'USDT',
        problem: `USDT on evm-dev is off: the contract ${tokens.silent} has 6 decimals, not 18. Correct the decimals or the contract in NETWORKS_FILE.`,
      },
      {
        currency: 'USDC',
        problem: `USDC on evm-dev is off: there is no ERC-20 token at ${splitter}. Correct the contract in NETWORKS_FILE.`,
      },
    ]);
    expect(warnings).toHaveLength(2);
  });

  it('An asset cannot be configured twice, or with a contract that is no address', () => {
    const eth = { currency: 'ETH', decimals: 18 };
    const token = { currency: 'USDT', decimals: 6, contract: tokens.silent };
    expect(() => openChain({ assets: [eth, eth] })).toThrow('two assets without a contract');
    expect(() => openChain({ assets: [token, { ...token, currency: 'USDC' }] })).toThrow('twice');
    expect(() => openChain({ assets: [{ ...token, contract: '0x12' }] })).toThrow('is not an address');
  });
});

it('The block of a transaction is shown until a reorganisation drops it', async () => {
  const { signal } = new AbortController();
  const chain = openChain();
  const txHash = await anvil.send(newAddress(), 1n);
  const { height } = await chain.head(signal);
  expect(await chain.locate(txHash, signal)).toEqual({ height, isFailed: false });
  expect(await chain.locate(txHash.slice(2).toUpperCase(), signal)).toEqual({ height, isFailed: false });
  await anvil.reorg(1);
  expect(await chain.locate(txHash, signal)).toBeUndefined();
});

it('The cost of a transaction that succeeded is shown, with its payer', async () => {
  const { signal } = new AbortController();
  const chain = openChain();
  const held = () => anvil.rpc<string>('eth_getBalance', [anvil.sender, 'latest']).then(BigInt);
  const before = await held();
  const txHash = await anvil.send(newAddress(), 7n);
  const payer = anvil.sender.toLowerCase();
  expect(await chain.cost(txHash, signal)).toEqual({ fee: before - (await held()) - 7n, payer });
  expect(await chain.cost('ab'.repeat(32), signal)).toBeUndefined();
});

describe('The final block of a node', () => {
  const { signal } = new AbortController();
  let proxy: ProviderProxy;
  let time: number;
  /** The height that `finalized` is answered with; the node's own answer if it is undefined. */
  let reported: number | undefined;
  let warnings: string[];
  beforeEach(async () => {
    proxy = await startProviderProxy(anvil.url);
    proxy.change = ({ params }, result) =>
      reported === undefined || params[0] !== 'finalized'
        ? undefined
        : { ...(result as object), number: `0x${reported.toString(16)}` };
    [time, reported, warnings] = [Date.now(), undefined, []];
    await anvil.mine(5);
  });
  afterEach(() => proxy.close());

  const openProxied = () =>
    createEvmChain(
      { mode: 'test', network: 'evm-dev', chainId: anvilChainId, nodes: [proxy.url], assets: [] },
      {
        watched: async () => new Set(),
        warn: (message) => warnings.push(message),
        now: () => time,
      },
    );
  const finalizedOf = async (chain: EvmChain) => {
    time += 11_000;
    return (await chain.head(signal)).finalized;
  };

  it('A final block is believed once the node has moved on from it: the lower one of its last two answers', async () => {
    const chain = openProxied();
    reported = 100;
    expect(await finalizedOf(chain)).toBeUndefined();
    expect(await finalizedOf(chain)).toBeUndefined();
    reported = 101;
    expect(await finalizedOf(chain)).toMatchObject({ height: 100 });
    expect(await finalizedOf(chain)).toMatchObject({ height: 101 });
    await anvil.mine();
    reported = 102;
    expect(await finalizedOf(chain)).toMatchObject({ height: 101 });
    expect(await finalizedOf(chain)).toMatchObject({ height: 102 });
  });

  it('A final block above the newest one is ignored, and reported once; no maximum is kept', async () => {
    const chain = openProxied();
    for (reported of [2, 3]) await finalizedOf(chain);
    expect(await finalizedOf(chain)).toMatchObject({ height: 3 });
    reported = 1_000_000_000;
    expect(await finalizedOf(chain)).toBeUndefined();
    expect(await finalizedOf(chain)).toBeUndefined();
    reported = 1;
    expect(await finalizedOf(chain)).toBeUndefined();
    reported = 2;
    expect(await finalizedOf(chain)).toMatchObject({ height: 1 });
    expect(warnings.filter((text) => text.includes('calls block 1000000000 final'))).toHaveLength(1);
  });
});
