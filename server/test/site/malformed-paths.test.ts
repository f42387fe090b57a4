/** Paths and headers outside the API that cannot be served: the reply is a 400 or 404, and the log has nothing of them. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const paths = [
  ...[
    '/pay/%ff',
    '/pay/%00',
    '/pay/a%00b',
    '/pay/%',
    '/pay/%ff/x',
    '/pay/x?y=%ff',
    '/pay/x?y=%00',
    '/%ff',
    '/%00',
    '/?x=%ff',
  ],
  ...[
    '/chunks/%ff',
    '/chunks/%00.js',
    '/chunks/%2e%2e%2fpackage.json',
    '/flags/%ff',
    '/flags/%00',
    '/flags/ng.svg%00',
  ],
  ...[
    '/demo-api/%ff',
    '/demo-api/orders/%ff',
    '/demo-api/orders/%00',
    '/demo-api/config?%ff',
    '/docs/%ff',
    '/metrics/%ff',
  ],
  ...[
    '/readyz?%ff',
    '/healthz/%ff',
    '/sandbox/%ff',
    '/v1/%ff',
    '/v1/payments/%ff',
    '/v1/payments/%00',
    '/v1/customers?email=%00',
  ],
  ...[
    '/v1/customers?email=%ff',
    '/v1/payments/checkout/%00',
    '/sandbox/blocks?%00',
    'http://shop.example/pay/%ff',
    'http://[/pay',
  ],
];

describe.each(enginesOfQuick)('On $name', (engine) => {
  const lines: string[] = [];
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      engine,
      log: createLog('info', { write: (line) => void lines.push(line) }),
    });
  });
  afterAll(() => server.stop());

  /** Sends the path as it is, which `fetch` would not. */
  async function status(path: string, headers: Record<string, string> = {}, body?: string) {
    const { hostname, port } = new URL(server.url);
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request({ hostname, port, path, method, headers });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  }

  it.each(paths)('%s is 400 or 404, with or without a key', async (path) => {
    lines.length = 0;
    const withKey = await status(path, { Authorization: `Bearer ${server.secretKey}` });
    expect([400, 404, 405]).toContain(withKey);
    expect([400, 401, 404]).toContain(await status(path));
    expect(lines).toEqual([]);
  });

  it.each([
    ['/crypto-checkout.js', { Range: 'bytes=99999999-' }, 416],
    ['/crypto-checkout.js', { 'If-Match': '"another"' }, 412],
    ['/flags/ng.svg', { Range: 'bytes=99999999-' }, 416],
    ['/flags/ng.svg', { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 412],
  ])('%s with the header %o is %i', async (path, headers, expected) => {
    lines.length = 0;
    expect(await status(path, headers)).toBe(expected);
    expect(lines).toEqual([]);
  });

  it.each([
    ['/v1/payments/checkout', '{"amount":1,"baseCurrency":"US\\u0000D"}'],
    ['/v1/customers', '{"email":"ada@example.com","fullName":"\\u0000"}'],
    ['/sandbox/blocks', '{"network":"tron\\u0000"}'],
    ['/demo-api/orders', '{"quantity":1,"baseCurrency":"USD\\u0000"}'],
    ['/demo-api/orders/ORDER/verification', '{"paymentId":"a\\u0000b"}'],
    ['/demo-api/orders/ORDER/verification', '{"paymentId":".."}'],
    ['/demo-api/orders', '\0'],
  ])('U+0000 in a body of %s is 400: %s', async (path, body) => {
    lines.length = 0;
    const headers = { Authorization: `Bearer ${server.secretKey}`, 'Content-Type': 'application/json' };
    const placed = await fetch(`${server.url}/demo-api/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"quantity":1,"baseCurrency":"USD"}',
    });
    const { id } = (await placed.json()) as { id: string };
    expect(await status(path.replace('ORDER', id), headers, body)).toBe(400);
    expect(lines).toEqual([]);
  });
});

describe.each(enginesOfQuick)('Strict-Transport-Security on $name', (engine) => {
  const all = [
    '/pay/NOBODY',
    '/crypto-checkout.js',
    '/docs',
    '/',
    '/v1/currencies',
    '/v1/nothing',
    '/nothing',
    '/sandbox/x',
  ];

  it.each([
    ['is on every reply if PUBLIC_URL is https', 'https://pay.example.com', 'max-age=31536000'],
    ['is on none if it is not', 'http://pay.example.com', null],
  ])('%s', async (_title, PUBLIC_URL, expected) => {
    const server = await startServer({ engine, env: { PUBLIC_URL } });
    for (const path of all) {
      for (const headers of [{}, { Authorization: `Bearer ${server.secretKey}` }]) {
        const reply = await fetch(server.url + path, { headers });
        expect([path, reply.headers.get('strict-transport-security')]).toEqual([path, expected]);
      }
    }
    await server.stop();
  });
});

it('Request ids are random: they do not count requests', async () => {
  const [engine] = enginesOfQuick;
  if (!engine) throw new Error('No database engine is available');
  const server = await startServer({ engine });
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    ids.push((await fetch(`${server.url}/healthz`)).headers.get('x-request-id') ?? '');
  }
  await server.stop();
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  // No part is the same in all of them, as the part of a process would be.
  for (const part of [0, 1, 3, 4])
    expect(new Set(ids.map((id) => id.split('-')[part])).size).toBeGreaterThan(15);
});
