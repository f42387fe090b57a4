/** The order of bookings of one moment: that of posting, in every file, from either engine and after `database copy`. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOrderedIds } from '../../src/shared/ids.js';
import { bookingsOf, exportBooks } from '../support/books.js';
import { runCommandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { externalAddresses } from '../support/merchant-fixture.js';
import { openShop } from '../support/shop-fixture.js';

describe('Ids in order', () => {
  const sorted = (ids: readonly string[]) => [...ids].sort();

  it('sort as they were made, within a second and when the clock is set back', () => {
    let now = Date.UTC(2026, 0, 1);
    const next = createOrderedIds(() => now);
    const ids: string[] = [];
    for (const passed of [0, 0, 0, 1, 0, 999, -60_000, 0, 500, 0]) {
      now += passed;
      ids.push(next());
    }
    expect(sorted(ids)).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('differ, however many there are at once, on however many servers', () => {
    const servers = [createOrderedIds(() => 1), createOrderedIds(() => 1)];
    const ids = servers.flatMap((next) => Array.from({ length: 1000 }, next));
    expect(new Set(ids).size).toBe(ids.length);
    let now = 0;
    const seldom = createOrderedIds(() => (now += 1000));
    const apart = Array.from({ length: 100 }, seldom);
    expect(sorted(apart), 'nothing follows from the one before').not.toEqual(apart);
  });
});

describe.each(engines)('Bookings of one millisecond, on $name', (engine) => {
  it('are in the order in which they were posted, in the same bytes after a copy to either engine', async () => {
    const shop = await openShop(engine);
    onTestFinished(() => shop.close());
    shop.time.now = Date.UTC(2026, 10, 2, 12);
    await shop.mine('tron');
    const scope = await shop.merchant();
    const { address } = await shop.lock(scope, { amount: '100' });
    await shop.send('tron', 'USDT', address, 100_000_000n);
    await shop.mine('tron', 2);
    shop.time.now += 1000;
    // Holds of one moment, in transactions of their own.
    const amounts = Array.from({ length: 12 }, (_, index) => `${index + 1}.5`);
    for (const amount of amounts) await shop.withdraw(scope, amount, externalAddresses.tron, 'tron');
    shop.time.now = Date.UTC(2026, 11, 2);
    const month = '--month 2026-11 --zone UTC';
    const reserved = (await bookingsOf(shop, scope, month)).filter(({ note }) => note === 'Reserved');
    const fee = Number(reserved[0]?.reserved) - Number(amounts[0]);
    expect(reserved.map((one) => (Number(one.reserved) - fee).toFixed(1))).toEqual(amounts);
    expect(new Set(reserved.map(({ time }) => time)).size).toBe(1);

    const { text } = await exportBooks(shop, scope, month);
    for (const other of engines) {
      const target = await other.createEmpty();
      onTestFinished(() => target.dispose());
      const run = async (url: string, words: string) => {
        const { exitCode, stdout, stderr } = await runCommandLine(url, words.split(' '));
        expect(exitCode, stderr).toBe(0);
        return stdout;
      };
      await run(shop.databaseUrl, `database copy --to ${target.url}`);
      const books = `books export --merchant ${scope.merchantId} --mode test ${month}`;
      expect(await run(target.url, books)).toBe(text);
    }
  });
});
