/** The whole server: health checks, the clock in its replies, behavior without a database, and shutdown. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { call } from './support/call.js';
import { enginesOfQuick } from './support/engines.js';
import { startServer, type TestServer } from './support/server.js';
import { openShop } from './support/shop.js';

describe.each(enginesOfQuick)('The server on $name', (engine) => {
  let server: TestServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });
  const start = async (env: Record<string, string> = {}) => (server = await startServer({ engine, env }));

  it('The server is alive at once and ready soon, and its health checks need no key and expose no merchant data', async () => {
    const { url } = await start();
    const alive = await call(url, 'GET', '/healthz');
    expect([alive.status, alive.body]).toEqual([200, { status: 'success', message: 'Alive' }]);
    await expect.poll(async () => (await call(url, 'GET', '/readyz')).status, { timeout: 15_000 }).toBe(200);
    expect((await call(url, 'GET', '/readyz')).body).toEqual({ status: 'success', message: 'Ready' });
  });

  it('Every response has a unique request id', async () => {
    const { url } = await start();
    const paths = ['/healthz', '/v1/currencies', '/v1/nothing', '/sandbox/blocks', '/nothing', '/pay/NOBODY'];
    const answers = await Promise.all(paths.map((path) => fetch(url + path)));
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(paths.length);
    expect(ids).not.toContain(null);
  });

  it('Replies have the time of the merchant’s clock, which the sandbox moves in test mode', async () => {
    const { api, foreignKey } = await start();
    const live = await foreignKey('secret', 'live');
    const seconds = (headers: Headers) => Date.parse(headers.get('date') ?? '') / 1000;
    const before = seconds((await api('GET', '/v1/currencies')).headers);
    const moved = await api('POST', '/sandbox/clock', { body: { advanceSeconds: 86_400 } });
    expect(seconds(moved.headers) - before).toBeGreaterThanOrEqual(86_400);
    expect(seconds((await api('GET', '/v1/currencies')).headers) - before).toBeLessThan(86_460);
    expect(seconds((await api('GET', '/v1/currencies', { key: live })).headers) - before).toBeLessThan(60);
  });

  it('The address of a hosted page begins with CHECKOUT_URL', async () => {
    const { body } = await openShop(await start({ CHECKOUT_URL: 'https://pay.example.com/p/' })).checkout();
    expect(body.data['url']).toMatch(/^https:\/\/pay\.example\.com\/p\/[0-9A-Z]{26}$/);
  });

  it('Hosted pages are at the server’s own address by default', async () => {
    const started = await start();
    const page = String((await openShop(started).checkout()).body.data['url']);
    expect(page.startsWith(`${started.url}/pay/`)).toBe(true);
    expect((await fetch(page)).status).toBe(200);
  });

  it('A repeated creation gets the first reply, although the reference is taken by then', async () => {
    const { api } = await start();
    const request = {
      body: { amount: 10, baseCurrency: 'USD', txRef: 'order-1' },
      headers: { 'Idempotency-Key': 'one' },
    };
    const first = await api('POST', '/v1/payments/checkout', request);
    const second = await api('POST', '/v1/payments/checkout', request);
    expect([second.status, second.body]).toEqual([200, first.body]);
    const other = await api('POST', '/v1/payments/checkout', { body: request.body });
    const { id } = first.body.data['payment'] as { id: string };
    expect([other.status, other.body.data.code, other.body.data['paymentId']]).toEqual([
      409,
      'duplicate_tx_ref',
      id,
    ]);
  });

  it('The payments that one IP address creates with a public key are limited', async () => {
    const { api, publicKey } = await start({
      RATE_LIMIT: 'on',
      RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP: '1',
      RATE_LIMIT_TEST_FACTOR: '1',
    });
    const body = { amount: 10, baseCurrency: 'USD' };
    const answers = [
      await api('POST', '/v1/payments/checkout', { key: publicKey, body }),
      await api('POST', '/v1/payments/checkout', { key: publicKey, body }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 429]);
    const elsewhere = { 'X-Forwarded-For': '203.0.113.9' };
    // Only trusted proxies may set the client's address.
    expect(
      (await api('POST', '/v1/payments/checkout', { key: publicKey, body, headers: elsewhere })).status,
    ).toBe(429);
  });

  it('The server takes the client’s address from a trusted proxy', async () => {
    const { api, publicKey } = await start({
      RATE_LIMIT: 'on',
      RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP: '1',
      RATE_LIMIT_TEST_FACTOR: '1',
      TRUST_PROXY: 'loopback',
    });
    const from = async (address: string) => {
      const headers = { 'X-Forwarded-For': address };
      const body = { amount: 10, baseCurrency: 'USD' };
      return (await api('POST', '/v1/payments/checkout', { key: publicKey, body, headers })).status;
    };
    expect([await from('203.0.113.9'), await from('203.0.113.8'), await from('203.0.113.9')]).toEqual([
      200, 200, 429,
    ]);
    // Some proxies add the port, which differs from connection to connection.
    expect([await from('203.0.113.7:1001'), await from('203.0.113.7:1002')]).toEqual([200, 429]);
    expect([await from('203.0.113.6, 127.0.0.1:9'), await from('203.0.113.6')]).toEqual([200, 429]);
    expect([await from('[2001:db8:7::1]:1001'), await from('[2001:db8:7::1]:1002')]).toEqual([200, 429]);
    // All addresses of one IPv6 subnet count as one client.
    expect([await from('2001:db8:1:2::1'), await from('2001:db8:1:2:3::9')]).toEqual([200, 429]);
  });

  it('The server finishes a running request when it stops', async () => {
    const { url, secretKey, stop } = await start();
    server = undefined;
    const { hostname, port } = new URL(url);
    const body = JSON.stringify({ amount: 10, baseCurrency: 'USD' });
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write(
      `POST /v1/payments/checkout HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secretKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    // Once a later request has been answered, this one has arrived.
    await fetch(`${url}/healthz`);
    const stopped = stop();
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed');
    socket.write(body.slice(5));
    await once(socket, 'close');
    await stopped;
    expect(received).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(received).toContain('Payment created');
  });

  if (engine.name === 'PostgreSQL')
    it('The server replies 503 while its database is unreachable, also at /readyz', async () => {
      const database = await engine.create();
      const cutOff = await startServer({ engine, databaseUrl: database.url, env: { LOG_LEVEL: 'silent' } });
      await expect
        .poll(async () => (await cutOff.api('GET', '/readyz')).status, { timeout: 15_000 })
        .toBe(200);
      expect((await cutOff.api('GET', '/v1/transactions')).status).toBe(200);
      await database.dispose();
      const answer = await cutOff.api('GET', '/v1/transactions');
      expect([answer.status, answer.body.data.code, answer.headers.get('retry-after')]).toEqual([
        503,
        'service_unavailable',
        '5',
      ]);
      expect((await cutOff.api('GET', '/readyz')).status).toBe(503);
      expect((await cutOff.api('GET', '/healthz')).status).toBe(200);
      await cutOff.stop();
    });
});
