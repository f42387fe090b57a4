/** The files that browsers load from the server: the widget's files, hosted pages, and the offer before a payment. */
import { mkdtemp, mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostedPages, type HostedPayment } from '../../src/core/site/hosted-pages.js';
import { widgetFiles } from '../../src/core/site/widget-files.js';
import { testCoins } from '../support/coins.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function serve(router: express.Router): Promise<string> {
  const server = createServer(express().use(router));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the widget’s files', () => {
  let directory = '';
  let url = '';
  const options = () => ({ directory, packageFile: join(directory, 'package.tgz'), version: '1.2.3' });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-files-'));
    await mkdir(join(directory, 'chunks'));
    await writeFile(join(directory, 'crypto-checkout-1.2.3.js'), 'export const entry = 1;'.repeat(50));
    const chunk = 'export const chunk = 1;';
    await writeFile(join(directory, 'chunks', 'flow-A1b2_-c3.js'), chunk);
    await writeFile(join(directory, 'chunks', 'flow-A1b2_-c3.js.br'), brotliCompressSync(chunk));
    await writeFile(join(directory, 'chunks', 'flow-A1b2_-c3.js.gz'), gzipSync(chunk));
    const old = join(directory, 'chunks', 'old.js.br');
    await writeFile(old, brotliCompressSync('export const old = 1;'));
    await utimes(old, 1, 1);
    await writeFile(join(directory, 'chunks', 'old.js'), 'export const old = 2;');
    await writeFile(join(directory, 'secret.js'), 'not for anybody');
    await writeFile(join(directory, 'package.tgz'), 'a package');
    url = await serve(widgetFiles(options()));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('The widget’s files can be loaded from any origin; the entry is cached for minutes and the chunks forever', async () => {
    const entry = await fetch(`${url}/crypto-checkout.js`);
    expect(entry.status).toBe(200);
    expect(entry.headers.get('access-control-allow-origin')).toBe('*');
    expect(entry.headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(entry.headers.get('cache-control')).toBe('public, max-age=300');
    const chunk = await fetch(`${url}/chunks/flow-A1b2_-c3.js`);
    expect(await chunk.text()).toBe('export const chunk = 1;');
    expect(chunk.headers.get('access-control-allow-origin')).toBe('*');
    expect(chunk.headers.get('cache-control')).toContain('immutable');
  });

  it('The widget’s files are not sent again to a client that has them', async () => {
    const etag = (await fetch(`${url}/crypto-checkout.js`)).headers.get('etag') ?? '';
    // Not with `fetch`, which adds `Cache-Control: no-cache` to conditional requests.
    const status = () =>
      new Promise((resolve, reject) => {
        get(`${url}/crypto-checkout.js`, { headers: { 'If-None-Match': etag } }, (reply) => {
          resolve(reply.resume().statusCode);
        }).on('error', reject);
      });
    expect(await status()).toBe(304);
    await writeFile(join(directory, 'crypto-checkout-1.2.3.js'), 'export const entry = 2;');
    expect(await status(), 'a new build').toBe(200);
  });

  it.each(['br', 'gzip', 'identity'])('A file is sent as %s if the client accepts it', async (encoding) => {
    const reply = await fetch(`${url}/chunks/flow-A1b2_-c3.js`, { headers: { 'Accept-Encoding': encoding } });
    expect(reply.headers.get('content-encoding') ?? 'identity').toBe(encoding);
    expect(reply.headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(reply.headers.get('vary')).toBe('Accept-Encoding');
    expect(await reply.text()).toBe('export const chunk = 1;');
  });

  it('The widget’s files are sent as built if the compressed form is from an earlier build or missing', async () => {
    const old = await fetch(`${url}/chunks/old.js`, { headers: { 'Accept-Encoding': 'br' } });
    expect(await old.text()).toBe('export const old = 2;');
    const entry = await fetch(`${url}/crypto-checkout.js`, { headers: { 'Accept-Encoding': 'br, gzip' } });
    expect(entry.headers.get('content-encoding')).toBeNull();
  });

  it.each([
    '/chunks/..%2fsecret.js',
    '/chunks/%2e%2e/secret.js',
    '/chunks/none.js',
    '/secret.js',
    '/chunks/',
  ])('The widget’s files do not include %s', async (path) => {
    expect((await fetch(url + path)).status).toBe(404);
  });

  it('The script under the name with its version is the same, and is cached forever', async () => {
    const [named, latest] = await Promise.all(
      ['crypto-checkout-1.2.3.js', 'crypto-checkout.js'].map((name) => fetch(`${url}/${name}`)),
    );
    expect(named?.headers.get('cache-control')).toContain('immutable');
    expect(named?.headers.get('access-control-allow-origin')).toBe('*');
    expect(await named?.text()).toBe(await latest?.text());
  });

  it('A request for another version is a 404 that names the current one', async () => {
    const reply = await fetch(`${url}/crypto-checkout-1.2.2.js`);
    expect(reply.status).toBe(404);
    expect(await reply.text()).toContain('/crypto-checkout-1.2.3.js');
  });

  it('The widget’s files include the npm package', async () => {
    const reply = await fetch(`${url}/crypto-checkout.tgz`);
    expect(reply.headers.get('content-type')).toBe('application/gzip');
    expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await reply.text()).toBe('a package');
  });

  it('A reply for files that have not been built says how to build them', async () => {
    const nowhere = join(directory, 'nowhere');
    const url = await serve(
      widgetFiles({ ...options(), directory: nowhere, packageFile: join(nowhere, 'a') }),
    );
    for (const name of ['crypto-checkout.js', 'crypto-checkout-1.2.3.js', 'crypto-checkout.tgz']) {
      const reply = await fetch(`${url}/${name}`);
      expect(reply.status).toBe(503);
      expect(await reply.text()).toContain('npm run build');
    }
  });
});

describe('a hosted page', () => {
  const payment: HostedPayment = {
    id: '01J9ZQ4W3V8K2M6N7P5R0S1T2X',
    merchantName: `<script>alert("1")</script> & 'Söhne'`,
    publicKey: 'pk_test_1',
  };
  const pages = (publicUrl: string, checkoutUrl: string, found: HostedPayment | undefined) =>
    serve(
      hostedPages({
        publicUrl,
        checkoutUrl,
        findPayment: () => Promise.resolve(found),
        widgetDirectory: 'nowhere',
      }),
    );

  it('A hosted page runs the widget with the merchant’s key, and escapes the name that the merchant entered', async () => {
    const url = await pages('https://pay.example', 'https://pay.example/pay', payment);
    const reply = await fetch(`${url}/pay/${payment.id}`);
    const page = await reply.text();
    expect(reply.status).toBe(200);
    expect(page).toContain(`<crypto-checkout payment-id="${payment.id}" public-key="pk_test_1"`);
    expect(page).toContain('<script type="module" src="/crypto-checkout.js">');
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;Söhne&#39;');
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  // otterscan/otterscan#1447: iPhones make phone links of digits. darkreader/darkreader#2236: an inverted QR code cannot be scanned.
  it('A hosted page asks browsers to make no links of numbers, and extensions to leave its colours', async () => {
    const url = await pages('https://pay.example', 'https://pay.example/pay', payment);
    const page = await (await fetch(`${url}/pay/${payment.id}`)).text();
    expect(page).toContain(
      '<meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />',
    );
    expect(page).toContain('<meta name="darkreader-lock" />');
  });

  it('A hosted page is not cached, framed or indexed, and runs only the widget', async () => {
    const url = await pages('https://pay.example', 'https://pay.example/pay', payment);
    const { headers } = await fetch(`${url}/pay/${payment.id}`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-robots-tag')).toBe('noindex');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('permissions-policy')).toMatch(/camera=\(\), .*microphone=\(\), .*usb=\(\)$/);
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      'img-src https: data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]);
  });

  it('A hosted page finds the API on another origin or under a path', async () => {
    const elsewhere = await pages('https://api.example/crypto', 'https://shop.example/checkout', payment);
    const page = await fetch(`${elsewhere}/checkout/${payment.id}`);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self' https://api.example;");
    expect(await page.text()).toMatch(
      /src="https:\/\/api\.example\/crypto\/crypto-checkout\.js"[\s\S]*api-url="https:\/\/api\.example\/crypto"/,
    );
    const underPath = await pages('https://shop.example/crypto', 'https://shop.example/crypto/pay', payment);
    // The proxy in front has taken the path off.
    expect(await (await fetch(`${underPath}/pay/${payment.id}`)).text()).toMatch(
      /src="\/crypto\/crypto-checkout\.js"[\s\S]*api-url="\/crypto"/,
    );
  });

  it('A hosted page explains that the payment does not exist, or that the shop has no active key', async () => {
    const none = await pages('https://pay.example', 'https://pay.example/pay', undefined);
    const missing = await fetch(`${none}/pay/<script>`);
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain('Payment not found');
    const keyless = await pages('https://pay.example', 'https://pay.example/pay', {
      ...payment,
      merchantName: 'Example Shop',
      publicKey: undefined,
    });
    const reply = await fetch(`${keyless}/pay/${payment.id}`);
    expect(reply.status).toBe(503);
    expect(await reply.text()).toContain('Example Shop cannot take payments here right now');
    expect((await fetch(`${keyless}/pay/page.css`)).headers.get('content-type')).toMatch(/^text\/css/);
  });
});

describe('the offer before a payment', () => {
  let server: TestServer;
  beforeAll(async () => {
    const [engine] = engines;
    if (!engine) throw new Error('No database engine is available');
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  it('The offer before a payment names the coins, for browsers to keep, and needs a public key', async () => {
    const offerOf = (name: string) => fetch(`${server.url}/checkout-offer/${name}`);
    const reply = await offerOf(`${server.publicKey}.json`);
    const offer = (await reply.json()) as { coins: string[]; minutes: number };
    const { currencyOptions = [] } = await openShop(server).create({ amount: '20', key: server.publicKey });
    expect(offer).toEqual({
      coins: [...new Set(currencyOptions.map(({ currency }) => currency))],
      minutes: 30,
    });
    expect(offer.coins).toEqual(testCoins);
    expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect((await offerOf('pk_test_nobody.json')).status).toBe(401);
    for (const name of [`${server.secretKey}.json`, server.publicKey]) {
      expect((await offerOf(name)).status, name).toBe(404);
    }
  });
});
