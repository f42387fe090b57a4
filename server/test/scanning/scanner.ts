/** The scanner follows the best chain, and applies each block once, whatever the chain and the database do. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCursor } from '../../src/core/scanning/cursors.js';
import { acceptReorg } from '../../src/core/scanning/rescan.js';
import type { ScanSink } from '../../src/core/scanning/scan.js';
import type { Chain } from '../../src/core/chains/chain.js';
import type { Database } from '../../src/core/db/database.js';
import type { TestDatabase, TestEngine } from '../support/engines.js';
import { ScriptedChain, type NodeView } from '../support/scripted-chain.js';
import {
  bestChain,
  openEmptyFixture,
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

/** Applies some batches and fails then, as if the process had ended. */
function stopAfter(sink: ScanSink, batches: number): ScanSink {
  let applied = 0;
  return {
    hasDue: sink.hasDue,
    apply(transaction, batch) {
      applied += 1;
      if (applied > batches) throw new Error('Stopped');
      return sink.apply(transaction, batch);
    },
  };
}

export const testScanner = (engine: TestEngine): unknown =>
  describe(`The scanner on ${engine.name}`, () => {
    let testDatabase: TestDatabase;
    let fixture: ChainFixture;
    let running: TestScanner[];
    beforeAll(async () => {
      testDatabase = await engine.create();
    });
    afterAll(() => testDatabase.dispose());
    beforeEach(async () => {
      fixture = await openEmptyFixture(testDatabase.url);
      running = [];
    });
    afterEach(async () => {
      await Promise.all(running.map(({ scanner }) => scanner.stop()));
      await fixture.close();
    });

    function scan(...parameters: Parameters<typeof scannerOn>): TestScanner {
      const created = scannerOn(...parameters);
      running.push(created);
      return created;
    }

    /** The sink recorded what the chain contains, from the first new block on. */
    async function expectFollowed(chain: Chain = fixture.chain('tron')): Promise<void> {
      const { reader } = fixture.database;
      const blocks = await recordedBlocks(reader, chain.network);
      expect(blocks).toEqual(await bestChain(chain, blocks[0]?.height ?? 1));
      const pending = await chain.pending(signal);
      expect(new Set(await recordedPending(reader, chain.network))).toEqual(
        new Set(pending.map(({ txHash }) => txHash)),
      );
      expect(await readCursor(reader, chain)).toMatchObject(await chain.head(signal));
    }

    it('A first scan starts at the head, without history, and reads pending transfers', async () => {
      await fixture.send('tron', 'USDT');
      await fixture.mine('tron', 3);
      const txHash = await fixture.send('tron', 'USDT');
      await scan(fixture).scanner.scanNow(testNetwork('tron'));
      expect(fixture.sink.batches).toMatchObject([
        { network: 'tron', orphanedAbove: undefined, blocks: [], pending: [{ txHash }], head: { height: 3 } },
      ]);
      expect(await readCursor(fixture.database.reader, testNetwork('tron'))).toMatchObject({
        synced_at: fixture.clock.time,
        read_until: fixture.clock.time,
      });
    });

    it('The scanner sees a transfer while it is pending, then in its block', async () => {
      const { scanner } = scan(fixture);
      await scanner.scanNow(testNetwork('tron'));
      const txHash = await fixture.send('tron', 'USDT');
      await scanner.scanNow(testNetwork('tron'));
      expect(fixture.sink.batches.at(-1)).toMatchObject({ blocks: [], pending: [{ txHash }] });
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      expect(fixture.sink.batches.at(-1)).toMatchObject({
        blocks: [{ height: 1, transfers: [{ txHash }] }],
        pending: [],
      });
      await expectFollowed();
    });

    it('The scanner sees that a pending transfer was dropped', async () => {
      const { scanner } = scan(fixture);
      await fixture.send('tron', 'USDT');
      await scanner.scanNow(testNetwork('tron'));
      await fixture.database.write((transaction) => transaction.deleteFrom('simulated_transfers').execute());
      await scanner.scanNow(testNetwork('tron'));
      expect(fixture.sink.batches.at(-1)).toMatchObject({ blocks: [], pending: [] });
      await expectFollowed();
    });

    it('The scanner catches up after a gap in steps, and reads pending transfers only at the end', async () => {
      await scan(fixture).scanner.scanNow(testNetwork('tron'));
      for (let part = 0; part < 4; part += 1) {
        await fixture.send('tron', 'USDT');
        await fixture.mine('tron', 30);
      }
      await fixture.send('tron', 'USDT');
      fixture.clock.time += 5000;
      await scan(fixture).scanner.scanNow(testNetwork('tron'));
      const catching = fixture.sink.batches.slice(-3);
      expect(catching.map(({ blocks }) => blocks.length)).toEqual([50, 50, 20]);
      expect(catching.map(({ pending }) => pending?.length)).toEqual([undefined, undefined, 1]);
      await expectFollowed();
    });

    it('The scanner logs once that a chain has stopped, and once that it continues', async () => {
      const { scanner, lines } = scan(fixture, { lagLimitMs: 60_000 });
      await scanner.scanNow(testNetwork('tron'));
      scanner.start();
      fixture.clock.time += 120_000;
      await expect.poll(() => lines.map(({ msg }) => msg).join(), patience).toContain('not read up to now');
      await fixture.mine('tron');
      await expect.poll(() => lines.map(({ msg }) => msg).join(), patience).toContain('read up to now again');
      expect(lines).toHaveLength(2);
    });

    describe.each([true, false])('A reorganisation that keeps its transfers (%s)', (keep) => {
      it.each([1, 2, 3, 7, 30, 60])('A reorganisation of depth %i', async (depth) => {
        const { scanner } = scan(fixture);
        await scanner.scanNow(testNetwork('tron'));
        for (const count of [30, 28, 3, 1, 1, 1, 1]) {
          await fixture.send('tron', 'USDT');
          await fixture.mine('tron', count);
        }
        await scanner.scanNow(testNetwork('tron'));
        await fixture.reorg('tron', depth, keep);
        const applied = fixture.sink.batches.length;
        await scanner.scanNow(testNetwork('tron'));
        expect(fixture.sink.batches[applied]?.orphanedAbove).toBe(65 - depth);
        await expectFollowed();
        await fixture.mine('tron');
        await scanner.scanNow(testNetwork('tron'));
        await expectFollowed();
      });

      it('A reorganisation of all blocks that were ever scanned', async () => {
        await fixture.mine('tron', 5);
        const { scanner } = scan(fixture);
        await scanner.scanNow(testNetwork('tron'));
        await fixture.send('tron', 'USDT');
        await fixture.mine('tron', 60);
        await scanner.scanNow(testNetwork('tron'));
        await fixture.reorg('tron', 63, keep);
        await scanner.scanNow(testNetwork('tron'));
        await expectFollowed();
      });

      it('A reorganisation of the oldest block that is kept', async () => {
        const { scanner } = scan(fixture);
        await scanner.scanNow(testNetwork('tron'));
        for (let count = 0; count < 3; count += 1) {
          await fixture.send('tron', 'USDT');
          await fixture.mine('tron', 100);
        }
        await scanner.scanNow(testNetwork('tron'));
        await fixture.reorg('tron', 199, keep);
        const applied = fixture.sink.batches.length;
        await scanner.scanNow(testNetwork('tron'));
        expect(fixture.sink.batches[applied]?.orphanedAbove).toBe(101);
        await expectFollowed();
      });

      it('A reorganisation below the oldest block that is kept stops the network and says so, until somebody accepts it', async () => {
        const { scanner, lines } = scan(fixture);
        await scanner.scanNow(testNetwork('tron'));
        await fixture.mine('tron', 150);
        await fixture.send('tron', 'USDT');
        await fixture.mine('tron', 150);
        await scanner.scanNow(testNetwork('tron'));
        const before = await readCursor(fixture.database.reader, fixture.chain('tron'));
        await fixture.reorg('tron', 290, keep);
        const applied = fixture.sink.batches.length;
        const message =
          'tron was reorganised below block 101, the oldest one that is kept. Nothing more is read from it. If its node is on the right chain, choose a block before the fork and run "chains rescan --network tron --from HEIGHT --accept-reorg --mode test"';
        for (let attempt = 0; attempt < 2; attempt += 1) {
          await expect(scanner.scanNow(testNetwork('tron'))).rejects.toThrow(message);
          await fixture.mine('tron');
        }
        expect(fixture.sink.batches).toHaveLength(applied);
        expect(lines.map(({ msg }) => msg)).toContain('Scanning failed; retrying');
        expect(scanner.status()).toMatchObject([{ network: 'tron', height: 300, isFailing: true }]);
        expect(await readCursor(fixture.database.reader, fixture.chain('tron'))).toMatchObject({
          height: 300,
          hash: before?.hash,
          problem: message,
        });

        const accept = (from: number) =>
          acceptReorg({ ...fixture, chain: fixture.chain('tron'), from, signal });
        await expect(accept(102)).rejects.toThrow('--from must be at most 101');
        // Twice, as somebody does who is not sure whether it worked.
        expect(await accept(5)).toEqual({ before: 300, now: 4 });
        expect(await accept(5)).toEqual({ before: 4, now: 4 });
        await scanner.scanNow(testNetwork('tron'));
        await expectFollowed();
        expect(await readCursor(fixture.database.reader, fixture.chain('tron'))).toMatchObject({
          problem: null,
        });
        expect(await recordedPending(fixture.database.reader, 'tron')).toHaveLength(0);
      });

      it('A reorganisation below the oldest block that is kept stops the network if it comes in two steps, too', async () => {
        const { scanner } = scan(fixture);
        await scanner.scanNow(testNetwork('tron'));
        await fixture.mine('tron', 400);
        await scanner.scanNow(testNetwork('tron'));
        await fixture.reorg('tron', 150, keep);
        // Only 50 of the new blocks are read before the next reorganisation.
        const stopping = scan(fixture, { sink: { ...stopAfter(fixture.sink, 1) } });
        await expect(stopping.scanner.scanNow(testNetwork('tron'))).rejects.toThrow('Stopped');
        await fixture.reorg('tron', 250, keep);
        await expect(scanner.scanNow(testNetwork('tron'))).rejects.toThrow('reorganised below block 201');
      });
    });

    it('The scanner follows a chain that reorganises and grows between two scans', async () => {
      const { scanner } = scan(fixture);
      await scanner.scanNow(testNetwork('tron'));
      await fixture.send('tron', 'USDT');
      await fixture.mine('tron', 3);
      await scanner.scanNow(testNetwork('tron'));
      await fixture.reorg('tron', 3, true);
      await fixture.mine('tron', 80);
      await scanner.scanNow(testNetwork('tron'));
      await expectFollowed();
    });

    it('The scanner reverts nothing if the chain only gets shorter, and continues when it is longer again', async () => {
      const chain = fixture.chain('tron');
      let cut = 0;
      const shorter: Chain = {
        mode: 'test' as const,
        network: 'tron',
        async head() {
          const { height } = await chain.head(signal);
          const block = await chain.block(height - cut, signal);
          if (!block) throw new Error('Cut too much');
          return { height: block.height, hash: block.hash };
        },
        async block(height) {
          return height > (await this.head(signal)).height ? undefined : chain.block(height, signal);
        },
        pending: () => chain.pending(signal),
      };
      const { scanner } = scan(fixture, { chains: [shorter] });
      await scanner.scanNow(testNetwork('tron'));
      await fixture.mine('tron', 5);
      await fixture.send('tron', 'USDT');
      await fixture.mine('tron', 5);
      await scanner.scanNow(testNetwork('tron'));
      const applied = fixture.sink.batches.length;
      cut = 7;
      await expect(scanner.scanNow(testNetwork('tron'))).rejects.toThrow('at block 3, behind block 10');
      expect(fixture.sink.batches).toHaveLength(applied);
      cut = 0;
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      await expectFollowed(shorter);
    });

    it('The scanner waits for a node that lags, and says what to do once the node has stayed behind for five minutes', async () => {
      const tron = testNetwork('tron');
      const chain = new ScriptedChain('test', 'tron', 0, fixture.clock.time);
      const forgetHead = vi.fn();
      const { scanner, lines } = scan(fixture, { chains: [Object.assign(chain, { forgetHead })] });
      const stuck = () => lines.filter(({ msg }) => msg === 'Scanning is stuck');
      const mine = (count: number) => chain.mine(count, fixture.clock.time);
      mine(300);
      await scanner.scanNow(tron);
      const older: NodeView = chain.view();
      mine(250);
      await scanner.scanNow(tron);
      const applied = fixture.sink.batches.length;
      const expectBehind = async (height: number) => {
        await expect(scanner.scanNow(tron)).rejects.toThrow(`at block ${height}, behind block 550`);
      };

      // A balancer's backend that lags, twice, and catches up in between.
      for (let time = 0; time < 2; time += 1) {
        chain.expect({ lag: older });
        await expectBehind(300);
        fixture.clock.time += 4 * 60_000;
        await expectBehind(300);
        expect(scanner.status()[0]?.problem).toMatch(/Waiting until it has caught up$/);
        chain.expect({});
        await scanner.scanNow(tron);
        expect(scanner.status()[0]?.problem).toBeUndefined();
      }
      expect(stuck()).toHaveLength(0);

      // The development chain is started again: other blocks, below all that are stored.
      chain.reorg(550, -547, fixture.clock.time, () => false);
      await expectBehind(3);
      fixture.clock.time += 5 * 60_000;
      for (let time = 0; time < 2; time += 1) await expectBehind(3);
      const remedy = 'run "chains rescan --network tron --from 1 --accept-reorg --mode test"';
      expect(scanner.status()[0]?.problem).toContain(remedy);
      expect((await readCursor(fixture.database.reader, tron))?.problem).toContain(remedy);
      expect(stuck()).toMatchObject([
        { network: 'tron', problem: expect.stringContaining(remedy) as string },
      ]);
      expect(fixture.sink.batches).toHaveLength(applied);
      expect(forgetHead).not.toHaveBeenCalled();

      await acceptReorg({ ...fixture, chain, from: 1, signal });
      await scanner.scanNow(tron);
      expect(forgetHead).toHaveBeenCalledOnce();
      await expectFollowed(chain);
      mine(2);
      await scanner.scanNow(tron);
      await expectFollowed(chain);
      expect(scanner.status()[0]?.problem).toBeUndefined();
    });

    it('A transfer that is mined during a scan is never taken for dropped', async () => {
      const chain = fixture.chain('tron');
      let duringPending = (): Promise<void> => Promise.resolve();
      const moving: Chain = {
        mode: 'test' as const,
        network: 'tron',
        head: () => chain.head(signal),
        block: (height) => chain.block(height, signal),
        async pending() {
          const move = duringPending;
          duringPending = () => Promise.resolve();
          await move();
          return chain.pending(signal);
        },
      };
      const { scanner } = scan(fixture, { chains: [moving] });
      const txHash = await fixture.send('tron', 'USDT');
      await scanner.scanNow(testNetwork('tron'));
      duringPending = () => fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      for (const { blocks, pending } of fixture.sink.batches) {
        const seen = [...(pending ?? []), ...blocks.flatMap(({ transfers }) => transfers)];
        if (pending) expect(seen.map((transfer) => transfer.txHash)).toEqual([txHash]);
      }
      await expectFollowed();

      duringPending = () => fixture.reorg('tron', 1, false);
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      await expectFollowed();
    });

    it('A scan ends although nodes on different branches make it switch back and forth, and a later one follows once they agree', async () => {
      const chain = fixture.chain('tron');
      let isTorn = false;
      let reported = 0;
      const torn: Chain = {
        ...chain,
        async head() {
          const head = await chain.head(signal);
          return isTorn ? { height: head.height + 1, hash: 'of one node' } : head;
        },
        async block(height) {
          const tip = await chain.head(signal);
          const block = await chain.block(Math.min(height, tip.height), signal);
          if (!isTorn || !block || height < tip.height) return block;
          if (height === tip.height) return { ...block, hash: `of another node, ${(reported += 1)}` };
          return { ...block, height, hash: 'of one node', parentHash: 'that no other node has' };
        },
        pending: () => chain.pending(signal),
      };
      const { scanner } = scan(fixture, { chains: [torn] });
      await fixture.mine('tron', 2);
      await scanner.scanNow(testNetwork('tron'));
      isTorn = true;
      await scanner.scanNow(testNetwork('tron'));
      expect(reported).toBeLessThan(10);
      isTorn = false;
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      expect(await readCursor(fixture.database.reader, chain)).toMatchObject(await chain.head(signal));
    });

    it('The scanner reports pending transfers after a scan that could not read them, even if they are unchanged', async () => {
      const chain = fixture.chain('tron');
      let isPendingRead = false;
      let seemsToMove = false;
      const flickering: Chain = {
        ...chain,
        async head() {
          const head = await chain.head(signal);
          if (!seemsToMove || !isPendingRead) return head;
          seemsToMove = false;
          return { ...head, hash: 'of another node' };
        },
        pending() {
          isPendingRead = true;
          return chain.pending(signal);
        },
      };
      const { scanner } = scan(fixture, { chains: [flickering] });
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      await fixture.send('tron', 'USDT');
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      await fixture.reorg('tron', 1, false);
      isPendingRead = false;
      seemsToMove = true;
      await scanner.scanNow(testNetwork('tron'));
      // Only the second batch shows that the transfer is gone.
      expect(fixture.sink.batches.slice(-2)).toMatchObject([
        { orphanedAbove: 1, pending: undefined },
        { orphanedAbove: undefined, blocks: [], pending: [] },
      ]);
      await expectFollowed();
    });

    it('A crash between reading and writing loses and duplicates nothing', async () => {
      let crashes: 'before the work' | 'before the commit' | undefined;
      const crashing: Database = {
        ...fixture.database,
        write: (work) =>
          fixture.database.write(async (transaction) => {
            if (crashes === 'before the work') throw new Error('crash');
            const result = await work(transaction);
            if (crashes === 'before the commit') throw new Error('crash');
            return result;
          }),
      };
      await scan(fixture, { database: crashing }).scanner.scanNow(testNetwork('tron'));
      for (const moment of ['before the work', 'before the commit'] as const) {
        await fixture.send('tron', 'USDT');
        await fixture.mine('tron', 2);
        await fixture.send('tron', 'USDT');
        crashes = moment;
        await expect(
          scan(fixture, { database: crashing }).scanner.scanNow(testNetwork('tron')),
        ).rejects.toThrow('crash');
        crashes = undefined;
        await scan(fixture).scanner.scanNow(testNetwork('tron'));
        await expectFollowed();
      }
    });

    it('A failing chain is logged once, does not delay the others, and is followed again when it is back', async () => {
      const chain = fixture.chain('tron');
      let isDown = true;
      let asked = 0;
      const failing: Chain = {
        ...chain,
        head() {
          asked += 1;
          return isDown ? Promise.reject(new Error('The node is down')) : chain.head(signal);
        },
      };
      const { scanner, lines } = scan(fixture, { chains: [failing, fixture.chain('bitcoin')] });
      await expect(scanner.scanNow(testNetwork('tron'))).rejects.toThrow('The node is down');
      scanner.start();
      const txHash = await fixture.send('bitcoin', 'BTC');
      await vi.waitFor(
        async () => expect(await recordedPending(fixture.database.reader, 'bitcoin')).toEqual([txHash]),
        patience,
      );
      await vi.waitFor(() => expect(asked).toBeGreaterThan(3), patience);
      expect(scanner.status()).toMatchObject([
        { mode: 'test', network: 'tron', height: undefined, lagMs: undefined, isFailing: true },
        { network: 'bitcoin', height: 0, isFailing: false },
      ]);
      isDown = false;
      await vi.waitFor(
        () => expect(scanner.status()[0]).toMatchObject({ height: 0, isFailing: false }),
        patience,
      );
      expect(lines.map(({ msg, network }) => [network, msg])).toEqual([
        ['tron', 'Scanning failed; retrying'],
        ['tron', 'Scanning works again'],
      ]);
    });

    it('The cursor does not move if the sink fails', async () => {
      const { scanner } = scan(fixture);
      await scanner.scanNow(testNetwork('tron'));
      const before = await readCursor(fixture.database.reader, testNetwork('tron'));
      await fixture.send('tron', 'USDT');
      await fixture.mine('tron');
      const failing = {
        hasDue: () => Promise.resolve(false),
        apply: () => Promise.reject(new Error('A bug in a rule')),
      };
      await expect(scan(fixture, { sink: failing }).scanner.scanNow(testNetwork('tron'))).rejects.toThrow(
        'A bug in a rule',
      );
      const { height, hash, synced_at } = before ?? {};
      expect(await readCursor(fixture.database.reader, testNetwork('tron'))).toMatchObject({
        height,
        hash,
        synced_at,
      });
      await scanner.scanNow(testNetwork('tron'));
      await expectFollowed();
    });

    it('The scanner scans on its own, and writes nothing while neither the chain nor the clock moves', async () => {
      let writes = 0;
      const counting: Database = {
        ...fixture.database,
        write(work) {
          writes += 1;
          return fixture.database.write(work);
        },
      };
      const chain = fixture.chain('tron');
      let asked = 0;
      const counted: Chain = {
        ...chain,
        head() {
          asked += 1;
          return chain.head(signal);
        },
      };
      const { scanner } = scan(fixture, { database: counting, chains: [counted] });
      scanner.start();
      const txHash = await fixture.send('tron', 'USDT');
      await vi.waitFor(
        async () => expect(await recordedPending(fixture.database.reader, 'tron')).toEqual([txHash]),
        patience,
      );
      const [written, before] = [writes, asked];
      await vi.waitFor(() => expect(asked).toBeGreaterThan(before + 20), { timeout: 20_000 });
      expect(writes).toBe(written);

      fixture.clock.time += 1000;
      await vi.waitFor(
        async () =>
          expect(await readCursor(fixture.database.reader, testNetwork('tron'))).toMatchObject({
            synced_at: fixture.clock.time,
          }),
        patience,
      );
      expect(scanner.status()).toMatchObject([{ height: 0, lagMs: 0 }]);
      expect(writes).toBe(written + 1);
      expect(fixture.sink.batches.filter(({ pending }) => pending?.length === 1)).toHaveLength(1);
    });

    it('The time of a requested scan is stored, even if only a moment has passed', async () => {
      const { scanner } = scan(fixture);
      await scanner.scanNow(testNetwork('tron'));
      fixture.clock.time += 1;
      await scanner.scanNow(testNetwork('tron'));
      expect(await readCursor(fixture.database.reader, testNetwork('tron'))).toMatchObject({
        synced_at: fixture.clock.time,
      });
    });

    it('A replica whose clock is behind keeps the time of the latest scan', async () => {
      const { scanner } = scan(fixture);
      await scanner.scanNow(testNetwork('tron'));
      const latest = fixture.clock.time;
      fixture.clock.time -= 60_000;
      await fixture.send('tron', 'USDT');
      await fixture.mine('tron');
      await scanner.scanNow(testNetwork('tron'));
      expect(await readCursor(fixture.database.reader, testNetwork('tron'))).toMatchObject({
        height: 1,
        synced_at: latest,
      });
    });

    it('Concurrent callers share scans: each gets one that began after its call', async () => {
      const chain = fixture.chain('tron');
      let asked = 0;
      const counted: Chain = {
        ...chain,
        head() {
          asked += 1;
          return chain.head(signal);
        },
      };
      const { scanner } = scan(fixture, { chains: [counted] });
      await scanner.scanNow(testNetwork('tron'));
      asked = 0;
      const first = scanner.scanNow(testNetwork('tron'));
      const txHash = await fixture.send('tron', 'USDT');
      await Promise.all([first, ...Array.from({ length: 10 }, () => scanner.scanNow(testNetwork('tron')))]);
      expect(await recordedPending(fixture.database.reader, 'tron')).toEqual([txHash]);
      expect(asked).toBeLessThanOrEqual(4);
    });

    it('The scanner stops although a chain has not answered, and logs nothing about it', async () => {
      let isAsked = false;
      const hanging: Chain = {
        ...fixture.chain('tron'),
        head: (stopped) =>
          new Promise((_, reject) => {
            isAsked = true;
            stopped.addEventListener('abort', () => reject(new Error('aborted')));
          }),
      };
      const { scanner, lines } = scan(fixture, { chains: [hanging] });
      scanner.start();
      await vi.waitFor(() => expect(isAsked).toBe(true), patience);
      await scanner.stop();
      expect(lines).toEqual([]);
    });

    it('A scan of an unknown network is refused', async () => {
      await expect(scan(fixture).scanner.scanNow(testNetwork('dogecoin'))).rejects.toThrow('dogecoin');
    });
  });
