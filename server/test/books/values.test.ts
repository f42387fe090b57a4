/** The value of bookings: by kept rates, by the rate of a receipt, or none. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bookingsOf, exportBooks } from '../support/books.js';
import { enginesOfQuick } from '../support/engines.js';
import { openLedgerShop, type LedgerShop } from './ledger-shop.js';

const minute = 60_000;
const hour = 60 * minute;
const oneUsdt = 1_000_000n;

describe.each(enginesOfQuick)('The value of bookings, on $name', (engine) => {
  let books: LedgerShop;
  beforeAll(async () => {
    books = await openLedgerShop(engine);
    await books.setCurrency('EUR');
  });
  afterAll(() => books.shop.close());

  const start = Date.UTC(2026, 4, 1, 12);
  const at = (cents: bigint, eur = 108n) => {
    books.shop.cents.set('USDT', cents);
    books.shop.cents.set('EUR', eur);
  };

  it('The value of a booking comes from the rate nearest in time, at most ten minutes away, and never changes', async () => {
    at(100n);
    await books.receive(start, oneUsdt);
    books.shop.time.now = start + minute;
    await books.keepRates();
    at(200n);
    await books.receive(start + 3 * minute, oneUsdt);
    // Less than five minutes after the last rates, nothing is kept.
    await books.keepRates();
    books.shop.time.now = start + 7 * minute;
    await books.keepRates();
    // As near to both: the earlier one.
    await books.receive(start + 4 * minute, oneUsdt);
    await books.receive(start + 17 * minute, oneUsdt);
    await books.receive(start + 17 * minute + 1, oneUsdt);
    books.shop.time.now = Date.UTC(2026, 5, 2);
    const values = (await bookingsOf(books.shop, books.live, '--month 2026-05')).map((one) => [
      one.unitValue,
      one.value,
    ]);
    const [one, two] = [
      ['0.925925925925925926', '0.93'],
      ['1.851851851851851852', '1.85'],
    ];
    expect(values).toEqual([one, one, one, two, [undefined, undefined]]);
    const before = await exportBooks(books.shop, books.live, '--month 2026-05');
    expect(before.logged).toContain(
      'Without a value in EUR: 1 booking, as no rate is known within 10 minutes',
    );
    // Rates that come later change nothing.
    at(999n, 50n);
    await books.receive(Date.UTC(2026, 5, 2), oneUsdt);
    await books.keepRates();
    expect((await exportBooks(books.shop, books.live, '--month 2026-05')).text).toBe(before.text);
  });

  it('Rates are kept only after something was booked', async () => {
    const count = async () =>
      (await books.shop.database.reader.selectFrom('book_rates').select('at').distinct().execute()).length;
    await books.receive(Date.UTC(2026, 6, 1), oneUsdt);
    await books.keepRates();
    const before = await count();
    for (let hours = 1; hours < 5; hours += 1) {
      books.shop.time.now += hour;
      await books.keepRates();
    }
    expect(await count()).toBe(before);
    await books.receive(books.shop.time.now, oneUsdt);
    await books.keepRates();
    expect(await count()).toBe(before + 1);
  });

  it('The rate of a coin is kept once the coin has one again', async () => {
    const moment = Date.UTC(2026, 6, 20);
    at(100n, 100n);
    books.shop.cents.set('BTC', 0n);
    await books.receive(moment, 1n, { currency: 'BTC' });
    // This server has no rate of the only coin, so another one may keep it.
    books.shop.time.now = moment + minute;
    await books.keepRates();
    await books.receive(moment + minute + 1, oneUsdt);
    books.shop.time.now = moment + 2 * minute;
    await books.keepRates();
    books.shop.cents.set('BTC', 6_000_000n);
    for (let minutes = 3; minutes < 9; minutes += 1) {
      books.shop.time.now = moment + minutes * minute;
      await books.keepRates();
    }
    const kept = await books.shop.database.reader
      .selectFrom('book_rates')
      .select(['currency', 'at'])
      .where('at', '>=', moment)
      .where('currency', 'in', ['BTC', 'USDT'])
      .orderBy('at')
      .execute();
    expect(kept).toEqual([
      { currency: 'USDT', at: moment + 2 * minute },
      { currency: 'BTC', at: moment + 7 * minute },
    ]);
    books.shop.time.now = Date.UTC(2026, 6, 21);
    const period = '--from 2026-07-20 --to 2026-07-20';
    const found = await bookingsOf(books.shop, books.live, period);
    expect(found.map(({ unitValue }) => unitValue)).toEqual(['60000', '1']);
  });

  it('Values are exact for the largest amounts, and rounded once, half up', async () => {
    at(100n, 100n);
    const moment = Date.UTC(2026, 7, 1);
    const amounts = [123_456_789_012_345_678_901n, 5_000n, 4_999n];
    for (const units of amounts) await books.receive(moment, units);
    await books.keepRates();
    books.shop.time.now = Date.UTC(2026, 8, 2);
    const found = await bookingsOf(books.shop, books.live, '--month 2026-08');
    expect(new Map(found.map((one) => [one.amount, one.value]))).toEqual(
      new Map([
        ['123456789012345.678901', '123456789012345.68'],
        ['0.005', '0.01'],
        ['0.004999', '0.00'],
      ]),
    );
  });

  it('Without a kept rate, only a receipt priced in the books’ currency has a value: that of when it was first seen', async () => {
    const { shop, merchantId } = books;
    const scope = { merchantId, mode: 'test', kind: 'secret' } as const;
    at(100n, 125n);
    shop.time.now = Date.UTC(2026, 9, 1, 12);
    await shop.mine('tron');
    const sell = async (baseCurrency: string) => {
      shop.time.now += hour;
      const { address, amount } = await shop.lock(scope, { amount: '10', baseCurrency });
      await shop.send('tron', 'USDT', address, amount);
      await shop.scan('tron');
      const seen = shop.time.now;
      shop.time.now += minute;
      await shop.mine('tron', 2);
      return { seen: new Date(seen).toISOString(), booked: new Date(shop.time.now).toISOString() };
    };
    const near = await sell('EUR');
    at(150n, 125n);
    await books.keepRates();
    at(100n, 125n);
    // Nothing was kept of this one; and the price of the last was not in the currency of the books.
    const own = await sell('EUR');
    at(300n, 125n);
    const none = await sell('USD');
    shop.time.now = Date.UTC(2026, 10, 2);
    const month = '--month 2026-10';
    const of = { merchantId, mode: 'test' } as const;
    const found = await bookingsOf(shop, of, month);
    const shown = (moment: { readonly booked: string }) =>
      found
        .filter(({ time }) => time === moment.booked)
        .map(({ kind, unitValue, value, rateSource, rateTime }) => ({
          kind,
          unitValue,
          value,
          rateSource,
          rateTime,
        }));
    const kept = { unitValue: '1.2', rateSource: 'test', rateTime: near.booked };
    expect(shown(near)).toEqual([
      { kind: 'receipt', value: '15.00', ...kept },
      { kind: 'credit', value: '0.00', ...kept },
      { kind: 'fee', value: '-0.15', ...kept },
    ]);
    const unknown = { unitValue: undefined, value: undefined, rateSource: undefined, rateTime: undefined };
    const receipt = { unitValue: '0.8', rateSource: 'receipt', rateTime: own.seen };
    expect(shown(own)).toEqual([
      { kind: 'receipt', value: '10.00', ...receipt },
      { kind: 'credit', ...unknown },
      { kind: 'fee', ...unknown },
    ]);
    expect(shown(none)).toEqual(['receipt', 'credit', 'fee'].map((kind) => ({ kind, ...unknown })));

    const { text, logged } = await exportBooks(shop, of, month);
    const [head = '', ...lines] = text.trim().split('\r\n');
    const columns = head.replace('\ufeff', '').split(',');
    const cells = (line: string): Record<string, string> =>
      Object.fromEntries(line.split(',').map((cell, index) => [columns[index] ?? '', cell]));
    const rows = lines.map(cells).filter(({ time }) => time === none.booked);
    expect(rows).toHaveLength(3);
    for (const row of rows)
      expect(row).toMatchObject({ unit_value: '', value: '', rate_source: '', rate_time: '' });
    expect(logged).toContain(
      'Without a value in EUR: 5 bookings, as no rate is known within 10 minutes of them',
    );
  });
});
