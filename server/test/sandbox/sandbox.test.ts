/** The sandbox over HTTP: who may use it, what it accepts and refuses, and that payments reflect a change when it replies. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines, enginesOfQuick } from '../support/engines.js';
import { externalAddresses } from '../support/shop.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

const nobodys = externalAddresses.tron;

describe.each(enginesOfQuick)('The sandbox on $name', (engine) => {
  let server: TestServer;
  let records: Records;
  /** Addresses of a locked payment of the first merchant. */
  let tron = '';
  let evm = '';
  beforeAll(async () => {
    server = await startServer({ engine });
    records = createRecords(server);
    tron = (await records.lockedPayment()).address;
    evm = await lockOn(records, 'ETH', 'ethereum');
  });
  afterAll(() => server.stop());

  const post = (path: string, body: object, key = server.secretKey, headers = {}) =>
    server.api('POST', `/sandbox/${path}`, { key, body, headers });

  async function lockOn({ shop, payment }: Records, currency: string, network: string): Promise<string> {
    return (await shop.choose(await payment(), { currency, network })).address;
  }

  it('The sandbox sends to the merchant’s own addresses, in any spelling', async () => {
    for (const [body, hash] of [
      [{ network: 'tron', currency: 'USDT', address: tron, amount: '1.5' }, /^[0-9a-f]{64}$/],
      [{ network: 'TRON', currency: 'usdt', address: tron, amount: 0.000001 }, /^[0-9a-f]{64}$/],
      [
        { network: 'ethereum', currency: 'ETH', address: evm.toLowerCase(), amount: 1e-18 },
        /^0x[0-9a-f]{64}$/,
      ],
    ] as const) {
      const { status, body: reply } = await post('transfers', body);
      expect(status, JSON.stringify(reply)).toBe(200);
      expect(reply.data['txHash']).toMatch(hash);
    }
  });

  it.each([
    ['dogecoin', 'USDT', 1, 'unsupported_currency', 'network'],
    ['tron', 'ETH', 1, 'unsupported_currency', 'network'],
    ['tron', 'DOGE', 1, 'unsupported_currency', 'currency'],
    ['tron', 'USDT', '0.0000001', 'validation_error', 'amount'],
    ['tron', 'USDT', 0, 'validation_error', 'amount'],
  ])('A transfer on %s in %s of %s is refused: %s', async (network, currency, amount, code, param) => {
    const { status, body } = await post('transfers', { network, currency, address: tron, amount });
    expect([status, body]).toMatchObject([400, { status: 'error', data: { code, param } }]);
  });

  it.each([
    ['tron', 'USDT', `${nobodys.slice(0, -1)}9`],
    ['tron', 'USDT', externalAddresses.evm],
    ['bitcoin', 'BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ])('A transfer on %s in %s to %s is refused', async (network, currency, address) => {
    const { status, body } = await post('transfers', { network, currency, address, amount: 1 });
    expect([status, body]).toMatchObject([400, { data: { code: 'invalid_address', param: 'address' } }]);
  });

  it('An address of another merchant is refused exactly as one of nobody', async () => {
    const other = createRecords(server, await server.foreignKey('secret', 'test'));
    const theirs = (await other.lockedPayment()).address;
    const refusalOf = async (address: string) => {
      const { status, body } = await post('transfers', {
        network: 'tron',
        currency: 'USDT',
        address,
        amount: 1,
      });
      return [status, body.message, body.data.code, body.data.param];
    };
    const refusal = await refusalOf(theirs);
    expect(refusal).toEqual(await refusalOf(nobodys));
    expect(refusal).toMatchObject([400, expect.stringMatching(/none of your/), 'invalid_address', 'address']);
    const sent = await server.database.reader
      .selectFrom('simulated_transfers')
      .select('tx_hash')
      .where('address', '=', theirs)
      .execute();
    expect(sent).toEqual([]);
  });

  it.each(['blocks', 'reorgs'])('An unknown network is refused in %s', async (path) => {
    const { status, body } = await post(path, { network: 'dogecoin', depth: 1 });
    expect([status, body]).toMatchObject([400, { data: { code: 'unsupported_currency', param: 'network' } }]);
  });

  it('The sandbox adds blocks, one by default and 100 at most, and replaces them at the same heights', async () => {
    const first = (await post('blocks', { network: 'Litecoin' })).body.data;
    expect(first).toMatchObject({ network: 'litecoin', height: 1 });
    const second = (await post('blocks', { network: 'litecoin', count: 100 })).body.data;
    expect(second).toMatchObject({ height: 101 });
    const tooMany = await post('blocks', { network: 'litecoin', count: 101 });
    expect([tooMany.status, tooMany.body.data.param]).toEqual([400, 'count']);
    const third = (await post('reorgs', { network: 'litecoin', depth: 100 })).body.data;
    expect(third).toMatchObject({ height: 101 });
    expect(third).not.toEqual(second);
    const cursor = await server.database.reader
      .selectFrom('chain_cursors')
      .select(['network', 'height', 'hash'])
      .where('network', '=', 'litecoin')
      .executeTakeFirst();
    expect(cursor).toEqual(third);
  });

  it('The sandbox repeats its reply to a repeated call with an Idempotency-Key, and sends once', async () => {
    const address = await lockOn(records, 'USDT', 'tron');
    const body = { network: 'tron', currency: 'USDT', address, amount: 1 };
    const headers = { 'Idempotency-Key': `send-${address}` };
    const [once, again] = [
      await post('transfers', body, server.secretKey, headers),
      await post('transfers', body, server.secretKey, headers),
    ];
    expect([once.status, again.status]).toEqual([200, 200]);
    expect(again.body).toEqual(once.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const sent = await server.database.reader
      .selectFrom('simulated_transfers')
      .select('tx_hash')
      .where('address', '=', address)
      .execute();
    expect(sent).toEqual([{ tx_hash: once.body.data['txHash'] }]);
  });

  const statusOf = async ({ merchant }: Records, id: string) =>
    (await merchant.transactions.verify({ params: { transaction_id: id } })).data.status;

  it.each([false, true])("A reorg (keep: %s) leaves other merchants' payments as they are", async (keep) => {
    const attackerKey = await server.foreignKey('secret', 'test');
    const attacker = createRecords(server, attackerKey);
    const own = await attacker.paidPayment();
    const theirs = await records.paidPayment();
    const before = await server.database.reader
      .selectFrom('receipts')
      .select(['id', 'status', 'block_height'])
      .where('payment_id', '=', theirs)
      .execute();
    await attacker.shop.sandbox('reorgs', { network: 'tron', depth: 100, keep });
    expect([await statusOf(attacker, own), await statusOf(records, theirs)]).toEqual(['error', 'success']);
    const after = await server.database.reader
      .selectFrom('receipts')
      .select(['id', 'status', 'block_height'])
      .where('payment_id', '=', theirs)
      .execute();
    expect(after, 'in the new blocks, at the same heights').toEqual(before);
    await attacker.shop.mine(3);
    expect(await statusOf(attacker, own), 'kept transfers get a new block, dropped ones are gone').toBe(
      keep ? 'success' : 'error',
    );
  });

  it('A reorg can be limited to one address', async () => {
    const [first, second] = [await records.paidPayment(), await records.paidPayment()];
    const { data } = await records.merchant.transactions.verify({ params: { transaction_id: first } });
    const { address } = data.addressInformation ?? {};
    await records.shop.sandbox('reorgs', { network: 'tron', depth: 50, address });
    expect([await statusOf(records, first), await statusOf(records, second)]).toEqual(['error', 'success']);
  });

  it('Calls of several merchants during reorgs never fail', async () => {
    const all = [records, createRecords(server, await server.foreignKey('secret', 'test'))];
    const addresses = await Promise.all(all.map((each) => lockOn(each, 'USDT', 'bsc')));
    const calls = Array.from({ length: 12 }, async (_, index) => {
      await delay(index % 4);
      const { sandbox, mine } = (all[index % 2] ?? records).shop;
      const address = addresses[index % 2];
      await sandbox('transfers', { network: 'bsc', currency: 'USDT', address, amount: 1 });
      await sandbox('reorgs', { network: 'bsc', depth: 3, keep: index % 3 === 0 });
      await mine(2, 'bsc');
    });
    await expect(Promise.all(calls)).resolves.toHaveLength(12);
  });

  it.each([
    ['transfers', () => ({ network: 'tron', currency: 'USDT', address: tron, amount: 1 })],
    ['blocks', () => ({ network: 'tron' })],
    ['reorgs', () => ({ network: 'tron', depth: 1 })],
    ['clock', () => ({ advanceSeconds: 1 })],
  ])('/sandbox/%s takes a secret test key only, and does not exist for live keys', async (path, body) => {
    const live = await server.foreignKey('secret', 'live');
    const refused = await post(path, body(), live);
    expect([refused.status, refused.body]).toMatchObject([404, { data: { code: 'not_found' } }]);
    const byPage = await post(path, body(), server.publicKey);
    expect([byPage.status, byPage.body.data.code]).toEqual([403, 'secret_key_required']);
    expect((await post(path, body())).status).toBe(200);
  });
});

const [engine] = engines;
describe('The sandbox by configuration', () => {
  let server: TestServer | undefined;
  const start = async (env: Record<string, string>) => {
    if (!engine) throw new Error('No database engine is available');
    await server?.stop();
    server = await startServer({ engine, env });
    return server;
  };
  afterAll(() => server?.stop());

  it('A server with SANDBOX=off has no paths of the sandbox, and no demo shop', async () => {
    const { api, url } = await start({ SANDBOX: 'off' });
    expect((await api('POST', '/sandbox/blocks', { body: { network: 'tron' } })).status).toBe(404);
    expect((await fetch(`${url}/demo-api/config`)).status).toBe(404);
    expect((await fetch(url)).status).toBe(404);
  });

  it('The sandbox works without the demo shop with DEMO=off', async () => {
    const { api, url } = await start({ DEMO: 'off' });
    expect((await api('POST', '/sandbox/blocks', { body: { network: 'tron' } })).status).toBe(200);
    expect((await fetch(`${url}/demo-api/config`)).status).toBe(404);
  });

  it('The sandbox asks the API once for the settings that the demo shop gives all its visitors', async () => {
    const { url } = await start({ METRICS_TOKEN: 'scrape-me-0123456789' });
    const configs = [];
    for (let visit = 0; visit < 10; visit += 1) {
      configs.push(await (await fetch(`${url}/demo-api/config`)).json());
    }
    expect(configs.at(-1)).toEqual(configs[0]);
    const headers = { Authorization: 'Bearer scrape-me-0123456789' };
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
    expect(metrics).toMatch(/duration_seconds_count\{[^}]*route="\/v1\/currencies"[^}]*\} 1$/m);
    expect(metrics).toMatch(/duration_seconds_count\{[^}]*route="\/sandbox\/clock"[^}]*\} 1$/m);
  });

  it('The server does not start with a demo shop that has no sandbox', async () => {
    await expect(start({ SANDBOX: 'off', DEMO: 'on' })).rejects.toThrow(/DEMO: .*SANDBOX=on/);
    server = undefined;
  });

  it('The sandbox limits the calls of each merchant separately', async () => {
    const { api, foreignKey } = await start({ RATE_LIMIT: 'on', RATE_LIMIT_SANDBOX_PER_SECOND: '1' });
    const other = await foreignKey('secret', 'test');
    const clock = (key?: string) =>
      api('POST', '/sandbox/clock', { body: { advanceSeconds: 0 }, ...(key !== undefined && { key }) });
    const answers = await Promise.all(Array.from({ length: 30 }, () => clock()));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(15);
    expect(refused[0]?.body.data.code).toBe('rate_limited');
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await clock(other)).status).toBe(200);
    expect((await api('GET', '/v1/currencies')).status).toBe(200);
  });
});
