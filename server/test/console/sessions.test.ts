/** Signing in to the console by link, and what becomes of a session: over real HTTP, on both databases. */
import { consoleStart } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleModule } from '../../src/modules/console/module.js';
import { invite, openBrowser, signIn } from '../support/browser.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfTurn)('On $name', (engine) => {
  let server: TestServer;
  /** A replica, where the database can have several servers. */
  let other: TestServer;
  let real = Date.now();
  beforeAll(async () => {
    const overrides = { realNow: () => real };
    server = await startServer({ engine, overrides });
    const { databaseUrl } = server;
    other = engine.name === 'SQLite' ? server : await startServer({ engine, databaseUrl, overrides });
  });
  afterAll(async () => {
    if (other !== server) await other.stop();
    await server.stop();
  });

  it('a link signs in, and the session is one more way to call the API', async () => {
    const browser = openBrowser(server.url);
    const token = await invite(server, 'manager', 'Ada@Shop.example');
    const signedIn = await browser.send('POST', '/console/api/sign-in', { body: { token } });
    expect(signedIn.status).toBe(200);
    expect(signedIn.headers.get('set-cookie')).toMatch(
      /^checkout-console-\d+=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const session = await browser.send('GET', '/console/api/session');
    expect(session.body.data).toEqual(signedIn.body.data);
    expect(session.body.data).toMatchObject({
      person: { email: 'ada@shop.example' },
      role: 'manager',
      merchant: { id: server.bootstrapped.merchantId },
      modes: ['test'],
    });
    const body = { amount: 5, baseCurrency: 'USD', txRef: 'by-ada' };
    expect((await browser.send('POST', '/v1/payments/checkout', { body })).status).toBe(200);
    const { body: listed } = await browser.send('GET', '/v1/transactions?txRef=by-ada');
    expect(listed.data).toHaveLength(1);
    const live = await browser.send('GET', '/v1/transactions', { headers: { 'X-Checkout-Mode': 'live' } });
    expect(live.body.data).toEqual([]);
    const neither = await browser.send('GET', '/v1/transactions', { headers: { 'X-Checkout-Mode': '' } });
    expect(neither.body.data).toMatchObject({ code: 'validation_error', param: 'X-Checkout-Mode' });
  });

  it('the document says who is signed in, to the holder of an open session only, and the time of the test clock', async () => {
    const browser = await signIn(server, 'manager', 'reader@shop.example');
    const startOf = async (cookie: string) => {
      const page = await fetch(`${server.url}/console/test/home`, { headers: { Cookie: cookie } });
      const [, text] = / start="([^"]*)"/.exec(await page.text()) ?? [];
      return text && consoleStart.parse(JSON.parse(text.replaceAll('&quot;', '"')));
    };
    const { body, headers } = await browser.send('GET', '/console/api/session');
    const start = await startOf(browser.cookie);
    expect(start).toMatchObject({ session: body.data });
    const clock = Date.parse(headers.get('date') ?? '');
    expect(Math.abs(Date.parse(start ? start.at : '') - clock)).toBeLessThan(10_000);
    expect(await startOf('')).toBeUndefined();
    expect(await startOf(`${browser.cookie.split('=')[0]}=${'A'.repeat(43)}`)).toBeUndefined();
    const { cookie } = browser;
    await browser.send('POST', '/console/api/sign-out', { body: {} });
    expect(await startOf(cookie)).toBeUndefined();
  });

  it('If two use a link at once on two servers, one gets in, and nobody later', async () => {
    const token = await invite(server, 'support', 'race@shop.example');
    const tries = await Promise.all(
      [server, other, server, other].map(({ url }) =>
        openBrowser(url).send('POST', '/console/api/sign-in', { body: { token } }),
      ),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    const again = await openBrowser(server.url).send('POST', '/console/api/sign-in', { body: { token } });
    expect(again.status).toBe(404);
    expect(again.headers.get('set-cookie')).toBe(null);
  });

  it('a link ends after 30 minutes, and when there is a newer one', async () => {
    const first = await invite(server, 'support', 'slow@shop.example');
    const second = await invite(server, 'support', 'slow@shop.example');
    const use = (token: string) =>
      openBrowser(server.url).send('POST', '/console/api/sign-in', { body: { token } });
    expect((await use(first)).status).toBe(404);
    real += 30 * 60_000;
    expect((await use(second)).status).toBe(404);
  });

  it('a session that a browser brings along is replaced, and none that it makes up is taken', async () => {
    const thief = await signIn(server, 'support', 'thief@shop.example');
    const fixed = thief.cookie;
    const victim = openBrowser(server.url, fixed);
    const token = await invite(server, 'owner', 'victim@shop.example');
    await victim.send('POST', '/console/api/sign-in', { body: { token } });
    expect(victim.cookie).not.toBe(fixed);
    expect((await thief.send('GET', '/console/api/session')).body.data.code).toBe('session_required');

    const made = openBrowser(server.url, `${fixed.split('=')[0]}=${'A'.repeat(43)}`);
    expect((await made.send('GET', '/console/api/session')).status).toBe(401);
  });

  it.each([
    [
      'signing out',
      (url: string, cookie: string) =>
        openBrowser(url, cookie).send('POST', '/console/api/sign-out', { body: {} }),
    ],
    [
      'signing out everywhere, elsewhere',
      async (url: string, cookie: string, email: string) => {
        const elsewhere = await signIn(server, 'support', email);
        const body = { everywhere: true };
        return openBrowser(url, elsewhere.cookie).send('POST', '/console/api/sign-out', { body });
      },
    ],
    [
      'an owner who signs the person out',
      async (url: string, cookie: string) => {
        const { body } = await openBrowser(url, cookie).send('GET', '/console/api/session');
        const owner = await signIn(server, 'owner', 'boss@shop.example');
        const { id } = body.data['person'] as { id: string };
        return owner.send('POST', `/console/api/team/${id}/sign-out`, { body: {} });
      },
    ],
    [
      'an owner who changes the role',
      async (url: string, cookie: string) => {
        const { body } = await openBrowser(url, cookie).send('GET', '/console/api/session');
        const owner = await signIn(server, 'owner', 'boss@shop.example');
        const { id } = body.data['person'] as { id: string };
        return owner.send('PATCH', `/console/api/team/${id}`, { body: { role: 'accountant' } });
      },
    ],
    [
      'an owner who removes the person',
      async (url: string, cookie: string) => {
        const { body } = await openBrowser(url, cookie).send('GET', '/console/api/session');
        const owner = await signIn(server, 'owner', 'boss@shop.example');
        const { id } = body.data['person'] as { id: string };
        return owner.send('DELETE', `/console/api/team/${id}`);
      },
    ],
  ] as const)('a stolen cookie is worth nothing after %s, on all servers at once', async (way, end) => {
    const email = `${way.replaceAll(/\W+/g, '-')}@shop.example`;
    const person = await signIn(server, 'support', email);
    const stolen = [openBrowser(server.url, person.cookie), openBrowser(other.url, person.cookie)];
    // The cookie of a server on another port has another name.
    const [, value = ''] = person.cookie.split('=');
    const port = new URL(other.url).port;
    stolen[1] = openBrowser(other.url, `checkout-console-${port}=${value}`);
    const codes = () =>
      Promise.all(stolen.map(async (one) => (await one.send('GET', '/v1/currencies')).status));
    expect(await codes()).toEqual([200, 200]);
    expect((await end(server.url, person.cookie, email)).status).toBe(200);
    expect(await codes()).toEqual([401, 401]);
  });

  it('a session ends 12 hours after its last use, and after 7 days however much it is used', async () => {
    const idle = await signIn(server, 'support', 'idle@shop.example');
    const busy = await signIn(server, 'support', 'busy@shop.example');
    for (let hours = 11; hours < 7 * 24; hours += 11) {
      real += 11 * 3_600_000;
      expect((await busy.send('GET', '/v1/currencies')).status, `after ${hours} h`).toBe(200);
      await consoleModule.rules(server.app).people.sessions.writeUses();
    }
    expect((await idle.send('GET', '/v1/currencies')).status).toBe(401);
    real += 11 * 3_600_000;
    expect((await busy.send('GET', '/v1/currencies')).status).toBe(401);
    await consoleModule.rules(server.app).people.sessions.prune();
    const rows = await server.database.reader.selectFrom('sessions').selectAll().execute();
    expect(rows).toEqual([]);
  });

  it('A person has at most 10 sessions: one more ends the oldest', async () => {
    const first = await signIn(server, 'support', 'many@shop.example');
    for (let count = 1; count <= 10; count += 1) {
      real += 1;
      await signIn(server, 'support', 'many@shop.example');
    }
    expect((await first.send('GET', '/v1/currencies')).status).toBe(401);
  });

  it('The database stores no token of a link or a session', async () => {
    const link = await invite(server, 'support', 'secret@shop.example');
    const { cookie } = await signIn(server, 'support', 'hashed@shop.example');
    const { reader } = server.database;
    const stored = JSON.stringify([
      await reader.selectFrom('sessions').selectAll().execute(),
      await reader.selectFrom('sign_in_links').selectAll().execute(),
      await reader.selectFrom('audit_log').selectAll().execute(),
    ]);
    expect(stored).toContain('session.started');
    for (const secret of [link, cookie.split('=')[1] ?? '']) expect(stored).not.toContain(secret);
  });

  it('A session names the calls of the sandbox only on a server that has a sandbox', async () => {
    const without = await startServer({ engine, env: { SANDBOX: 'off' } });
    const callsOf = async (one: TestServer) => {
      const owner = await signIn(one, 'owner', 'calls@shop.example');
      const { body } = await owner.send('GET', '/console/api/session');
      return (body.data['permissions'] as string[]).filter((call) => /^(sandbox|payments)\./.test(call));
    };
    expect(await callsOf(without)).toEqual(['payments.*']);
    expect(await callsOf(server)).toEqual(['payments.*', 'sandbox.*']);
    await without.stop();
  });
});
