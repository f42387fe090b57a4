/** The simulated chains: blocks and transfers, mining and reorganising, and that everything survives a restart. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';
import { parseAddress } from '../../src/core/addresses/formats.js';
import {
  bestChain,
  merchantId,
  openEmptyFixture,
  openFixture,
  testAddress,
  type ChainFixture,
} from './fixture.js';
import { simulatedNetworks } from '../../src/core/chains/simulated/networks.js';

const { signal } = new AbortController();

describe.each(enginesOfQuick)('Simulated chains on $name', (engine) => {
  let testDatabase: TestDatabase;
  let fixture: ChainFixture;
  beforeAll(async () => {
    testDatabase = await engine.create();
  });
  afterAll(() => testDatabase.dispose());
  beforeEach(async () => {
    fixture = await openEmptyFixture(testDatabase.url);
  });
  afterEach(() => fixture.close());

  const view = async (network: string) => ({
    blocks: await bestChain(fixture.chain(network), 0),
    pending: (await fixture.chain(network).pending(signal)).map(({ txHash }) => txHash),
  });

  it('Every network starts with one block', async () => {
    expect(fixture.simulated.chains.map(({ network }) => network)).toEqual(
      simulatedNetworks.map(({ code }) => code),
    );
    for (const chain of fixture.simulated.chains) {
      const { height, hash } = await chain.head(signal);
      expect(height).toBe(0);
      expect(await chain.block(0, signal)).toMatchObject({ hash, transfers: [], time: fixture.clock.time });
      expect(await chain.block(1, signal)).toBeUndefined();
    }
  });

  it.each([
    ['tron', 'USDT', /^[0-9a-f]{64}$/],
    ['bitcoin', 'BTC', /^[0-9a-f]{64}$/],
    ['litecoin', 'LTC', /^[0-9a-f]{64}$/],
    ['ethereum', 'ETH', /^0x[0-9a-f]{64}$/],
    ['base', 'USDC', /^0x[0-9a-f]{64}$/],
  ])('A transfer on %s is pending, then in the next block only', async (network, currency, form) => {
    const family = simulatedNetworks.find(({ code }) => code === network)?.family ?? 'evm';
    const address = testAddress(family, 3);
    const amount = 123_456_789_012_345_678_901n;
    const txHash = await fixture.database.write((transaction) =>
      fixture.simulated.send(transaction, { merchantId, network, currency, address, amount }),
    );
    expect(txHash).toMatch(form);
    const [waiting, ...others] = await fixture.chain(network).pending(signal);
    expect(others).toEqual([]);
    expect(waiting).toMatchObject({ txHash, outputIndex: 0, currency, address, amount });
    const [sender = ''] = waiting?.senders ?? [];
    expect(parseAddress({ mode: 'test', family }, sender)).toBe(sender);

    await fixture.mine(network, 2);
    expect(await fixture.chain(network).pending(signal)).toEqual([]);
    expect((await fixture.chain(network).block(1, signal))?.transfers).toEqual([waiting]);
    expect((await fixture.chain(network).block(2, signal))?.transfers).toEqual([]);
    const other = network === 'tron' ? 'bitcoin' : 'tron';
    expect(await fixture.chain(other).head(signal)).toMatchObject({ height: 0 });
  });

  it('The pending transactions are right after each change, although a scan does not read them again', async () => {
    const { database, simulated, clock } = fixture;
    const chain = fixture.chain('tron');
    const address = testAddress('tron', 3);
    const transfer = { merchantId, network: 'tron', currency: 'USDT', address, amount: 1n };
    const sendAgain = () => database.write((transaction) => simulated.send(transaction, transfer));
    const seen = async () => (await chain.pending(signal)).map(({ txHash }) => txHash);
    const sent: string[] = [];
    expect(await seen()).toEqual([]);
    for (let count = 0; count < 4; count += 1) {
      clock.time += count % 2;
      sent.push(await sendAgain());
      expect((await seen()).sort()).toEqual([...sent].sort());
    }
    const unchanged = await chain.pending(signal);
    expect(await chain.pending(signal)).toBe(unchanged);

    // One that was sent before the others, and committed after them.
    const late = { ...transfer, tx_hash: 'f'.repeat(64), merchant_id: merchantId, amount: '1', sender: 'T' };
    const { merchantId: _merchant, ...row } = late;
    await database.write((transaction) =>
      transaction
        .insertInto('simulated_transfers')
        .values({ ...row, sent_at: clock.time - 60_000, block_height: null })
        .execute(),
    );
    expect((await seen()).sort()).toEqual([...sent, row.tx_hash].sort());
    // A merchant's test data is wiped: nothing happens on the chain.
    await database.write((transaction) =>
      transaction.deleteFrom('simulated_transfers').where('tx_hash', '=', row.tx_hash).execute(),
    );
    expect((await seen()).sort()).toEqual([...sent].sort());

    await fixture.mine('tron', 1);
    expect(await seen()).toEqual([]);
    const next = await sendAgain();
    expect(await seen()).toEqual([next]);
    await fixture.reorg('tron', 1, true);
    expect((await seen()).sort()).toEqual([...sent, next].sort());
    await fixture.mine('tron', 1);
    await fixture.reorg('tron', 1, false);
    expect(await seen()).toEqual([]);
  });

  it('Blocks link to each other, and have the time of the clock', async () => {
    fixture.clock.time += 60_000;
    await fixture.mine('tron', 5);
    const { height, hash } = await fixture.chain('tron').head(signal);
    expect(height).toBe(5);
    let expected = hash;
    for (let at = height; at > 0; at -= 1) {
      const block = await fixture.chain('tron').block(at, signal);
      expect(block).toMatchObject({ hash: expected, time: fixture.clock.time });
      expected = block?.parentHash ?? '';
    }
    expect((await fixture.chain('tron').block(0, signal))?.hash).toBe(expected);
  });

  it.each([
    [1, 1],
    [3, 3],
    [100, 4],
  ])('A reorganisation of depth %i replaces %i of 4 blocks with empty ones', async (depth, replaced) => {
    const sent = [];
    for (let height = 1; height <= 4; height += 1) {
      sent.push(await fixture.send('tron', 'USDT'));
      await fixture.mine('tron');
    }
    const before = await view('tron');
    await fixture.reorg('tron', depth, true);
    const kept = await view('tron');
    expect(kept.blocks).toHaveLength(5);
    expect(kept.blocks.slice(0, 5 - replaced)).toEqual(before.blocks.slice(0, 5 - replaced));
    for (const block of kept.blocks.slice(5 - replaced)) {
      expect(block.txHashes).toEqual([]);
      expect(block.hash).not.toBe(before.blocks[block.height]?.hash);
    }
    expect(new Set(kept.pending)).toEqual(new Set(sent.slice(4 - replaced)));

    await fixture.mine('tron');
    await fixture.reorg('tron', 1, false);
    const dropped = await view('tron');
    expect(dropped.pending).toEqual([]);
    expect(dropped.blocks.flatMap(({ txHashes }) => txHashes)).toEqual(sent.slice(0, 4 - replaced));
  });

  it("A reorganisation puts another merchant's transfers into the new blocks, at the same heights", async () => {
    const own = await fixture.send('tron', 'USDT');
    const theirs = await fixture.database.write((transaction) =>
      fixture.simulated.send(transaction, {
        merchantId: 'ANOTHER',
        network: 'tron',
        currency: 'USDT',
        address: testAddress('tron', 5),
        amount: 1n,
      }),
    );
    await fixture.mine('tron', 3);
    const before = await view('tron');
    expect(new Set(before.blocks[1]?.txHashes)).toEqual(new Set([own, theirs]));
    await fixture.reorg('tron', 3, false);
    const after = await view('tron');
    expect(after.pending).toEqual([]);
    expect(after.blocks[1]?.hash).not.toBe(before.blocks[1]?.hash);
    expect(after.blocks.map(({ txHashes }) => txHashes)).toEqual([[], [theirs], [], []]);
  });

  it('The first block is never replaced', async () => {
    const before = await view('tron');
    await fixture.reorg('tron', 100, false);
    expect(await view('tron')).toEqual(before);
  });

  it('Everything is still there when the database is opened again', async () => {
    await fixture.send('tron', 'USDT');
    await fixture.mine('tron', 3);
    await fixture.send('tron', 'TRX');
    const before = await view('tron');
    await fixture.close();
    fixture = await openFixture(testDatabase.url);
    expect(await view('tron')).toEqual(before);
    expect(before.pending).toHaveLength(1);
  });

  it('Blocks that are mined at the same time form one chain', async () => {
    await Promise.all(Array.from({ length: 8 }, () => fixture.mine('tron', 2)));
    expect(await fixture.chain('tron').head(signal)).toMatchObject({ height: 16 });
  });

  it('The automatic miner adds a block to a network once its last block is as old as the interval', async () => {
    const heights = async () => {
      const heads = await Promise.all(fixture.simulated.chains.map((chain) => chain.head(signal)));
      return heads.map(({ height }) => height);
    };
    await fixture.simulated.mineDue();
    expect(await heights()).toEqual([0, 0, 0, 0, 0, 0, 0]);
    fixture.clock.time += 1000;
    await Promise.all(Array.from({ length: 4 }, () => fixture.simulated.mineDue()));
    expect(await heights()).toEqual([1, 1, 1, 1, 1, 1, 1]);
    fixture.clock.time += 500;
    await fixture.mine('tron');
    fixture.clock.time += 500;
    await fixture.simulated.mineDue();
    expect(await heights()).toEqual([2, 2, 2, 2, 2, 2, 2]);
  });

  it('The automatic miner continues when a clock that was an hour ahead is right again', async () => {
    fixture.clock.time += 3_600_000;
    await fixture.mine('tron');
    const ahead = await fixture.chain('tron').head(signal);
    fixture.clock.time -= 3_600_000;
    await fixture.simulated.mineDue();
    expect(await fixture.chain('tron').head(signal)).toEqual({
      ...ahead,
      height: ahead.height + 1,
      hash: expect.not.stringMatching(ahead.hash) as string,
    });
  });

  it('Old empty blocks are deleted, those with transfers are kept, and the chain still links', async () => {
    await fixture.mine('tron', 10);
    const txHash = await fixture.send('tron', 'USDT');
    await fixture.mine('tron', 1000);
    await fixture.mine('tron', 1000);
    await fixture.mine('tron', 1000);
    const { count } = await fixture.database.reader
      .selectFrom('simulated_blocks')
      .select((e) => e.fn.countAll<string>().as('count'))
      .where('network', '=', 'tron')
      .executeTakeFirstOrThrow();
    // The first block, the one with the transfer, and the last 1200.
    expect(Number(count)).toBe(1202);
    expect((await fixture.chain('tron').block(11, signal))?.transfers).toMatchObject([{ txHash }]);

    const around = [0, 1, 2, 9, 10, 11, 12, 13, 1808, 1809, 1810, 1811, 1812];
    for (const height of around) {
      const block = await fixture.chain('tron').block(height, signal);
      const after = await fixture.chain('tron').block(height + 1, signal);
      expect(after?.parentHash).toBe(block?.hash);
    }
  });
});
