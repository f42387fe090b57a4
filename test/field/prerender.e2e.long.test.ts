/**
 * Pages that a browser opens before the payer asks for them, as speculation rules request. Chromium does so only while
 * no debugger is attached: the page reports what it sees.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, inject, test } from 'vitest';
import { tagOf } from '../e2e/shop-page.js';
import { useStage } from '../e2e/stage.js';

const stage = useStage({ blockIntervalMs: 200 });

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Starts a browser that prerenders a page with this tag, and then shows it. Returns the page's reports as they arrive. */
async function openPrerendered(tag: string) {
  const reports: Record<string, unknown>[] = [];
  const first = `<!doctype html><title>A shop</title>
    <script type="speculationrules">{ "prerender": [{ "urls": ["/pay"], "eagerness": "immediate" }] }</script>
    <script>
      // Long enough for the next page to load and to paint nothing.
      setTimeout(() => (location.href = '/pay'), 4000);
    </script>`;
  const pay = `<!doctype html><html lang="en"><title>Pay</title>
    <script type="module" src="${stage.server.url}/crypto-checkout.js"></script>${tag}
    <script>
      const checkout = document.querySelector('crypto-checkout');
      const report = (more) => {
        const body = { isPrerendering: document.prerendering, status: checkout.getAttribute('status'), id: checkout.payment?.id, ...more };
        return fetch('/report', { method: 'POST', body: JSON.stringify(body) });
      };
      addEventListener('error', ({ message }) => report({ message }));
      checkout.addEventListener('checkout-created', () => report({ created: true }));
      if (document.prerendering) setTimeout(() => document.prerendering && report({ early: true }), 1500);
      document.addEventListener('prerenderingchange', () => {
        setInterval(() => {
          const parts = [...checkout.shadowRoot.querySelectorAll('[part]')].map((one) => one.getAttribute('part'));
          report({ parts, countdown: checkout.shadowRoot.querySelector('[part=countdown]')?.textContent.trim() });
        }, 300);
        if (checkout.getAttribute('payment-id') === null)
          setTimeout(() => checkout.shadowRoot.querySelector('[part~=action]').click(), 500);
      });
    </script>`;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST')
        reports.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end({ '/': first, '/pay': pay }[request.url ?? ''] ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const profile = await mkdtemp(join(tmpdir(), 'prerender-'));
  endings.push(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const { executablePath, args } = inject('browserPrograms').whole;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const flags = ['--headless=new', '--disable-component-extensions-with-background-pages'];
  const browser = spawn(executablePath, [...args, ...flags, `--user-data-dir=${profile}`, url], {
    stdio: 'ignore',
  });
  endings.push(async () => {
    const ended = once(browser, 'exit');
    browser.kill();
    await ended;
  });
  return reports;
}

/** Waits for a report like this one. */
const reported = (reports: readonly Record<string, unknown>[], like: object) =>
  expect.poll(() => reports, { timeout: 20_000 }).toContainEqual(expect.objectContaining(like));

test('prebid/Prebid.js#12724: a prerendered tag asks for its offer only, and its button works after the page is shown', async () => {
  const before = await paymentCount();
  const reports = await openPrerendered(tagOf(stage, 'prerendered'));
  await reported(reports, { isPrerendering: true, early: true, status: 'idle' });
  expect(await paymentCount()).toBe(before);
  await reported(reports, { isPrerendering: false, status: 'choosing-currency' });
  expect(await paymentCount()).toBe(before + 1);
  expect(reports.filter(({ message }) => message !== undefined)).toEqual([]);
});

test('DataDog/browser-sdk#2859: a prerendered payment counts down, and shows its ending, after the page is shown', async () => {
  const { payment } = await stage.createLocked('USDT', 'tron');
  const reports = await openPrerendered(
    `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}"></crypto-checkout>`,
  );
  await reported(reports, { isPrerendering: true, early: true });
  await reported(reports, {
    isPrerendering: false,
    status: 'awaiting-funds',
    countdown: expect.stringMatching(/\d\d:\d\d/) as unknown,
    parts: expect.arrayContaining(['qr', 'time-log']) as unknown,
  });
  await stage.send(payment, payment.amountDue ?? 0);
  await reported(reports, { status: 'success', parts: expect.arrayContaining(['receipt']) as unknown });
  expect(reports.filter(({ message }) => message !== undefined)).toEqual([]);
});

async function paymentCount(): Promise<number> {
  const { data } = await stage.merchant.transactions.list({ query: {} });
  return data.length;
}
