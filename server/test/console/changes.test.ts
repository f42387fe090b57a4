/** Changes that the console learns of: over real HTTP, on both databases, from this server and from another one. */
import { createHash } from 'node:crypto';
import { consoleStart } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

/** The same session at another server. The cookie of a server on another port has another name. */
const at = ({ url }: TestServer, { cookie }: TestBrowser) =>
  openBrowser(url, cookie.replace(/^[\w-]+=/, `checkout-console-${new URL(url).port}=`));

interface Stream {
  readonly status: number;
  readonly headers: Headers;
  /** The events so far. */
  readonly events: readonly string[];
  readonly isOpen: boolean;
  close(): void;
}

async function listen(url: string, browser: TestBrowser, path: string): Promise<Stream> {
  const abort = new AbortController();
  const response = await fetch(`${url}/console/api/changes/${path}`, {
    headers: { 'Sec-Fetch-Site': 'same-origin', Cookie: browser.cookie },
    signal: abort.signal,
  });
  const events: string[] = [];
  let isOpen = response.status === 200;
  const read = async () => {
    for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      events.push(...[...text.matchAll(/^event: (\w+)$/gm)].map(([, name = '']) => name));
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (isOpen = false));
  return {
    status: response.status,
    headers: response.headers,
    events,
    get isOpen() {
      return isOpen;
    },
    close: () => abort.abort(),
  };
}

const heard = (stream: Stream, count: number) =>
  vi.waitFor(() => expect(stream.events.length).toBeGreaterThanOrEqual(count), { timeout: 15_000 });

describe.each(enginesOfQuick)('On $name', (engine) => {
  let server: TestServer;
  /** A replica, where the database can have several servers. */
  let other: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
    const { databaseUrl } = server;
    other = engine.name === 'SQLite' ? server : await startServer({ engine, databaseUrl });
  });
  afterAll(async () => {
    if (other !== server) await other.stop();
    await server.stop();
  });

  const started = async () => (await openShop(server).create()).id;
  const cancel = (by: TestServer, id: string) =>
    by.api('PATCH', `/v1/payments/${id}/cancel`, {
      headers: { Authorization: `Bearer ${server.secretKey}` },
    });

  /** A webhook that was given up, which Home counts. */
  async function fail(id: string, sequence: number): Promise<void> {
    const { merchantId } = server.bootstrapped;
    const { database } = server;
    const subjectId = await started();
    await database.write((transaction) =>
      transaction
        .insertInto('outbox')
        .values({
          id,
          merchant_id: merchantId,
          mode: 'test',
          type: 'payment.success',
          subject_id: subjectId,
          sequence,
          data: '{}',
          status: 'failed',
          tries: 1,
          due_at: null,
          claim: null,
          claimed_until: null,
          created_at: Date.now(),
        })
        .execute(),
    );
  }

  it("a payment's page learns only of its own payment, in its own mode, wherever it was changed", async () => {
    const owner = await signIn(server, 'owner');
    const [id, quiet] = [await started(), await started()];
    const [page, unchanged, live] = await Promise.all([
      listen(server.url, owner, `test?payment=${id}`),
      listen(server.url, owner, `test?payment=${quiet}`),
      listen(server.url, owner, `live?payment=${id}`),
    ]);
    expect(page.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(page.headers.get('x-accel-buffering')).toBe('no');
    // The first one says from when on the page learns of all changes.
    await Promise.all([page, unchanged, live].map((one) => heard(one, 1)));
    expect((await cancel(other, id)).status).toBe(200);
    await heard(page, 2);
    expect([unchanged.events, live.events]).toEqual([['changed'], ['changed']]);
    for (const one of [page, unchanged, live]) one.close();
  });

  it('the home page hears when what it counts has changed', async () => {
    const browser = await signIn(server, 'support');
    const home = await listen(other.url, at(other, browser), 'test');
    await heard(home, 1);
    await fail(`event-${engine.name}`, 1);
    await heard(home, 2);
    home.close();
  });

  it('a home page that says what it has read hears at once that it is heard, and of the next change', async () => {
    const browser = at(other, await signIn(server, 'support'));
    const { body } = await browser.send('GET', '/v1/home');
    const seen = createHash('sha256').update(JSON.stringify(body.data)).digest('hex');
    const [same, older] = await Promise.all([
      listen(other.url, browser, `test?seen=${seen}`),
      listen(other.url, browser, `test?seen=${'0'.repeat(64)}`),
    ]);
    await Promise.all([heard(older, 2), heard(same, 1)]);
    expect(older.events).toEqual(['beat', 'changed']);
    expect(same.events).toEqual(['beat']);
    await fail(`read-${engine.name}`, 2);
    await heard(same, 2);
    expect(same.events).toEqual(['beat', 'changed']);
    for (const one of [same, older]) one.close();
  });

  it('a payment’s page hears only of changes since its document, which has marks of only its own shop’s payments', async () => {
    const browser = at(other, await signIn(server, 'support'));
    const id = await started();
    const seenIn = async (path: string) => {
      const page = await fetch(`${other.url}/console/${path}`, { headers: { Cookie: browser.cookie } });
      const [, text = ''] = / start="([^"]*)"/.exec(await page.text()) ?? [];
      return consoleStart.parse(JSON.parse(text.replaceAll('&quot;', '"'))).seen;
    };
    expect(await seenIn('test/payments')).toBe(undefined);
    expect(await seenIn(`live/payment/${id}`)).toBe(undefined);
    expect(await seenIn(`test/payment/${'0'.repeat(26)}`)).toBe(undefined);
    const seen = await seenIn(`test/payment/${id}`);
    expect(seen).toMatch(/^[0-9a-f]{64}$/);
    const page = await listen(other.url, browser, `test?payment=${id}&seen=${seen}`);
    const older = await listen(other.url, browser, `test?payment=${id}&seen=${'0'.repeat(64)}`);
    await Promise.all([heard(older, 2), heard(page, 1)]);
    expect([page.events, older.events]).toEqual([['beat'], ['beat', 'changed']]);
    expect((await cancel(server, id)).status).toBe(200);
    await heard(page, 2);
    expect(page.events).toEqual(['beat', 'changed']);
    for (const one of [page, older]) one.close();
  });

  it('a stream of changes ends with its session on any server; a session has four at most, and a stranger none', async () => {
    const owner = await signIn(server, 'owner');
    const open = await Promise.all([1, 2, 3, 4].map(() => listen(server.url, owner, 'test')));
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await listen(server.url, owner, 'test')).status).toBe(429);
    expect((await listen(server.url, openBrowser(server.url), 'test')).status).toBe(401);
    expect((await listen(server.url, owner, 'test?payment=1')).status).toBe(404);
    const stranger = openBrowser(server.url, owner.cookie, 'cross-site');
    expect((await stranger.send('GET', '/console/api/changes/test')).status).toBe(403);
    open[0]?.close();
    await vi.waitFor(
      async () => {
        const again = await listen(server.url, owner, 'test');
        expect(again.status).toBe(200);
        open.push(again);
      },
      { timeout: 20_000 },
    );
    await at(other, owner).send('POST', '/console/api/sign-out', {
      body: { everywhere: true },
    });
    await vi.waitFor(() => expect(open.some(({ isOpen }) => isOpen)).toBe(false), { timeout: 5000 });
    expect((await listen(server.url, owner, 'test')).status).toBe(401);
  });

  it('a stream of changes ends when the server stops, which does not wait for it', async () => {
    const own = await startServer({ engine });
    const page = await listen(own.url, await signIn(own, 'owner'), 'test');
    await heard(page, 1);
    const began = performance.now();
    await own.stop();
    expect(performance.now() - began).toBeLessThan(5000);
    expect(page.isOpen).toBe(false);
  });
});
