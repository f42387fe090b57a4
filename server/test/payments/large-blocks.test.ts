/** Blocks with many payments: they are confirmed a few at a time, so that payers' requests do not wait for all of them. */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/core/db/engine.js';
import { createChooseDue } from '../../src/core/payments/receipts/choose-due.js';
import type { DueReceipt } from '../../src/core/payments/receipts/receipt-store.js';
import type { ScanBatch } from '../../src/core/scanning/scan.js';
import { pauseIfLong } from '../../src/core/shared/pause.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';
import { expectBooksInOrder } from '../support/violations.js';

const many = 35;

describe.each(enginesOfTurn)('A block with many payments on $name', (engine) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer({ engine });
  });
  afterEach(() => server.stop());

  async function payAll(): Promise<void> {
    const shop = openShop(server);
    for (let made = 0; made < many; made += 1) {
      const { address, amount } = await shop.lock({ key: server.publicKey });
      await shop.send(address, amount);
    }
  }

  async function countPaid(): Promise<number> {
    const paid = server.database.reader
      .selectFrom('payments')
      .select('id')
      .where('settled_at', 'is not', null);
    return (await paid.execute()).length;
  }

  it('many payments of a block are confirmed in several transactions, each whole, before the reply', async () => {
    await payAll();
    await openShop(server).mine(1);
    const mined = openShop(server).mine(30);
    const isMined = mined.then(() => true);
    const seen = new Set<number>();
    while (!(await Promise.race([isMined, delay(1, false)]))) {
      const [paid] = await Promise.all([countPaid(), expectBooksInOrder(server.database)]);
      seen.add(paid);
    }
    await mined;
    expect(await countPaid()).toBe(many);
    expect([...seen].filter((count) => count > 0 && count < many)).not.toEqual([]);
  });

  describe('the choice of those to confirm', () => {
    /** Payments in one transaction. */
    const most = engine.name === 'SQLite' ? 5 : 10;
    const due = (count: number, status: DueReceipt['status'] = 'seen'): DueReceipt[] =>
      Array.from({ length: count }, (_, index) => {
        const name = String(index).padStart(3, '0');
        return { id: `r${name}`, payment_id: `p${name}`, status };
      });
    const batch = (blocks: ScanBatch['blocks'] = []): ScanBatch => ({
      mode: 'test',
      network: 'tron',
      orphanedAbove: undefined,
      blocks,
      checked: [],
      pending: undefined,
      readBefore: 0,
      finalHeight: undefined,
      head: { height: 1, hash: 'h' },
    });
    const aBlock = { height: 1, hash: 'h', parentHash: 'g', time: 0, transfers: [] };
    const places = (chosen: readonly DueReceipt[]) => chosen.map(({ id }) => Number(id.slice(1)));

    it('the choice of receipts goes through all of them, although the first ones stay due, and then stops', async () => {
      const choose = createChooseDue();
      const rounds: { places: number[]; hasMore: boolean }[] = [];
      for (let scan = 0; scan < 4; scan += 1) {
        const { chosen, hasMore } = await server.database.write((transaction: Transaction) =>
          Promise.resolve(choose(transaction, batch(), due(2 * most + 3), [])),
        );
        rounds.push({ places: places(chosen), hasMore });
      }
      expect(rounds.map((one) => one.hasMore)).toEqual([true, true, false, true]);
      expect(rounds.slice(0, 3).flatMap((one) => one.places)).toEqual(
        due(2 * most + 3).map((_, index) => index),
      );
      expect(rounds[3]).toEqual(rounds[0]);
    });

    it('the choice of receipts goes through all of them once more if a block came meanwhile', async () => {
      const choose = createChooseDue();
      const scan = (blocks: ScanBatch['blocks']) =>
        server.database.write((transaction: Transaction) =>
          Promise.resolve(choose(transaction, batch(blocks), due(most + 3), []).hasMore),
        );
      expect(await scan([aBlock])).toBe(true);
      expect(await scan([aBlock])).toBe(true);
      expect(await scan([])).toBe(true);
      expect(await scan([])).toBe(false);
    });

    it('the choice of receipts begins again where a transaction failed', async () => {
      const choose = createChooseDue();
      const failed = server.database.write((transaction: Transaction) => {
        choose(transaction, batch(), due(2 * most + 3), []);
        return Promise.reject(new Error('failed'));
      });
      await expect(failed).rejects.toThrow('failed');
      const { chosen } = await server.database.write((transaction: Transaction) =>
        Promise.resolve(choose(transaction, batch(), due(2 * most + 3), [])),
      );
      expect(places(chosen)[0]).toBe(0);
    });

    it('receipts that lost their confirmation are chosen at once, and all of a payment that changes anyway', async () => {
      const choose = createChooseDue();
      const lost = due(12, 'confirmed');
      const { chosen } = await server.database.write((transaction: Transaction) =>
        Promise.resolve(choose(transaction, batch(), lost, [])),
      );
      expect(chosen).toEqual(lost);
      const changing = createChooseDue();
      const taken = await server.database.write((transaction: Transaction) =>
        Promise.resolve(changing(transaction, batch(), due(20), ['p019'])),
      );
      expect(places(taken.chosen)).toContain(19);
    });
  });
});

it('long work lets other work run in between, and short work does not wait', async () => {
  await nextTurn();
  let turns = 0;
  const turn = () => {
    turns += 1;
  };
  const work = (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until;);
  };
  work(10);
  await pauseIfLong();
  setImmediate(turn);
  await pauseIfLong();
  expect(turns).toBe(0);
  work(10);
  await pauseIfLong();
  expect(turns).toBe(1);
});
