/** Work that waits for a shop's people, on both engines: each count is of the list that it names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVolume } from '../../src/modules/console/volume.js';
import { enginesOfQuick } from '../support/engines.js';
import { idsOf } from '../support/lists.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const dayMs = 86_400_000;

interface Home {
  readonly today: string;
  readonly attention: readonly {
    readonly code: string;
    readonly count: number;
    readonly list: { readonly path: string; readonly query: Record<string, string> } | null;
  }[];
  readonly volume: readonly { date: string; currency: string; payments: number; amount: number }[];
}

describe.each(enginesOfQuick)('Home, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
  });
  afterAll(() => server.stop());

  const home = (key?: string) => merchant.ask<Home>('GET', '/v1/home', key === undefined ? {} : { key });
  const counts = async (key?: string) =>
    Object.fromEntries((await home(key)).attention.map(({ code, count }) => [code, count]));
  async function paidWith(amount: number, isCancelled = false): Promise<string> {
    const { id, address } = await merchant.lock();
    if (isCancelled) await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    await merchant.pay(address, amount);
    return id;
  }

  it('Home shows nothing to do to a new shop', async () => {
    // Until each network was read once, Home says so.
    await expect.poll(home, { timeout: 15_000 }).toMatchObject({ mode: 'test', attention: [], volume: [] });
    expect((await home()).today).toBe(new Date().toISOString().slice(0, 10));
  });

  it('Home counts late, short, excess and wrong-coin payments until they have a refund, and links to their lists', async () => {
    const excess = await paidWith(15);
    await paidWith(10);
    const late = await paidWith(10, true);
    const short = await paidWith(5);
    await merchant.advance(3600);
    const wrong = await merchant.lock();
    await merchant.pay(wrong.address, 50, { currency: 'TRX' });
    await merchant.advance(3600);
    await merchant.mine(1);
    await expect
      .poll(counts)
      .toEqual({ payments_excess: 1, payments_late: 1, payments_short: 1, payments_wrong_coin: 1 });

    const shown = async () => {
      const lists = (await home()).attention.map(async ({ code, count, list }) => {
        const query = new URLSearchParams(list?.query).toString();
        const ids = idsOf(await server.api('GET', `${list?.path ?? ''}?${query}`));
        expect(ids, code).toHaveLength(count);
        return [code, ids] as const;
      });
      return Object.fromEntries(await Promise.all(lists));
    };
    expect(await shown()).toEqual({
      payments_excess: [excess],
      payments_late: [late],
      payments_short: [short],
      payments_wrong_coin: [wrong.id],
    });
    const other = await server.foreignKey('secret', 'test');
    expect(await home(other)).toMatchObject({ attention: [], volume: [] });

    const refund = await merchant.refund(excess, {
      kind: 'excess',
      address: 'TMuA6YqfCeX8EhbfYEg5y7S4DqzSJireY9',
    });
    expect(await shown()).toMatchObject({ refunds_to_approve: [refund.id], payments_late: [late] });
    expect(await counts()).not.toHaveProperty('payments_excess');
    await merchant.ask('POST', `/v1/refunds/${refund.id}/cancel`, { body: {} });
    expect(await counts()).toMatchObject({ payments_excess: 1 });
  });

  it('Home sums the payments made in full on each day, and remembers the days that are over', async () => {
    const { volume, today } = await home();
    const paid = volume.reduce((sum, { payments }) => sum + payments, 0);
    expect([paid, volume.at(-1)?.currency]).toEqual([2, 'USD']);
    expect(volume.reduce((sum, { amount }) => sum + amount, 0)).toBe(20);
    expect(volume.every(({ date }) => date <= today)).toBe(true);

    const scope = { merchantId: server.bootstrapped.merchantId, mode: 'test' } as const;
    const read = createVolume(server.database.reader);
    const start = Date.parse(volume[0]?.date ?? '');
    const day = { start, end: start + dayMs };
    const [first] = await read(scope, [day], start + 2 * dayMs);
    expect(first).toEqual([
      { currency: 'USD', payments: volume[0]?.payments, amount: expect.any(BigInt) as bigint },
    ]);
    expect((await read(scope, [day], start + 2 * dayMs))[0]).toBe(first);
    expect((await read(scope, [day], start + dayMs))[0]).toBe(first);
    const readToday = createVolume(server.database.reader);
    const [once] = await readToday(scope, [day], start + 1);
    expect((await readToday(scope, [day], start + 1))[0]).not.toBe(once);
  });

  it('Home no longer sums a reversed payment, also on a day that is remembered', async () => {
    const sums = async () => {
      const { volume } = await home();
      return [
        volume.reduce((sum, { payments }) => sum + payments, 0),
        volume.reduce((sum, { amount }) => sum + amount, 0),
      ];
    };
    const { id, address } = await merchant.lock();
    await merchant.pay(address, 10);
    await merchant.advance(86_400 + 1200);
    const [payments = 0, amount = 0] = await sums();
    await merchant.sandbox('reorgs', { network: 'tron', depth: 50, address });
    expect(await merchant.ask('GET', `/v1/transactions/${id}`)).toMatchObject({ state: 'reversed' });
    expect(await sums()).toEqual([payments - 1, amount - 10]);
  });

  it('Home reports a webhook endpoint that is off, a failed webhook and a suspended balance', async () => {
    const { merchantId } = server.bootstrapped;
    await merchant.command(
      ...['merchants', 'update', merchantId, '--mode', 'test'],
      ...['--webhook-url', 'http://127.0.0.1:9/hooks'],
    );
    await server.database.write((transaction) =>
      transaction.updateTable('webhook_endpoints').set({ disabled_at: 1 }).execute(),
    );
    await merchant.command(
      'balances',
      'suspend',
      '--merchant',
      merchantId,
      '--currency',
      'USDT',
      '--mode',
      'test',
    );
    await paidWith(10);
    const found = await counts();
    expect(found).toMatchObject({ webhooks_off: 1, webhooks_failed: 1, balances_suspended: 1 });
  });

  it('Each network of the mode is listed with its lag', async () => {
    const networks = await merchant.ask<{ network: string }[]>('GET', '/v1/networks');
    expect(networks).toContainEqual({
      network: 'tron',
      name: 'Tron',
      isOffered: true,
      node: null,
      problems: [],
      lagSeconds: expect.any(Number) as number,
    });
  });
});
