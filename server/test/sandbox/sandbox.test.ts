/** The sandbox over HTTP: what it accepts and refuses, and that payments reflect a change when it replies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

describe.each(engines)('The sandbox on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const post = (path: string, body: object, key = server.publicKey) =>
    server.api('POST', `/sandbox/${path}`, { key, body });

  it.each([
    [{ network: 'tron', currency: 'USDT', address, amount: '1.5' }, /^[0-9a-f]{64}$/],
    [{ network: 'TRON', currency: 'usdt', address, amount: 0.000001 }, /^[0-9a-f]{64}$/],
    [
      {
        network: 'ethereum',
        currency: 'ETH',
        address: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
        amount: 1e-18,
      },
      /^0x[0-9a-f]{64}$/,
    ],
  ])('Sends %j', async (body, hash) => {
    const { status, body: reply } = await post('transfers', body);
    expect(status).toBe(200);
    expect(reply.data['txHash']).toMatch(hash);
  });

  it.each([
    ['dogecoin', 'USDT', address, 1, 'unsupported_currency', 'network'],
    ['tron', 'ETH', address, 1, 'unsupported_currency', 'network'],
    ['tron', 'DOGE', address, 1, 'unsupported_currency', 'currency'],
    ['tron', 'USDT', `${address.slice(0, -1)}9`, 1, 'invalid_address', 'address'],
    ['tron', 'USDT', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', 1, 'invalid_address', 'address'],
    ['bitcoin', 'BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 1, 'invalid_address', 'address'],
    ['tron', 'USDT', address, '0.0000001', 'validation_error', 'amount'],
    ['tron', 'USDT', address, 0, 'validation_error', 'amount'],
  ])('Does not send on %s %s to %s the amount %s: %s', async (network, currency, to, amount, code, param) => {
    const { status, body } = await post('transfers', { network, currency, address: to, amount });
    expect([status, body]).toMatchObject([400, { status: 'error', data: { code, param } }]);
  });

  it.each(['blocks', 'reorgs'])('Refuses an unknown network in %s', async (path) => {
    const { status, body } = await post(path, { network: 'dogecoin', depth: 1 });
    expect([status, body]).toMatchObject([400, { data: { code: 'unsupported_currency', param: 'network' } }]);
  });

  it('Adds blocks, one by default, and replaces them at the same heights', async () => {
    const first = (await post('blocks', { network: 'Litecoin' })).body.data;
    expect(first).toMatchObject({ network: 'litecoin', height: 1 });
    const second = (await post('blocks', { network: 'litecoin', count: 1000 })).body.data;
    expect(second).toMatchObject({ height: 1001 });
    const third = (await post('reorgs', { network: 'litecoin', depth: 100 })).body.data;
    expect(third).toMatchObject({ height: 1001 });
    expect(third).not.toEqual(second);
    const cursor = await server.database.reader
      .selectFrom('chain_cursors')
      .select(['network', 'height', 'hash'])
      .where('network', '=', 'litecoin')
      .executeTakeFirst();
    expect(cursor).toEqual(third);
  });

  it('Moves the clock, and replies when all networks are scanned up to the new time', async () => {
    const before = Date.now();
    const { body, headers } = await post('clock', { advanceSeconds: 86_400 });
    const now = Date.parse((body.data as { now: string }).now);
    expect(now).toBeGreaterThanOrEqual(before + 86_400_000);
    expect(Date.parse(headers.get('date') ?? '')).toBeGreaterThan(now - 1000);
    const cursors = await server.database.reader.selectFrom('chain_cursors').select('synced_at').execute();
    expect(cursors).toHaveLength(7);
    for (const { synced_at } of cursors) expect(synced_at).toBeGreaterThanOrEqual(now);
  });

  it('Does not move the clock past the year 9899', async () => {
    const tenYears = 10 * 366 * 86_400;
    const left = Date.UTC(9990, 0, 1) - Date.now();
    await server.database.write((transaction) =>
      transaction
        .updateTable('settings')
        .set({ value: String(left) })
        .where('name', '=', 'test-clock-offset')
        .execute(),
    );
    const { status, body } = await post('clock', { advanceSeconds: tenYears });
    expect([status, body]).toMatchObject([
      400,
      { data: { code: 'validation_error', param: 'advanceSeconds' } },
    ]);
  });

  it.each([
    ['transfers', { network: 'tron', currency: 'USDT', address, amount: 1 }],
    ['blocks', { network: 'tron' }],
    ['reorgs', { network: 'tron', depth: 1 }],
    ['clock', { advanceSeconds: 1 }],
  ])('/sandbox/%s does not exist for live keys', async (path, body) => {
    const live = await server.foreignKey('secret', 'live');
    const { status, body: reply } = await post(path, body, live);
    expect([status, reply]).toMatchObject([404, { data: { code: 'not_found' } }]);
    expect((await post(path, body, server.secretKey)).status).not.toBe(404);
  });
});
