/**
 * Requests by which single clients have stopped other servers, according to public reports. Here each is cheap, and
 * answered.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn, type TestBrowser } from '../support/browser.js';
import { sqlite } from '../support/engines.js';
import { costOf, statusOf, type Cost } from '../support/pathological.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

const mostCpuMs = 60;
const long = 95_000;
const longHead = 15_000;

let server: TestServer;
let owner: TestBrowser;
let paymentId: string;
beforeAll(async () => {
  server = await startServer({ engine: sqlite, env: { TRUST_PROXY: '2' } });
  owner = await signIn(server, 'owner');
  paymentId = await createRecords(server).setPayment();
});
afterAll(() => server.stop());

async function cost(
  method: string,
  path: string,
  given: { body?: string; headers?: Record<string, string>; key?: string } = {},
): Promise<Cost<number>> {
  const body = given.body === undefined ? undefined : Buffer.from(given.body);
  const headers = {
    Authorization: `Bearer ${given.key ?? server.secretKey}`,
    ...(body && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }),
    ...given.headers,
  };
  const repeat = () => statusOf(server.url, { method, path, headers, body });
  // The first one compiles schemas and statements.
  await repeat();
  return costOf(repeat, mostCpuMs);
}

function expectCheap({ ms, reply }: Cost<number>, ...statuses: number[]): void {
  expect(statuses).toContain(reply);
  expect(ms).toBeLessThan(mostCpuMs);
}

const priceOf = (amount: string) => `{"amount":${amount},"baseCurrency":"USD"}`;
const create = '/v1/payments/checkout';

describe('Numbers', () => {
  it('json4s#176: a million digits hung the parser of a price', async () => {
    for (const amount of ['9'.repeat(long), `"${'9'.repeat(long)}"`, `"0.${'0'.repeat(long)}1"`]) {
      expectCheap(await cost('POST', create, { body: priceOf(amount), key: server.publicKey }), 400);
    }
  });

  it('capnweb#184, JSON-java#1063: BigInt of text takes more than linear time', async () => {
    for (const path of ['/v1/transfers', '/v1/transfers/fee', '/sandbox/transfers']) {
      const body = `{"amount":"${'1'.repeat(long)}","currency":"USDT","walletAddress":"x","network":"tron","address":"x"}`;
      expectCheap(await cost('POST', path, { body }), 400);
    }
  });

  it('jackson-databind#2141, borer#8: a few characters with an exponent became a huge number', async () => {
    for (const amount of ['1e308', '1e-300', '"1e100000000"', '"1e-100000000"', '1e400']) {
      expectCheap(await cost('POST', create, { body: priceOf(amount), key: server.publicKey }), 400);
    }
    expectCheap(await cost('GET', '/v1/payouts?minAmount=1e100000000'), 400);
  });

  it('btcpayserver#5070, btcpayserver#5115: one invoice with a huge amount broke the list of invoices and the watcher', async () => {
    for (const baseCurrency of ['USD', 'NGN', 'KES']) {
      const body = { amount: '999999999999999', baseCurrency };
      const created = await server.api('POST', create, { body });
      const { id } = (created.body.data as { payment: { id: string } }).payment;
      for (const coin of ['btc/bitcoin', 'eth/ethereum', 'usdt/tron']) {
        const set = await server.api('PATCH', `/v1/payments/${id}/currency/set/${coin}`);
        expect(set.status).toBeLessThan(500);
      }
      expect((await server.api('PATCH', `/v1/payments/${id}/currency/lock`)).status).toBeLessThan(500);
      expect((await server.api('GET', `/v1/payments/${id}`)).status).toBe(200);
      expect((await fetch(`${server.url}/pay/${id}`)).status).toBe(200);
    }
    expect((await server.api('GET', '/v1/transactions')).status).toBe(200);
    expect((await server.api('POST', '/sandbox/blocks', { body: { network: 'tron' } })).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});

describe('Bodies', () => {
  it('zod#1872: each wrong entry of a list became an error', async () => {
    const currencies = `[${'0,'.repeat(long / 2 - 1)}0]`;
    const body = `{"frequency":"daily","planName":"x","numberOfTimesToCharge":1,"amount":1,"currency":"USD","currencies":${currencies}}`;
    expectCheap(await cost('POST', '/v1/payment-plans', { body }), 400);
  });

  it('Learnova#1439: each wrong entry of a record became an error', async () => {
    const entries = Array.from({ length: 6000 }, (_, index) => `"k${index}":0`).join(',');
    const body = `{"amount":1,"baseCurrency":"USD","metadata":{${entries}}}`;
    expectCheap(await cost('POST', create, { body }), 400);
  });

  it('zod#2833 (CVE-2023-4316): an e-mail address took the validator exponential time', async () => {
    for (const email of [
      `${'a'.repeat(long)}@`,
      `a@${'a.'.repeat(long / 2)}`,
      `a@${'-a'.repeat(long / 2)}`,
      '.a'.repeat(long / 2),
    ]) {
      const body = JSON.stringify({ email, fullName: 'Ada' });
      expectCheap(await cost('POST', '/v1/customers', { body }), 400);
    }
  });

  it('ds4#43, openclaw#152876: deep nesting in a field that nobody reads ended the process', async () => {
    for (const nested of [
      '['.repeat(long / 2) + ']'.repeat(long / 2),
      `${'{"a":'.repeat(15_000)}0${'}'.repeat(15_000)}`,
    ]) {
      const body = `{"amount":1,"baseCurrency":"USD","x":${nested}}`;
      expectCheap(await cost('POST', create, { body, key: server.publicKey }), 200, 400);
    }
  });

  it('bitcoin#17501, Waves#39, nearcore#2256: decoding base58 takes the square of its length', async () => {
    const address = '2'.repeat(long);
    const transfer = JSON.stringify({
      amount: 1,
      currency: 'BTC',
      walletAddress: address,
      walletNetwork: 'bitcoin',
    });
    expectCheap(await cost('POST', '/v1/transfers/fee', { body: transfer }), 400);
    const refund = JSON.stringify({ kind: 'full', address });
    expectCheap(await cost('POST', `/v1/payments/${paymentId}/refunds`, { body: refund }), 400);
    expectCheap(await cost('GET', `/v1/transactions?address=${'2'.repeat(longHead)}`), 400);
    const headers = { Cookie: owner.cookie, 'Sec-Fetch-Site': 'same-origin', 'X-Checkout-Mode': 'test' };
    for (const signed of [
      '2'.repeat(94_000),
      `cHNidP8${'A'.repeat(90_000)}`,
      `70736274ff01${'00'.repeat(45_000)}`,
    ]) {
      const body = JSON.stringify({ signed });
      const ofPeople = { ...headers, Authorization: '' };
      expectCheap(await cost('POST', '/console/api/psbts/import', { body, headers: ofPeople }), 400, 409);
    }
  });
});

describe('Headers', () => {
  const pages = () => [`/pay/${paymentId}`, `/receipt/${paymentId}`, '/docs', '/crypto-checkout.js', '/'];

  it('naivechain#42, etherchain-light#67: spaces in If-None-Match took `fresh` the square of their length', async () => {
    for (const path of pages()) {
      for (const value of [`"a"${' '.repeat(longHead)}x`, `"a", `.repeat(longHead / 5)]) {
        expectCheap(await cost('GET', path, { headers: { 'If-None-Match': value } }), 200, 404, 503);
      }
    }
  });

  it('stormkit-io#478: a header of commas was parsed entry by entry', async () => {
    for (const path of pages()) {
      for (const name of ['Accept', 'Accept-Language', 'Accept-Encoding']) {
        for (const value of [
          ','.repeat(longHead),
          '*/*,'.repeat(longHead / 4),
          'en;q=0.5,'.repeat(longHead / 9),
        ])
          expectCheap(await cost('GET', path, { headers: { [name]: value } }), 200, 404, 503);
      }
    }
  });

  it('cherrypy#1290, cpp-httplib#1766: many overlapping ranges were each sent', async () => {
    for (const value of [`bytes=${'0-,'.repeat(4000)}0-`, `bytes=${'1-2929,'.repeat(2000)}1-2929`]) {
      for (const path of ['/crypto-checkout.js', '/pay/page.css', '/flags/ng.svg'])
        expectCheap(await cost('GET', path, { headers: { Range: value } }), 200, 206, 400, 404, 416, 503);
    }
  });

  it('tinyhttp#512: an inverted range ended the process', async () => {
    for (const value of [
      'bytes=10-5',
      'bytes=-0',
      'bytes=5-1,9-2',
      'bytes=--5',
      `bytes=${'9'.repeat(400)}-`,
    ]) {
      for (const path of ['/crypto-checkout.js', '/pay/page.css', '/flags/ng.svg'])
        expectCheap(await cost('GET', path, { headers: { Range: value } }), 200, 206, 400, 404, 416, 503);
    }
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  it('oak#700, better-auth#10283: spaces and dots in forwarded addresses and hosts cost little', async () => {
    for (const value of [
      `1.2.3.4${' '.repeat(longHead)},x`,
      '1.2.3.4, '.repeat(1600),
      ':'.repeat(longHead),
      `${'f:'.repeat(7000)}1`,
    ]) {
      for (const name of ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto']) {
        const headers = { [name]: value };
        expectCheap(await cost('GET', `/v1/payments/${paymentId}`, { headers }), 200);
        expectCheap(await cost('GET', `/pay/${paymentId}`, { headers }), 200);
      }
    }
  });

  it('Keys, cookies and origins of 15,000 characters cost little', async () => {
    for (const headers of [
      { Authorization: `Bearer ${' '.repeat(longHead)}x y` },
      { Authorization: 'Bearer '.repeat(longHead / 7) },
      { Cookie: ';    '.repeat(longHead / 5) },
      { Cookie: 'checkout-console='.repeat(longHead / 17) },
      { Origin: `https://${'a.'.repeat(longHead / 2)}` },
      { 'Content-Type': `application/json${' ;'.repeat(longHead / 2)}` },
    ]) {
      expectCheap(await cost('POST', create, { body: priceOf('1'), headers }), 200, 401, 403, 415);
      const ofPeople = { 'Sec-Fetch-Site': 'same-origin', ...headers };
      expectCheap(await cost('GET', '/console/api/session', { headers: ofPeople }), 401, 403);
    }
  });
});

describe('Queries and paths', () => {
  it('qs (CVE-2022-24999): brackets in a query made objects, prototypes and long lists', async () => {
    expectCheap(await cost('GET', '/v1/payouts?a[__proto__]=b&a[__proto__]&a[length]=100000000'), 400);
    expectCheap(await cost('GET', `/v1/payouts?a${'[a]'.repeat(longHead / 3)}=1`), 400);
    expectCheap(await cost('GET', `/v1/payouts?${'minAmount=1&'.repeat(longHead / 12)}`), 400);
  });

  it('path-to-regexp (CVE-2024-45296, CVE-2024-52798): a long segment took the router the square of its length', async () => {
    for (const prefix of [
      '/v1/payments/',
      '/console/',
      '/demo-api/orders/',
      '/chunks/',
      '/docs/',
      '/crypto-checkout-',
    ]) {
      for (const rest of [
        'a-'.repeat(longHead / 2),
        '/a'.repeat(longHead / 2),
        '.js'.repeat(longHead / 3),
        '%2f'.repeat(longHead / 3),
      ])
        expectCheap(await cost('GET', prefix + rest), 200, 400, 404);
    }
  });
});

describe('The demo shop', () => {
  it('The demo shop reads an order cheaply, even if the shop has many payments', async () => {
    for (let index = 0; index < 50; index += 1)
      await server.api('POST', create, { body: { amount: 20, baseCurrency: 'USD' } });
    const placed = await fetch(`${server.url}/demo-api/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"quantity":1,"baseCurrency":"USD"}',
    });
    const { id } = (await placed.json()) as { id: string };
    expectCheap(await cost('GET', `/demo-api/orders/${id}`), 200);
  });
});
