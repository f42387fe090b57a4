/** Several scanners of one database: one scans, and another takes over when it stops, dies or loses its node. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCursor } from '../../src/core/scanning/cursors.js';
import type { Chain } from '../../src/core/chains/chain.js';
import { lastEngine, type TestDatabase } from '../support/engines.js';
import {
  bestChain,
  openEmptyFixture,
  openFixture,
  recordedBlocks,
  recordedPending,
  scannerOn,
  type TestScanner,
  type ChainFixture,
  testNetwork,
} from '../chains/fixture.js';

/** A second, the default, is too short on a busy machine. */
const patience = { timeout: 10_000 };

const { signal } = new AbortController();

describe.skipIf(lastEngine.name !== 'PostgreSQL')('Several scanners on PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let fixtures: [ChainFixture, ChainFixture];
  let scanners: [TestScanner, TestScanner];
  beforeAll(async () => {
    testDatabase = await lastEngine.create();
  });
  afterAll(() => testDatabase.dispose());
  beforeEach(async () => {
    const first = await openEmptyFixture(testDatabase.url);
    fixtures = [first, await openFixture(testDatabase.url, first.clock)];
    scanners = [scannerOn(fixtures[0]), scannerOn(fixtures[1])];
  });
  afterEach(async () => {
    await Promise.all(scanners.map(({ scanner }) => scanner.stop()));
    await Promise.all(fixtures.map((fixture) => fixture.close()));
  });

  const holder = async () =>
    (await readCursor(fixtures[0].database.reader, testNetwork('tron')))?.lease_holder;

  it('One scans, and the other takes over when it stops', async () => {
    scanners[0].scanner.start();
    await vi.waitFor(() => expect(scanners[0].scanner.status()).toMatchObject([{ height: 0 }]), patience);
    const first = await holder();
    scanners[1].scanner.start();
    await vi.waitFor(() => expect(scanners[1].scanner.status()).toMatchObject([{ height: 0 }]), patience);
    const txHash = await fixtures[0].send('tron', 'USDT');
    await vi.waitFor(
      async () => expect(await recordedPending(fixtures[0].database.reader, 'tron')).toEqual([txHash]),
      patience,
    );
    expect(await holder()).toBe(first);
    expect(fixtures[1].sink.batches).toEqual([]);

    await scanners[0].scanner.stop();
    await fixtures[1].mine('tron');
    await vi.waitFor(() => expect(scanners[1].scanner.status()).toMatchObject([{ height: 1 }]), patience);
    expect(await holder()).not.toBe(first);
  });

  it('The lease of a scanner that died expires', async () => {
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    const first = await holder();
    scanners[1].scanner.start();
    await fixtures[1].mine('tron');
    await vi.waitFor(() => expect(scanners[1].scanner.status()).toMatchObject([{ height: 0 }]), patience);
    expect(await holder()).toBe(first);
    fixtures[1].clock.time += 10_000;
    await vi.waitFor(() => expect(scanners[1].scanner.status()).toMatchObject([{ height: 1 }]), patience);
    expect(await holder()).not.toBe(first);
  });

  it('A scanner whose node fails lets another one scan', async () => {
    const chain = fixtures[0].chain('tron');
    let isDown = false;
    const failing: Chain = {
      ...chain,
      head: () => (isDown ? Promise.reject(new Error('The node is down')) : chain.head(signal)),
    };
    const { scanner } = scannerOn(fixtures[0], { chains: [failing] });
    await scanner.scanNow(testNetwork('tron'));
    const first = await holder();
    scanners[1].scanner.start();
    await vi.waitFor(() => expect(scanners[1].scanner.status()).toMatchObject([{ height: 0 }]), patience);
    isDown = true;
    await expect(scanner.scanNow(testNetwork('tron'))).rejects.toThrow('The node is down');
    await fixtures[1].mine('tron');
    await vi.waitFor(() => expect(scanners[1].scanner.status()).toMatchObject([{ height: 1 }]), patience);
    expect(await holder()).not.toBe(first);
    await scanner.stop();
  });

  it('A scanner that takes over again reports pending transfers, even if they are as it last saw them', async () => {
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    const txHash = await fixtures[1].send('tron', 'USDT');
    await scanners[1].scanner.scanNow(testNetwork('tron'));
    expect(await recordedPending(fixtures[0].database.reader, 'tron')).toEqual([txHash]);
    await fixtures[1].database.write((transaction) =>
      transaction.deleteFrom('simulated_transfers').execute(),
    );
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    expect(await recordedPending(fixtures[0].database.reader, 'tron')).toEqual([]);
  });

  it('A scanner reports pending transfers again if a failover has lost the write that stored them', async () => {
    const { database, sink } = fixtures[0];
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    const before = await readCursor(database.reader, testNetwork('tron'));
    fixtures[0].clock.time += 1000;
    const txHash = await fixtures[0].send('tron', 'USDT');
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    // The standby that took over has the same block and lease, and nothing of the last second.
    await database.write((transaction) =>
      transaction
        .updateTable('chain_cursors')
        .set({ synced_at: before?.synced_at ?? 0 })
        .where('network', '=', 'tron')
        .execute(),
    );
    const batches = sink.appeared.length;
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    expect(sink.appeared.slice(batches)).toEqual([[txHash]]);
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    expect(sink.appeared.slice(batches + 1).flat()).toEqual([]);
  });

  it('A scanner does not write what it has read if another one took over meanwhile', async () => {
    const chain = fixtures[0].chain('tron');
    let duringHead = (): Promise<void> => Promise.resolve();
    const slow: Chain = {
      ...chain,
      async head() {
        const head = await chain.head(signal);
        const interrupt = duringHead;
        duringHead = () => Promise.resolve();
        await interrupt();
        return head;
      },
    };
    const { scanner, lines } = scannerOn(fixtures[0], { chains: [slow] });
    await scanner.scanNow(testNetwork('tron'));
    await fixtures[0].send('tron', 'USDT');
    await fixtures[0].mine('tron', 2);
    duringHead = async () => {
      await scanners[1].scanner.scanNow(testNetwork('tron'));
      await fixtures[1].reorg('tron', 1, true);
      await fixtures[1].mine('tron');
      await scanners[1].scanner.scanNow(testNetwork('tron'));
    };
    await scanner.scanNow(testNetwork('tron'));
    const blocks = await recordedBlocks(fixtures[0].database.reader, 'tron');
    expect(blocks).toEqual(await bestChain(chain, 1));
    expect(lines).toEqual([]);
    await scanner.stop();
  });

  it('Under load no block is applied twice and none is lost', async () => {
    for (const { scanner } of scanners) scanner.start();
    const act = async (index: 0 | 1) => {
      for (let round = 0; round < 25; round += 1) {
        await fixtures[index].send('tron', 'USDT');
        await fixtures[index].mine('tron', 1 + (round % 3));
        if (round % 5 === 4) await fixtures[index].reorg('tron', 1 + (round % 4), round % 2 === 0);
        await scanners[index].scanner.scanNow(testNetwork('tron'));
      }
    };
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    await Promise.all([act(0), act(1)]);
    await scanners[0].scanner.scanNow(testNetwork('tron'));
    const { reader } = fixtures[0].database;
    const blocks = await recordedBlocks(reader, 'tron');
    expect(blocks.length).toBeGreaterThan(50);
    expect(blocks).toEqual(await bestChain(fixtures[0].chain('tron'), blocks[0]?.height ?? 1));
    // Violating a primary key would have logged a failure.
    expect(scanners.flatMap(({ lines }) => lines)).toEqual([]);
  });
});
