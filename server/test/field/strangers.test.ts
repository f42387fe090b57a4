/**
 * Attacks of strangers and ex-colleagues on servers of this kind, tried on this one as public reports describe
 * them: over real HTTP. The report is next to each case.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { consoleApi, csvLine, type Role } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleModule } from '../../src/modules/console/module.js';
import { invite, openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import { call } from '../support/call.js';
import { enginesOfTurn, sqlite } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { routesOf } from '../support/routes.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

describe.each(enginesOfTurn)('On $name', (engine) => {
  let server: TestServer;
  let owner: TestBrowser;
  beforeAll(async () => {
    server = await startServer({ engine });
    owner = await signIn(server, 'owner', 'ada@shop.example');
  });
  afterAll(() => server.stop());

  describe('a link to sign in that was not used yet', () => {
    const signInWith = (token: string) =>
      openBrowser(server.url).send('POST', '/console/api/sign-in', { body: { token } });

    async function member(email: string, role: Role) {
      const browser = await signIn(server, role, email);
      const { body } = await browser.send('GET', '/console/api/session');
      const { id } = body.data['person'] as { id: string };
      return { browser, id, token: await invite(server, role, email) };
    }

    it('A sign-in link works while nothing has happened to its owner', async () => {
      const { token } = await member('bob@shop.example', 'support');
      expect((await signInWith(token)).status).toBe(200);
    });

    it.each([
      [
        'its owner signs out everywhere (hackclub/hcb#2268)',
        ({ browser }: Awaited<ReturnType<typeof member>>) =>
          browser.send('POST', '/console/api/sign-out', { body: { everywhere: true } }),
      ],
      [
        'somebody else signs them out (havenweb/haven#213)',
        ({ id }: Awaited<ReturnType<typeof member>>) =>
          owner.send('POST', `/console/api/team/${id}/sign-out`),
      ],
      [
        'they get another role (btcpayserver/btcpayserver#7529)',
        ({ id }: Awaited<ReturnType<typeof member>>) =>
          owner.send('PATCH', `/console/api/team/${id}`, { body: { role: 'support' } }),
      ],
      [
        'they are removed (elm1nst3r/GHOST-osint-crm#32)',
        ({ id }: Awaited<ReturnType<typeof member>>) => owner.send('DELETE', `/console/api/team/${id}`),
      ],
    ])('A sign-in link ends when %s', async (why, end) => {
      const one = await member(`${why.replace(/\W+/g, '-')}@shop.example`, 'manager');
      expect((await end(one)).status).toBe(200);
      expect((await signInWith(one.token)).status).toBe(404);
      expect((await one.browser.send('GET', '/console/api/session')).status).toBe(401);
    });

    it('A link stays when its owner signs out of one browser only', async () => {
      const { browser, token } = await member('carol@shop.example', 'support');
      await browser.send('POST', '/console/api/sign-out', { body: { everywhere: false } });
      expect((await signInWith(token)).status).toBe(200);
    });
  });

  describe('the console, asked for an id that is not there', () => {
    const routes = routesOf(consoleApi).filter(({ idNames }) => idNames.length > 0);

    it.each(routes)('An unknown id gets a 404 from $name', async ({ method, url, body = {} }) => {
      const options = method === 'GET' || method === 'DELETE' ? {} : { body };
      const answer = await owner.send(
        method,
        url(() => 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ'),
        options,
      );
      expect([answer.status, answer.body.data.code]).toEqual([404, 'not_found']);
    });

    it('The console has routes with an id', () => expect(routes.length).toBeGreaterThan(12));

    it("The console answers 404 to ids of another shop's people, sessions, keys and transfers", async () => {
      const secret = await server.foreignKey('secret', 'test');
      const { merchantId } = (await server.app.keys.authenticate(secret)) ?? { merchantId: '' };
      const theirs = await signIn(server, 'owner', 'eve@elsewhere.example', merchantId);
      const session = (await theirs.send('GET', '/console/api/session')).body.data;
      const person = (session['person'] as { id: string }).id;
      const created = await theirs.send('POST', '/console/api/keys', { body: { kind: 'public' } });
      const key = String(created.body.data['id']);
      const transfer = await createRecords(server, secret).transfer();
      const settled = { txHash: `0x${'ab'.repeat(32)}` };
      for (const [method, path, body] of [
        ['PATCH', `team/${person}`, { role: 'support' }],
        ['POST', `team/${person}/sign-out`, {}],
        ['DELETE', `team/${person}`, undefined],
        ['DELETE', `sessions/${String(session['id'])}`, undefined],
        ['DELETE', `keys/${key}`, undefined],
        ['POST', `transfers/${transfer}/settle`, settled],
        ['POST', `transfers/${transfer}/fail`, { reason: 'Made by mistake' }],
        ['POST', `payout-exports/${transfer}/release`, { nonce: 1 }],
      ] as const) {
        const answer = await owner.send(method, `/console/api/${path}`, body && { body });
        expect([path, answer.status, answer.body.data.code]).toEqual([path, 404, 'not_found']);
      }
      expect((await theirs.send('GET', '/console/api/session')).status).toBe(200);
    });
  });

  describe('the page to which a payer returns', () => {
    const leadingTo = (redirectUrl: string, key?: string) => openShop(server).checkout({ redirectUrl, key });
    const stored = async (redirectUrl: string, key?: string) =>
      (await openShop(server).create({ redirectUrl, key })).redirectUrl;

    it.each([
      ['HTTPS://SHOP.example:443/a/../thanks', 'https://shop.example/thanks'],
      ['https://shop.example', 'https://shop.example/'],
      // getsentry/sentry#4437: the same host, written in two ways.
      ['https://bücher.example/danke?für=1#ä', 'https://xn--bcher-kva.example/danke?f%C3%BCr=1#%C3%A4'],
      ['https://shop.ex\u200bample/', 'https://shop.example/'],
      ['https://ｓｈｏｐ.example/', 'https://shop.example/'],
      ['https://0x7f.1/', 'https://127.0.0.1/'],
      ['https://shop.example/a b', 'https://shop.example/a%20b'],
    ])('A redirect URL is kept as browsers open it: %s', async (given, kept) => {
      expect(await stored(given)).toBe(kept);
    });

    it.each([
      // indico/flask-multipass#94
      'https:\\\\evil.example/',
      'https:/\\evil.example',
      'https://shop.example\\.evil.example/',
      'https://shop.example/\\evil.example',
      // zitadel/zitadel#12559
      'https://shop.example%2f@evil.example/',
      'https://shop.example@evil.example/',
      'https://:@evil.example@shop.example/',
      'https://shop.example\t.evil.example/',
      'https://shop.example/\r\nLocation: https://evil.example',
      'https://shop.\u0001example/',
    ])('A redirect URL is refused where a person would read another address: %j', async (given) => {
      const { status, body } = await leadingTo(given);
      expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', 'redirectUrl']);
    });

    it('A redirect URL has at most 2048 bytes as browsers write it', async () => {
      const letters = (count: number) => leadingTo(`https://shop.example/${'漢'.repeat(count)}`);
      expect((await letters(225)).status).toBe(200);
      expect((await letters(226)).body.data).toMatchObject({
        code: 'validation_error',
        param: 'redirectUrl',
      });
    });

    it('A redirect URL is compared with the allowed origins as browsers open it (getsentry/sentry#4437)', async () => {
      const allow = (redirectOrigins: string[]) =>
        owner.send('PATCH', '/console/api/shop', { body: { redirectOrigins } });
      const { body } = await allow(['https://BÜCHER.example']);
      expect(body.data['redirectOrigins']).toEqual(['https://xn--bcher-kva.example']);
      const { publicKey } = server;
      expect(await stored('https://Bücher.example/ok', publicKey)).toBe('https://xn--bcher-kva.example/ok');
      expect((await leadingTo('https://bucher.example/ok', publicKey)).status).toBe(400);
      for (const origin of ['https://a.example/', 'https://a.example@b.example', 'https://a.example\\b', '*'])
        expect((await allow([origin])).status, origin).toBe(400);
      await allow([]);
    });
  });
});

describe('A live page of the console', () => {
  let server: TestServer;
  const pages: AbortController[] = [];
  /** A reply that nothing refers to is collected, and its connection closed. */
  const replies: Response[] = [];
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
  });
  afterAll(async () => {
    for (const page of pages) page.abort();
    await server.stop();
  });

  async function openChanges({ cookie }: TestBrowser): Promise<number> {
    const page = new AbortController();
    pages.push(page);
    const headers = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
    const reply = await fetch(`${server.url}/console/api/changes/test`, { headers, signal: page.signal });
    replies.push(reply);
    return reply.status;
  }
  async function openMany(email: string, count: number): Promise<number[]> {
    const statuses: number[] = [];
    while (statuses.length < count) {
      const browser = await signIn(server, 'support', email);
      for (let tab = 0; tab < 4 && statuses.length < count; tab += 1)
        statuses.push(await openChanges(browser));
    }
    return statuses;
  }

  it('A person has at most 12 live pages, in any browsers, and a shop leaves room for others (Tr3kkR/Yuzu#1087)', async () => {
    expect(await openMany('ada@shop.example', 13)).toEqual([...Array<number>(12).fill(200), 429]);
    const watch = (merchantId: string, person: number) =>
      consoleModule.rules(server.app).changes.watch({
        scope: { merchantId, mode: 'test' },
        personId: `P${person}`,
        sessionId: `S${person}`,
        paymentId: undefined,
        seen: undefined,
        changed: () => undefined,
        end: () => undefined,
      });
    const { merchantId: own } = server.bootstrapped;
    for (let person = 0; person < 88; person += 1) watch(own, person);
    expect(() => watch(own, 88)).toThrow('Too many pages are open');
    const secret = await server.foreignKey('secret', 'test');
    const { merchantId } = (await server.app.keys.authenticate(secret)) ?? { merchantId: '' };
    expect(await openChanges(await signIn(server, 'owner', 'eve@elsewhere.example', merchantId))).toBe(200);
  });
});

describe('A cell of a CSV file', () => {
  it.each([
    // hhurz/tableExport.jquery.plugin#230
    "=cmd|' /C calc'!A0",
    '+1+1',
    '-2+3',
    '@SUM(1,1)',
    '\t=1+1',
    '\r=1+1',
    // chobbledotcom/tickets#2238: a new line first.
    '\n=1+1',
    // whispaste/whispaste#126, Asymmetric-al/core#518: spaces of all sorts first.
    '  =1+1',
    '\u00a0=1+1',
    '\u3000=1+1',
    // The full-width and small forms, which spreadsheets of East Asia read as the signs.
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(1)',
    '﹦1',
    '−1+1',
    // twentyhq/twenty#14347 puts a zero-width joiner in front, which is passed over.
    '\u200d=1+1',
    '\u200b=1+1',
    '\ufeff=1+1',
    '\u2060＝1',
    '\u202e=1+1',
    '\u2066\u061c=1+1',
    '\u00ad=1+1',
    '\u0001=1+1',
  ])('A cell that a spreadsheet could run is text: %j', (value) => {
    expect(csvLine([value]).replace(/^"/, '').startsWith("'")).toBe(true);
  });

  it.each(['', 'Ada', '-1.5', '12', 'a=b', '42-1', 'élan', '=', '1\u200b=1'])(
    'A harmless cell is left as it is: %j',
    (value) => {
      expect(csvLine([value])).toBe(value === '=' ? "'=\r\n" : `${value}\r\n`);
    },
  );
});

describe('A part of a file', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
  });
  afterAll(() => server.stop());

  async function ask(path: string, headers: Readonly<Record<string, string>>) {
    const sent = request(server.url + path, { headers });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks = (await response.toArray()) as Buffer[];
    return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) };
  }

  const script = readdirSync(fileURLToPath(new URL('../../dist/demo/assets', import.meta.url))).find((name) =>
    name.endsWith('.js'),
  );
  const files = ['/flags/ng.svg', '/crypto-checkout.js', `/assets/${script ?? ''}`];

  it.each(files)(
    'A part of %s beyond its end is 416, and says how long the file is (vert-x3/vertx-web#428)',
    async (path) => {
      const whole = await ask(path, { 'Accept-Encoding': 'br' });
      for (const range of ['bytes=99999999-', 'bytes=99999999-100000000,99999990-99999999']) {
        const { status, headers } = await ask(path, { Range: range, 'Accept-Encoding': 'br' });
        // http-party/http-server#839
        expect([path, status, headers['content-range']]).toEqual([
          path,
          416,
          `bytes */${whole.bytes.length}`,
        ]);
        expect([headers['content-encoding'], headers.etag]).toEqual([undefined, undefined]);
        expect(headers['cache-control']).toBe('no-store');
      }
    },
  );

  it.each(files)(
    'A part of %s is sent, but the whole file for several parts or nonsense (expressjs/serve-static#113)',
    async (path) => {
      const whole = (await ask(path, {})).bytes;
      const part = await ask(path, { Range: 'bytes=1-3' });
      expect([part.status, part.bytes]).toEqual([206, whole.subarray(1, 4)]);
      const many = `bytes=${Array.from({ length: 200 }, (_, index) => `${index * 2}-${index * 2}`).join(',')}`;
      for (const range of ['bytes=1-3,6-8', many, 'bytes: 0-22', 'bytes=x-y', 'lines=1-2']) {
        const { status, bytes } = await ask(path, { Range: range });
        expect([range, status, bytes.equals(whole)]).toEqual([range, 200, true]);
      }
    },
  );

  it.each(files)('A request for %s that expects another version gets a 412', async (path) => {
    expect((await ask(path, { 'If-Match': '"another"' })).status).toBe(412);
  });
});

describe('Every page', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine: sqlite });
  });
  afterAll(() => server.stop());

  it('Every page has the same security headers, errors too (rubygems/rubygems.org#6274, NetEscapades.AspNetCore.SecurityHeaders#121)', async () => {
    const { body } = await call(server.url, 'POST', '/v1/payments/checkout', {
      key: server.secretKey,
      body: { amount: 1, baseCurrency: 'USD' },
    });
    const { id } = body.data['payment'] as { id: string };
    const demo = readdirSync(fileURLToPath(new URL('../../dist/demo', import.meta.url)))
      .filter((name) => name.endsWith('.html'))
      .map((name) => `/${name}`);
    const pages = [
      '/',
      ...demo,
      '/docs',
      '/docs/webhooks',
      '/console',
      '/console/payments',
      '/refund',
      `/receipt/${id}`,
    ];
    for (const path of [...pages, `/pay/${id}`, '/pay/NOBODY', '/receipt/NOBODY']) {
      const { headers } = await fetch(server.url + path);
      expect(headers.get('content-type'), path).toMatch(/^text\/html/);
      expect([path, headers.get('cross-origin-opener-policy')]).toEqual([path, 'same-origin']);
      expect(headers.get('permissions-policy'), path).toContain('camera=()');
      expect(headers.get('x-frame-options'), path).toBe('DENY');
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('referrer-policy'), path).toBe('no-referrer');
      expect(headers.get('content-security-policy'), path).toMatch(
        /default-src 'none'.*frame-ancestors 'none'/,
      );
    }
  });
});
