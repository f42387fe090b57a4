/** Bookings of one moment have one order, which `database copy` keeps. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { bookingsOf, exportBooks } from '../support/books.js';
import { runCommandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { externalAddresses } from '../support/shop.js';
import { openSteppedShop } from '../support/stepped-shop.js';

describe.each(engines)('Bookings of one millisecond, on $name', (engine) => {
  it('Bookings of one millisecond give the same bytes after a copy to either engine', async () => {
    const shop = await openSteppedShop(engine);
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
    expect(reserved).toHaveLength(amounts.length);
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
