/** `npm run bench -- blockade`: the wait of a payer whose order's references a stranger has taken. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startApiServer } from '../scripts/api-server.mjs';
import { findBrowser } from '../scripts/find-browser.mjs';
import { createDatabase } from './create-database.mjs';
import { percentile } from './load.mjs';

const help = `Usage: npm run bench -- blockade [options]        (after npm run build)

A stranger creates payments with the page's public key under the references order-N, order-N:2 … order-N:40. Then the payer of
order-N presses the pay button in Chromium, and chooses USDT on Tron. In alternation with orders that nobody has blocked, each in a
new browser profile. Prints medians and the longest, and how many requests created the payment: from the press to the coins, and
to the address, with the taps of a program. Then the money is sent, and the rest is up to two blocks, one a second.

  --database sqlite|postgres   one engine (default: both)
  --orders N                   orders of each kind (default 20)
  --taken N                    references that are taken (default 40)
  --help                       show this help`;

const { values: options } = parseArgs({
  options: {
    database: { type: 'string' },
    orders: { type: 'string', default: '20' },
    taken: { type: 'string', default: '40' },
    help: { type: 'boolean', default: false },
  },
  args: process.argv.slice(3),
});

if (options.help) console.log(help);
else for (const engine of options.database ? [options.database] : ['sqlite', 'postgres']) await main(engine);

/** @typedef {import('../scripts/api-server.mjs').ApiServer} ApiServer */

/** @param {string} engine */
async function main(engine) {
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'blockade-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const databaseUrl = await createDatabase(engine, directory, stops);
    const server = await startApiServer({ databaseUrl, blockIntervalMs: 1000 });
    stops.push(server.stop);
    const { executablePath, args } = await findBrowser();
    const browser = await chromium.launch({ executablePath, args });
    stops.push(() => browser.close());
    const kinds = [
      { name: 'nobody in the way', taken: 0 },
      { name: `${options.taken} references taken`, taken: Number(options.taken) },
    ].map((kind) => ({ ...kind, runs: /** @type {Awaited<ReturnType<typeof payOrder>>[]} */ ([]) }));
    // The first order of each kind warms up.
    for (let order = 0; order <= Number(options.orders); order += 1) {
      for (const { taken, runs } of kinds) {
        const txRef = `order-${order}-${taken}`;
        for (let count = 1; count <= taken; count += 1) {
          await create(server, count === 1 ? txRef : `${txRef}:${count}`);
        }
        const run = await payOrder(browser, server, txRef);
        if (order > 0) runs.push(run);
      }
    }
    for (const { name, runs } of kinds) {
      console.log(
        `${engine.padEnd(9)} ${name.padEnd(22)} to the coins ${timesOf(runs, 'coins')}, to the address ${timesOf(runs, 'address')}, ` +
          `to "paid" ${timesOf(runs, 'paid')}; requests to create: ${Math.max(...runs.map(({ requests }) => requests))} at most`,
      );
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {ApiServer} server
 * @param {string} txRef
 */
async function create({ url, publicKey }, txRef) {
  const response = await fetch(`${url}/v1/payments/checkout`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${publicKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 20, baseCurrency: 'USD', txRef }),
  });
  if (!response.ok) throw new Error(await response.text());
}

/**
 * Times are in milliseconds since the press of the pay button.
 * @param {import('playwright-core').Browser} browser
 * @param {ApiServer} server
 * @param {string} txRef
 */
async function payOrder(browser, { url, publicKey, secretKey }, txRef) {
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' });
  const page = await context.newPage();
  let requests = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/v1/payments/checkout')) requests += 1;
  });
  await page.route(`${url}/a-shop`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">
        <script type="module" src="/crypto-checkout.js"></script>
        <crypto-checkout public-key="${publicKey}" amount="20" base-currency="USD" tx-ref="${txRef}"></crypto-checkout>`,
    }),
  );
  await page.goto(`${url}/a-shop`);
  /** @param {string} css */
  const part = (css) => page.locator(`crypto-checkout ${css}`);
  await part('[part="action"]').waitFor();
  const start = performance.now();
  await part('[part="action"]').click();
  await part('[part="option"]').first().waitFor();
  const coins = performance.now() - start;
  await part('input[value="USDT"]').click();
  await part('input[value="tron"]').click();
  const shown = part('[part~="address"]');
  await shown.waitFor();
  const address = performance.now() - start;
  const amount = Number((await part('[part~="amount"]').first().innerText()).replace(/[^\d.]/g, ''));
  const sent = await fetch(`${url}/sandbox/transfers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      network: 'tron',
      currency: 'USDT',
      amount,
      address: (await shown.textContent())?.trim(),
    }),
  });
  if (!sent.ok) throw new Error(await sent.text());
  await page.locator('crypto-checkout[status="success"]').waitFor();
  const paid = performance.now() - start;
  await context.close();
  return { coins, address, paid, requests };
}

/**
 * @param {Awaited<ReturnType<typeof payOrder>>[]} runs
 * @param {'coins' | 'address' | 'paid'} what
 */
function timesOf(runs, what) {
  const times = runs.map((run) => run[what]);
  return `${(percentile(times, 0.5) / 1000).toFixed(2)} s (longest ${(Math.max(...times) / 1000).toFixed(2)} s)`;
}
