/** `npm run bench -- console`: the time until a person on a slow phone sees the console's pages, and their cost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { createMerchantClient } from 'crypto-checkout/client';
import { chromium } from 'playwright-core';
import { startApiServer } from '../scripts/api-server.mjs';
import { findBrowser } from '../scripts/find-browser.mjs';
import { medianOf } from './load.mjs';
import { signIn } from './sign-in.mjs';
import { slow3g, slowDown, slowdown } from './slow-page.mjs';

const help = `Usage: npm run bench -- console [options]        (after npm run build)

In Chromium on a slow 3G network (${slow3g.kbitPerSecond} kbit/s both ways, ${slow3g.roundTripMs} ms for a round trip) and a processor ${slowdown} times
slower: the sign-in page, Home, the list of payments and a payment, each opened by its address with an empty cache, and Home
once more with a full one. Prints medians:

  first paint  when the browser drew anything;
  page         when its heading is above its data;
  requests, kB until then, as they travel (compressed, with headers);
  main thread  TaskDuration of the DevTools protocol's Performance.getMetrics until then: with layout and styles.

  --runs N     loads of each page (default 5)
  --help       show this help`;

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '5' }, help: { type: 'boolean', default: false } },
  args: process.argv.slice(3),
});
if (options.help) console.log(help);
else await main();

/** @typedef {{ firstPaint: number, page: number, requests: number, bytes: number, thread: number }} Load */

async function main() {
  const directory = mkdtempSync(join(tmpdir(), 'crypto-checkout-bench-'));
  const databaseUrl = `sqlite:${join(directory, 'data.sqlite')}`;
  const { executablePath, args } = await findBrowser();
  const [server, browser] = await Promise.all([
    startApiServer({ databaseUrl }),
    chromium.launch({ executablePath, args }),
  ]);
  try {
    const payment = await fill(server);
    // Without https, the console works only on localhost.
    const url = `http://localhost:${new URL(server.url).port}`;
    const cookie = await signIn(server.url, databaseUrl, merchantOf(directory));
    const pages = [
      { name: 'sign-in', path: '', heading: 'Sign in', cookie: '', isWarm: false },
      { name: 'Home', path: '/test/home', heading: 'Home', cookie, isWarm: false },
      { name: 'Home, again', path: '/test/home', heading: 'Home', cookie, isWarm: true },
      { name: 'Payments', path: '/test/payments', heading: 'Payments', cookie, isWarm: false },
      { name: 'Payment', path: `/test/payment/${payment}`, heading: 'Payment ', cookie, isWarm: false },
    ].map((page) => ({ ...page, loads: /** @type {Load[]} */ ([]) }));
    for (let run = 0; run < Number(options.runs); run += 1) {
      for (const page of pages) page.loads.push(await load(browser, `${url}/console`, page));
    }
    console.log(`\nSlow 3G, processor ${slowdown} times slower; medians of ${options.runs}`);
    console.table(Object.fromEntries(pages.map(({ name, loads }) => [name, summaryOf(loads)])));
  } finally {
    await browser.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {Load[]} loads */
function summaryOf(loads) {
  return {
    'first paint': `${(medianOf(loads, 'firstPaint') / 1000).toFixed(2)} s`,
    page: `${(medianOf(loads, 'page') / 1000).toFixed(2)} s`,
    requests: medianOf(loads, 'requests'),
    kB: Number((medianOf(loads, 'bytes') / 1000).toFixed(1)),
    'main thread': `${medianOf(loads, 'thread').toFixed(0)} ms`,
  };
}

/**
 * A page of payments, one of which is locked. @param {import('../scripts/api-server.mjs').ApiServer} server @returns
 * {Promise<string>} its id
 */
async function fill({ url, secretKey }) {
  const { payments } = createMerchantClient({ apiUrl: url, secretKey });
  let id = '';
  for (let index = 0; index < 30; index += 1) {
    const { data } = await payments.create({ body: { amount: '49.90', baseCurrency: 'USD' } });
    ({ id } = data.payment);
  }
  await payments.setCurrency({ params: { payment_id: id, currency: 'USDT', network: 'tron' } });
  await payments.lockCurrency({ params: { payment_id: id } });
  return id;
}

/** @param {string} directory */
function merchantOf(directory) {
  const database = new Database(join(directory, 'data.sqlite'), { readonly: true });
  const id = database.prepare('select id from merchants').pluck().get();
  database.close();
  return String(id);
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} base
 * @param {{ path: string, heading: string, cookie: string, isWarm: boolean }} page
 * @returns {Promise<Load>}
 */
async function load(browser, base, { path, heading, cookie, isWarm }) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en-GB' });
  const [name = '', value = ''] = cookie.split('=');
  if (cookie !== '') {
    await context.addCookies([
      { name, value, domain: 'localhost', path: '/', httpOnly: true, sameSite: 'Strict' },
    ]);
  }
  const page = await context.newPage();
  const shown = page.getByRole('heading', { name: heading, level: 1 });
  if (isWarm) {
    await page.goto(base + path);
    await shown.waitFor();
  }
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable');
  await slowDown(cdp, slow3g);
  let requests = 0;
  let bytes = 0;
  const before = await threadTime(cdp);
  cdp.on('Network.requestWillBeSent', () => (requests += 1));
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  // Measured in the page, because a driver sees a heading late while the processor is busy.
  await page.addInitScript((text) => {
    const look = () => {
      const found = globalThis.document.querySelector('h1')?.textContent.includes(text.trim());
      if (found) Object.assign(globalThis, { shownAt: performance.now() });
      else globalThis.requestAnimationFrame(look);
    };
    look();
  }, heading);
  await page.goto(base + path, { waitUntil: 'commit' });
  const at = await page.waitForFunction(() => /** @type {any} */ (globalThis).shownAt, undefined, {
    timeout: 60_000,
  });
  const result = {
    page: /** @type {number} */ (await at.jsonValue()),
    thread: (await threadTime(cdp)) - before,
    firstPaint: await page.evaluate(() => performance.getEntriesByName('first-paint')[0]?.startTime ?? NaN),
    requests,
    bytes,
  };
  await context.close();
  return result;
}

/** In milliseconds. @param {import('playwright-core').CDPSession} cdp */
async function threadTime(cdp) {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN) * 1000;
}
