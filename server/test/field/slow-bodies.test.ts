/**
 * A request is held open between its headers and its body, as slowloris tools do, until its session or key has ended: it must not be
 * carried out then (OWASP ASVS 5.0, 7.4: the end of a session takes effect at once).
 */
import { once } from 'node:events';
import { request as open, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleModule } from '../../src/modules/console/module.js';
import { signIn } from '../support/browser.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)('A body that comes late, on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  /** Sends the headers, and the body once `meanwhile` is done. */
  async function hold(
    path: string,
    headers: Record<string, string>,
    body: object,
    meanwhile: () => Promise<unknown>,
  ) {
    const bytes = JSON.stringify(body);
    const request = open(server.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length), ...headers },
    });
    // A busy server may check the caller later than it has lost its session or key. Then it answers before the body,
    // and may hang up before that has come.
    request.on('error', () => undefined);
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.write(bytes.slice(0, 1));
    // The server has checked the caller by then.
    await delay(300);
    await meanwhile();
    await delay(1000);
    request.end(bytes.slice(1));
    const [response] = await answered;
    return { status: response.statusCode, body: await text(response) };
  }

  it('A late body is refused if the person was removed meanwhile', async () => {
    const { people } = consoleModule.rules(server.app);
    const { merchantId } = server.bootstrapped;
    const browser = await signIn(server, 'owner', 'thief@shop.example');
    await signIn(server, 'owner', 'ada@shop.example');
    const headers = { Cookie: browser.cookie, 'Sec-Fetch-Site': 'same-origin', 'X-Checkout-Mode': 'test' };
    const invitation = { email: 'again@shop.example', role: 'owner' };
    const held = await hold('/console/api/team', headers, invitation, async () => {
      const team = await people.list(merchantId);
      const thief = team.find(({ email }) => email === 'thief@shop.example');
      await server.database.write((transaction) =>
        people.remove(transaction, merchantId, thief?.id ?? '', 'a test'),
      );
    });
    expect([held.status, held.body]).toEqual([401, expect.stringContaining('session_required')]);
    const team = await people.list(merchantId);
    expect(team.map(({ email }) => email)).not.toContain('again@shop.example');
  });

  it('A late body is refused if the key was revoked meanwhile, and accepted if it was not', async () => {
    const { merchantId } = server.bootstrapped;
    const { id, key } = await server.database.write((transaction) =>
      server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'test' }),
    );
    const headers = { Authorization: `Bearer ${key}` };
    const body = { amount: 5, baseCurrency: 'USD', txRef: 'held' };
    const served = await hold(
      '/v1/payments/checkout',
      headers,
      { ...body, txRef: 'slow' },
      async () => undefined,
    );
    expect(served.status).toBe(200);
    const refused = await hold('/v1/payments/checkout', headers, body, () =>
      server.database.write((transaction) => server.app.keys.revoke(transaction, id)),
    );
    expect([refused.status, refused.body]).toEqual([401, expect.stringContaining('invalid_api_key')]);
    const { body: listed } = await server.api('GET', '/v1/transactions?txRef=held');
    expect(listed.data).toEqual([]);
  });
});
