/** The limits of refunds that an owner sets in the console. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn, type TestBrowser } from '../support/browser.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)('In the console, on $name', (engine) => {
  const api = '/console/api';
  let server: TestServer;
  let owner: TestBrowser;
  let ada: TestBrowser;
  let real = Date.now();
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => real } });
    owner = await signIn(server, 'owner', 'owner@shop.example');
    ada = await signIn(server, 'manager', 'ada@shop.example');
  });
  afterAll(() => server.stop());

  it('an owner sets limits of refunds as the command does, and only lowers the daily one; a manager sets none', async () => {
    const path = `${api}/shop/refund-limits`;
    const set = (limit: string, currency: string, amount: string | null, by = owner) =>
      by.send('PATCH', path, { body: { limit, currency, amount } });
    const small = await set('autoRefund', 'usd', '20.50');
    expect(small.body.data).toMatchObject({ autoRefund: { USD: '20.50' }, dailyRefunds: {} });
    expect((await set('autoRefund', 'USDT', '5')).body.data).toMatchObject({
      autoRefund: { USD: '20.50', USDT: '5' },
    });
    expect((await set('autoRefund', 'USDT', null)).body.data).toMatchObject({ autoRefund: { USD: '20.50' } });
    expect((await set('dailyRefunds', 'USD', '500')).status).toBe(200);
    expect((await set('dailyRefunds', 'USD', '499.99')).body.data).toMatchObject({
      dailyRefunds: { USD: '499.99' },
    });
    for (const amount of ['500', '1e3', '499.991', null, '', 'all']) {
      const refused = await set('dailyRefunds', 'USD', amount);
      const isAmount = amount === null || amount === '500' || amount === '499.991';
      expect([amount, refused.body.data.code]).toEqual([
        amount,
        isAmount ? 'invalid_state' : 'validation_error',
      ]);
      if (amount === '500') expect(refused.body.message).toContain('--daily-refunds USD=500');
    }
    expect((await set('dailyRefunds', 'XYZ', '1')).body.data.code).toBe('validation_error');
    expect((await set('autoRefund', 'USD', '-1')).body.data.code).toBe('validation_error');
    const many = ['USDC', 'BTC', 'ETH', 'TRX', 'EUR'];
    await Promise.all(many.map((code) => set('dailyRefunds', code, '1')));
    const shop = await ada.send('GET', `${api}/shop`);
    expect(shop.body.data).toMatchObject({
      dailyRefunds: { USD: '499.99', ...Object.fromEntries(many.map((code) => [code, '1'])) },
    });
    const log = await owner.send('GET', `${api}/audit-log?action=merchant.updated`);
    const [last] = log.body.data as unknown as { actor: string }[];
    expect(last?.actor).toContain('owner@shop.example, owner ');
    expect((await set('autoRefund', 'USD', '1000', ada)).body.data.code).toBe('role_not_allowed');
    const { id } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Third Shop' }),
    );
    const stranger = await signIn(server, 'owner', 'mal@shop.example', id);
    expect((await set('dailyRefunds', 'USD', '1', stranger)).status).toBe(200);
    expect((await owner.send('GET', `${api}/shop`)).body.data).toMatchObject({
      dailyRefunds: { USD: '499.99' },
    });
    real += 11 * 60_000;
    expect((await set('dailyRefunds', 'USD', '0')).body.data.code).toBe('step_up_required');
    real -= 11 * 60_000;
  });
});
