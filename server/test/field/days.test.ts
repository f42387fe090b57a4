/**
 * Public reports about days that are counted in another zone than the shop's, each as a test on both engines.
 *
 * - https://github.com/saleor/saleor-dashboard/issues/1582: “sales today” depends on the browser's zone.
 * - https://github.com/umbraco/Umbraco.Commerce.Issues/issues/303 and https://github.com/shopware/shopware/issues/739: the
 *   first hours of a day are sales of the day before.
 * - https://github.com/woocommerce/woocommerce/issues/39255: the statistics show yesterday as today.
 * - https://github.com/woocommerce/woocommerce-admin/pull/3333: a day of 25 hours is counted twice, or loses an hour.
 * - https://github.com/antiwork/gumroad/pull/2353: a fixed offset puts sales of the summer into the wrong day.
 * - https://github.com/shopware/shopware/issues/4337: the last day of a filter lacks hours.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { idsOf } from '../support/lists.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

interface Home {
  readonly today: string;
  readonly timeZone: string;
  readonly volume: readonly { date: string; payments: number }[];
}

describe.each(enginesOfTurn)('The days of a shop, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let ids: readonly string[];
  let real = Date.parse('2026-10-26T12:00:00Z');
  /** On the day of 25 hours in Berlin: its first and last moments, and those next to them. */
  const times = [
    '2026-10-24T18:29:59.999Z',
    '2026-10-24T18:30:00.000Z',
    '2026-10-24T21:59:59.999Z',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T22:59:59.999Z',
    '2026-10-25T23:00:00.000Z',
  ];
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => real } });
    merchant = openShop(server);
    ids = await Promise.all(
      times.map(async () => {
        const { id, address, amount } = await merchant.lock();
        await merchant.pay(address, amount);
        return id;
      }),
    );
    await server.database.write(async (transaction) => {
      for (const [index, id] of ids.entries()) {
        const at = Date.parse(times[index] ?? '');
        await transaction
          .updateTable('payments')
          .set({ settled_at: at, created_at: at })
          .where('id', '=', id)
          .execute();
      }
    });
  });
  afterAll(() => server.stop());

  const keepIn = (zone: string) =>
    merchant.command('merchants', 'update', server.bootstrapped.merchantId, '--time-zone', zone);
  async function home() {
    // Settings are kept for some seconds, by each process.
    const { time_zone: zone } = await server.database.reader
      .selectFrom('merchants')
      .select('time_zone')
      .where('id', '=', server.bootstrapped.merchantId)
      .executeTakeFirstOrThrow();
    const read = () => merchant.ask<Home>('GET', '/v1/home');
    await expect.poll(async () => (await read()).timeZone, { timeout: 10_000 }).toBe(zone ?? 'UTC');
    return read();
  }
  const sales = async () => {
    const { volume, today, timeZone } = await home();
    return { timeZone, today, days: volume.map(({ date, payments }) => `${date}: ${payments}`) };
  };

  it('The days of a shop are those of UTC until it has a time zone', async () => {
    expect(await sales()).toEqual({
      timeZone: 'UTC',
      today: '2026-10-26',
      days: ['2026-10-24: 4', '2026-10-25: 2'],
    });
  });

  it('A day on which clocks go back has 25 hours, each counted once', async () => {
    await keepIn('Europe/Berlin');
    expect(await sales()).toEqual({
      timeZone: 'Europe/Berlin',
      today: '2026-10-26',
      days: ['2026-10-24: 3', '2026-10-25: 2', '2026-10-26: 1'],
    });
  });

  it('The days of a shop are those of its zone, even with a half-hour offset', async () => {
    await keepIn('asia/kolkata');
    expect(await sales()).toEqual({
      timeZone: 'Asia/Kolkata',
      today: '2026-10-26',
      days: ['2026-10-24: 1', '2026-10-25: 3', '2026-10-26: 2'],
    });
  });

  it('Today is a day ahead of UTC in Kiritimati, and a day behind in Pago Pago', async () => {
    await keepIn('Pacific/Kiritimati');
    expect((await home()).today).toBe('2026-10-27');
    await keepIn('Pacific/Pago_Pago');
    real = Date.parse('2026-10-26T10:59:59Z');
    expect((await home()).today).toBe('2026-10-25');
  });

  it('A list filtered by a day is exact to the last millisecond', async () => {
    const query = 'from=2026-10-24T22:00:00.000Z&to=2026-10-25T22:59:59.999Z';
    expect(idsOf(await server.api('GET', `/v1/transactions?${query}`)).sort()).toEqual(
      ids.slice(3, 5).sort(),
    );
  });

  it('A time zone that is no IANA name is refused, and the error has an example', async () => {
    for (const zone of ['Mars/Olympus', '+01:00', 'CEST5', '']) {
      await expect(keepIn(zone), zone).rejects.toThrow(/IANA name such as Europe\/Berlin/);
    }
  });
});
