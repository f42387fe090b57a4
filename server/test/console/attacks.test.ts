/** Attacks on the console: from another site, by guessing, with a frame, through a cache; and the traces they leave. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { invite, openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import { sqlite } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

describe('A session', () => {
  let server: TestServer;
  let owner: TestBrowser;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
    owner = await signIn(server, 'owner');
  });
  afterAll(() => server.stop());

  it.each([
    ['another site', 'cross-site', ''],
    ['a subdomain', 'same-site', ''],
    ['an address that was typed', 'none', ''],
    ['another site that claims our origin', 'cross-site', 'own'],
    ['an older browser, from another site', null, 'https://evil.example'],
    ['an older browser, from another port', null, 'http://localhost:1'],
    ['an older browser, from a sandboxed frame', null, 'null'],
    ['an older browser that does not say', null, ''],
  ])('a session is refused from %s, whatever it asks', async (_who, site, origin) => {
    const Origin = origin === 'own' ? `http://localhost:${new URL(server.url).port}` : origin;
    const ask = (method: string, path: string, body?: object) =>
      openBrowser(server.url, owner.cookie, site).send(method, path, {
        headers: Origin === '' ? {} : { Origin },
        ...(body && { body }),
      });
    const answers = await Promise.all([
      ask('GET', '/v1/transactions'),
      ask('POST', '/v1/payments/checkout', { amount: 1, baseCurrency: 'USD' }),
      ask('GET', '/v1/wallet-addresses/primary/nobody'),
      ask('GET', '/console/api/session'),
      ask('POST', '/console/api/sign-out', {}),
      ask('POST', '/sandbox/blocks', { network: 'tron' }),
      ask('POST', '/console/api/sign-in', {
        token: await invite(server, 'support', 'login-csrf@shop.example'),
      }),
    ]);
    for (const { status, body, headers: replied } of answers) {
      expect([status, body.data.code]).toEqual([403, 'origin_not_allowed']);
      expect(replied.get('set-cookie')).toBe(null);
    }
    expect((await owner.send('GET', '/console/api/session')).status).toBe(200);
  });

  it('a session is accepted from an older browser on our own page', async () => {
    const { port } = new URL(server.url);
    const headers = { Origin: `http://localhost:${port}` };
    const answer = await openBrowser(server.url, owner.cookie, null).send('POST', '/v1/customers', {
      headers,
      body: { email: 'older@browser.example' },
    });
    expect(answer.status).toBe(200);
  });

  it('no page of another origin can read a reply to a session', async () => {
    const answer = await owner.send('GET', '/v1/transactions', {
      headers: { Origin: 'https://evil.example' },
    });
    expect(answer.headers.get('access-control-allow-credentials')).toBe(null);
    expect(answer.headers.get('access-control-allow-origin')).toBe(null);
  });

  it('a session does not make up for a wrong key that is sent with it', async () => {
    const answer = await owner.send('GET', '/v1/transactions', { key: 'sk_test_wrong' });
    expect(answer.body.data.code).toBe('invalid_api_key');
  });

  it('payments of a session redirect payers only where the shop allows, as with a public key', async () => {
    const { merchantId } = server.bootstrapped;
    const body = { amount: 1, baseCurrency: 'USD', redirectUrl: 'https://evil.example/' };
    const untrusted = await owner.send('POST', '/v1/payments/checkout', { body });
    expect(untrusted.body.data['payment']).toMatchObject({ isRedirectTrusted: false });
    await server.database.write((transaction) =>
      server.app.merchants.update(transaction, merchantId, { redirectOrigins: ['https://shop.example'] }),
    );
    const refused = await owner.send('POST', '/v1/payments/checkout', { body });
    expect(refused.body.data).toMatchObject({ code: 'validation_error', param: 'redirectUrl' });
  });

  it('each change of a session leaves an entry in the audit log, with the person, the address and the request', async () => {
    const support = await signIn(server, 'support');
    const body = { amount: 3, baseCurrency: 'USD' };
    const created = await support.send('POST', '/v1/payments/checkout', { body });
    const payment = created.body.data['payment'] as { id: string };
    const cancelled = await support.send('PATCH', `/v1/payments/${payment.id}/cancel`, { body: {} });
    await support.send('GET', `/v1/payments/${payment.id}`);
    const entries = await server.app.auditLog.list(server.database.reader, {});
    const own = entries.filter(
      ({ actor, action }) => actor.startsWith('support@') && action !== 'session.started',
    );
    expect(own.map(({ action, subjectId, after }) => [action, subjectId, after?.['call']])).toEqual([
      ['console.change', payment.id, 'payments.create'],
      ['console.change', payment.id, 'payments.cancel'],
    ]);
    const requestId = cancelled.headers.get('x-request-id') ?? '';
    expect(own[1]?.actor).toMatch(
      new RegExp(
        `^support@shop\\.example, support [0-9A-Z]{26}, from 127\\.0\\.0\\.1, request ${requestId}$`,
      ),
    );
    const address = { currency: 'LTC', address: 'tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0', label: 'x' };
    await owner.send('POST', '/v1/wallet-addresses', { body: address });
    const [last] = (await server.app.auditLog.list(server.database.reader, {})).slice(-1);
    expect([last?.action, last?.actor.startsWith('owner@shop.example, owner ')]).toEqual([
      'wallet_address.created',
      true,
    ]);
  });
});

describe('The page', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
  });
  afterAll(() => server.stop());

  it.each(['/console', '/console/', '/console/payments/01J9ZQ4W3V8K2M6N7P5R0S1T2X'])(
    '%s is framed, cached and indexed by nobody, and runs only its own script',
    async (path) => {
      const response = await fetch(server.url + path);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
      expect(response.headers.get('permissions-policy')).toContain('camera=()');
      const policy = response.headers.get('content-security-policy') ?? '';
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ]) {
        expect(policy.split('; ')).toContain(part);
      }
      expect(policy).not.toContain('unsafe');
      expect(await response.text()).not.toMatch(
        /<script(?! type="module" src="\/console\/console\.js"><\/script>)/,
      );
    },
  );

  it.each(['/console/api/session', '/console/api/nothing', '/v1/transactions'])(
    '%s is cached by nobody, and is no page',
    async (path) => {
      const { headers } = await openBrowser(server.url).send('GET', path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it.each(['/console/../package.json', '/console/chunks/..%2f..%2fmain.js', '/console/chunks/nothing-A1.js'])(
    'the console serves no other file: %s',
    async (path) => {
      const { status } = await openBrowser(server.url).send('GET', path);
      expect(status).toBe(404);
    },
  );
});

describe('Behind https, with limits', () => {
  let server: TestServer;
  beforeAll(async () => {
    const env = { PUBLIC_URL: 'https://pay.example.com', RATE_LIMIT: 'on', TRUST_PROXY: '1' };
    server = await startServer({ engine: sqlite, env });
  });
  afterAll(() => server.stop());

  it('the cookie is only for this host, and never leaves https', async () => {
    const token = await invite(server, 'owner', 'https@shop.example');
    const headers = { 'X-Forwarded-For': '192.0.2.7', Origin: 'https://pay.example.com' };
    const browser = openBrowser(server.url, '', null);
    const { headers: replied } = await browser.send('POST', '/console/api/sign-in', {
      headers,
      body: { token },
    });
    expect(replied.get('set-cookie')).toMatch(
      /^__Host-checkout-console=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const open = await browser.send('GET', '/console/api/sessions', { headers });
    expect(open.body.data).toMatchObject([{ isCurrent: true, address: '192.0.2.7', signedInBy: 'link' }]);
    const local = await browser.send('GET', '/console/api/sessions', {
      headers: { Origin: 'http://localhost:8080' },
    });
    expect(local.body.data.code).toBe('origin_not_allowed');
  });

  it('a person who sets the webhook cannot reach what is inside the network, by address or by name', async () => {
    let visits = 0;
    const inside = createServer((_request, response) => {
      visits += 1;
      response.end('internal');
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void inside.close());
    const { port } = inside.address() as AddressInfo;
    const token = await invite(server, 'owner', 'inside@shop.example');
    const headers = { 'X-Forwarded-For': '192.0.2.11', Origin: 'https://pay.example.com' };
    const browser = openBrowser(server.url, '', null);
    await browser.send('POST', '/console/api/sign-in', { headers, body: { token } });
    const set = (url: string) => browser.send('PATCH', '/console/api/webhook', { headers, body: { url } });
    for (const host of ['127.0.0.1', '[::1]', '10.0.0.1', '0x7f.1']) {
      expect((await set(`http://${host}:${port}/`)).body.data.param, host).toBe('webhookUrl');
    }
    expect((await set(`http://localhost:${port}/`)).status).toBe(200);
    const sample = await browser.send('POST', '/v1/webhooks/samples', { headers, body: {} });
    expect(sample.body.data['error']).toContain('is not a public address');
    expect(visits).toBe(0);
  });

  it('links are guessed 10 times a minute at most, and sessions 10 times a second, from one address', async () => {
    const guess = (method: string, path: string, cookie: string, ip: string) =>
      openBrowser(server.url, cookie).send(method, path, {
        headers: { 'X-Forwarded-For': ip },
        ...(method === 'POST' && { body: { token: 'A'.repeat(43) } }),
      });
    const links = [];
    for (let count = 0; count < 12; count += 1) {
      links.push((await guess('POST', '/console/api/sign-in', '', '192.0.2.8')).status);
    }
    expect(links).toEqual([...Array<number>(10).fill(404), 429, 429]);
    const cookie = `__Host-checkout-console=${'A'.repeat(43)}`;
    const sessions = await Promise.all(
      Array.from({ length: 30 }, () => guess('GET', '/v1/transactions', cookie, '192.0.2.9')),
    );
    expect(sessions.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(20);
    expect(sessions.some(({ status }) => status === 429)).toBe(true);
    const elsewhere = await guess('GET', '/v1/transactions', cookie, '192.0.2.10');
    expect(elsewhere.status).toBe(401);
  });
});

it('CONSOLE=off leaves no route, and no session', async () => {
  const server = await startServer({ engine: sqlite, env: { CONSOLE: 'off' } });
  const browser = openBrowser(server.url, `checkout-console-${new URL(server.url).port}=${'A'.repeat(43)}`);
  const answers = await Promise.all(
    ['/console', '/console/payments', '/console/console.js', '/console/api/session'].map((path) =>
      browser.send('GET', path),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect((await browser.send('GET', '/v1/transactions')).body.data.code).toBe('missing_api_key');
  expect(server.pages).not.toHaveProperty('Console');
  await server.stop();
});
