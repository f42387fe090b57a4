/**
 * `npm run bench -- widget`: the time until a payer on a slow phone sees the pay button, the coins and the QR code, and
 * the script's cost at load.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createMerchantClient } from 'crypto-checkout/client';
import { chromium } from 'playwright-core';
import { build } from 'vite';
import { startApiServer } from '../scripts/api-server.mjs';
import { findBrowser } from '../scripts/find-browser.mjs';
import { median } from './load.mjs';
import { slow3g, slowDown, slowdown } from './slow-page.mjs';

const networks = [
  { name: 'without a limit', kbitPerSecond: Infinity, roundTripMs: 0 },
  { name: '1.6 Mbit/s', kbitPerSecond: 1600, roundTripMs: 150 },
  { name: 'slow 3G', ...slow3g },
];
/** The presses on each way from the pay button to the address. */
const paths = [
  { name: 'a coin with several networks', search: '', presses: ['USDT', 'tron'] },
  { name: 'a coin with one network', search: '', presses: ['LTC'] },
  { name: 'the page names the coin', search: '?currency=USDT', presses: ['tron'] },
  { name: 'the page names both', search: '?currency=USDT&network=tron', presses: [] },
];
/** By the ending of a path; the others are pages. @type {Record<string, string>} */
const contentTypes = { '.js': 'text/javascript', '.json': 'application/json' };
/** The parts that a payer should see without scrolling, if they exist. */
const parts = ['amount', 'address', 'countdown', 'action', 'qr', 'qr-panel', 'check-now', 'cancel'];
/** Peers are not dependencies: they bring 70 packages that nothing else here needs. */
const peers = { '@solana/pay': '1.0.16', '@paystack/inline-js': '2.25.0' };

const help = `Usage: npm run bench -- widget [options]        (after npm run build)

In Chromium, on this processor: how many taps lead from the pay button to the address, and what of the payment is in sight, without
scrolling, on a phone and on a laptop.

With an empty cache each time and a processor ${slowdown} times slower: from a shop's page load to the address, pressed by a script as
soon as it can be, on ${networks.map(({ name }) => name).join(', ')}.

The same on a slow 3G network (${slow3g.kbitPerSecond} kbit/s both ways,
${slow3g.roundTripMs} ms for a round trip; as in the browser's developer tools, a new connection costs nothing more):

  a shop's page, on another origin than the API: from its load to the pay button, from the press to the coins, and from
  the tap on a network to the QR code, each pressed as soon as it is there;
  the hosted page of a payment whose price is fixed: from its load to the QR code.

Prints the medians next to the figures that were noted for the first version of this widget. How exactly those were measured is not
recorded, so they are a hint, not a comparison in one run.

After that, without the slow network, what a page's scripts cost until it is quiet, less an empty page's: the widget with its tag, an
empty Lit element, one that shows a price, and the peers solana-pay and paystack. Of the DevTools protocol's Performance.getMetrics:

  scripts      ScriptDuration, which leaves out microtasks, and with them all that Lit draws;
  main thread  TaskDuration without layout and styles, which has them;
  long tasks   how many tasks took more than 50 ms, and the longest: with the tag, and on the empty page without it.

The widget writes its price without Intl.NumberFormat, whose first use is slow; the peers show nothing yet.
In alternation (A B C A B C …), each in a new tab. The peers are installed into .tmp/bench-peers on demand, with npm, and bundled as
the widget is.

  --runs N     page loads on the slow network (default 5, 0 for none)
  --loads N    loads of each script (default 15, 0 for none)
  --no-peers   without the peers
  --help       show this help`;

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    loads: { type: 'string', default: '15' },
    peers: { type: 'boolean', default: true },
    help: { type: 'boolean', default: false },
  },
  args: process.argv.slice(3),
  allowNegative: true,
});

const litSource = `import { html, LitElement } from 'lit';
customElements.define('empty-element', class extends LitElement { render() { return html\`<p></p>\`; } });`;

const priceSource = litSource.replaceAll(
  '<p></p>',
  '<p>${new Intl.NumberFormat("en", { style: "currency", currency: "USD" }).format(49.9)}</p>',
);

const root = fileURLToPath(new URL('..', import.meta.url));
const scripts = join(root, 'dist/script');

if (options.help) console.log(help);
else await main();

async function main() {
  const { executablePath, args } = await findBrowser();
  const [server, browser] = await Promise.all([startApiServer(), chromium.launch({ executablePath, args })]);
  const site = await startSite(server);
  try {
    await countTaps(browser, site);
    await listInSight(browser, server);
    if (options.runs !== '0') {
      await measureAddress(browser, site);
      await measureWays(browser, server, site);
    }
    if (options.loads !== '0') await measureScripts(browser, site);
  } finally {
    await browser.close();
    site.close();
    await server.stop();
  }
}

/**
 * The pages of a shop, and the scripts of the second part.
 * @typedef {{ url: string, publicKey: string, files: Map<string, string>, close: () => void }} Site
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @returns {Promise<Site>}
 */
async function startSite({ url: api, publicKey }) {
  const offerPath = `/checkout-offer/${publicKey}.json`;
  const offer = await (await fetch(`${api}${offerPath}`)).text();
  /** @type {Map<string, string>} */
  // The widget calls the origin of its script: the line below its button is drawn from an answer to the shop's page.
  const files = new Map([[offerPath, offer]]);
  let orders = 0;
  const http = createServer(async ({ url = '/' }, response) => {
    const [path, preselected = ''] = url.split('?');
    const html = path === '/shop' ? shopPage((orders += 1), preselected) : files.get(url);
    response.setHeader('Content-Type', contentTypes[extname(url)] ?? 'text/html; charset=utf-8');
    if (html !== undefined) response.end(html);
    else response.end(await readFile(join(scripts, url)).catch(() => ''));
  });
  /** @param {number} order @param {string} preselected as `currency=USDT&network=tron` */
  const shopPage = (
    order,
    preselected,
  ) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title>
    <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
    <script type="module" src="${api}/crypto-checkout.js"></script>
    <crypto-checkout public-key="${publicKey}" amount="49.90" base-currency="USD" tx-ref="bench-${order}"
      ${preselected.replaceAll('&', ' ')}></crypto-checkout>`;
  await new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (http.address());
  return { url: `http://127.0.0.1:${address.port}`, publicKey, files, close: () => http.close() };
}

/** @param {import('playwright-core').Browser} browser @param {Site} site */
async function countTaps(browser, { url }) {
  console.log('\nTaps from the pay button to the address, the button counted');
  for (const { name, search, presses } of paths) {
    const page = await browser.newPage({ locale: 'en-US' });
    await page.goto(`${url}/shop${search}`);
    await page.evaluate(() => {
      const counted = Object.assign(globalThis, { taps: 0 });
      // A label's click causes another one on its field: only the finger's own click counts.
      globalThis.addEventListener('pointerdown', () => (counted.taps += 1), { capture: true });
    });
    await page.locator('crypto-checkout [part="action"]').click();
    for (const value of presses) await page.locator(`crypto-checkout input[value="${value}"]`).click();
    await page.locator('crypto-checkout [part="address"]').waitFor();
    const taps = await page.evaluate(() => /** @type {any} */ (globalThis).taps);
    console.log(`  ${name.padEnd(55)} ${taps}`);
    await page.close();
  }
}

/** @param {import('playwright-core').Browser} browser @param {import('../scripts/api-server.mjs').ApiServer} server */
async function listInSight(browser, server) {
  const id = await createLocked(server);
  console.log('\nIn sight without scrolling on the hosted page, once the price is fixed; the card’s height');
  for (const [width, height, isTouch] of /** @type {const} */ ([
    [390, 844, true],
    [1280, 800, false],
  ])) {
    const context = await browser.newContext({
      viewport: { width, height },
      hasTouch: isTouch,
      isMobile: isTouch,
    });
    const page = await context.newPage();
    await page.goto(`${server.url}/pay/${id}`);
    await page.locator('crypto-checkout [part="time-log"]').waitFor();
    const [card, ...boxes] = await Promise.all(
      ['card', ...parts].map((part) => {
        // For folded parts, only their title.
        const found = page.locator(
          `crypto-checkout [part="${part}"]${part === 'qr-panel' ? ' summary' : ''}`,
        );
        return found
          .first()
          .boundingBox({ timeout: 500 })
          .catch(() => null);
      }),
    );
    const inSight = parts.filter((_, index) => {
      const box = boxes[index];
      return box && box.y >= 0 && box.y + box.height <= height;
    });
    console.log(
      `  ${`${width} × ${height}`.padEnd(12)} ${inSight.join(', ')}; ${card?.height.toFixed(0)} px`,
    );
    await context.close();
  }
}

/** @param {import('playwright-core').Browser} browser @param {Site} site */
async function measureAddress(browser, { url }) {
  console.log(
    `\nShop: page load to the address, processor ${slowdown} times slower; medians of ${options.runs}`,
  );
  for (const network of networks) {
    /** @type {number[]} */
    const times = [];
    for (let run = 0; run < Number(options.runs); run += 1) {
      const { page, seen, close } = await slowPage(browser, network);
      await page.goto(`${url}/shop`, { waitUntil: 'commit' });
      await page.locator('crypto-checkout [part="action"]').click();
      await page.locator('crypto-checkout input[value="USDT"]').click();
      await page.locator('crypto-checkout input[value="tron"]').click();
      times.push(await seen('address'));
      await close();
    }
    console.log(`  ${network.name.padEnd(55)} ${seconds(median(times))}`);
  }
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @param {Site} site
 */
async function measureWays(browser, server, site) {
  /** @type {{ name: string, before: number, times: number[] }[]} */
  const ways = [
    { name: 'shop: page load to the pay button', before: 2.2, times: [] },
    { name: 'shop: press to the coins', before: 1.6, times: [] },
    { name: 'shop: network chosen to the QR code', before: 1.1, times: [] },
    { name: 'hosted page: payment id to the QR code', before: 4.1, times: [] },
  ];
  const runs = Number(options.runs);
  for (let run = 1; run <= runs; run += 1) {
    const times = [...(await payAtShop(browser, `${site.url}/shop`)), await openHosted(browser, server)];
    ways.forEach((way, index) => way.times.push(times[index] ?? NaN));
    console.log(`page load ${run} of ${runs}: ${times.map((time) => seconds(time)).join(', ')}`);
  }
  console.log(`
Slow 3G (${slow3g.kbitPerSecond} kbit/s, ${slow3g.roundTripMs} ms), processor ${slowdown} times slower; medians of ${runs}   now      first version`);
  for (const { name, before, times } of ways)
    console.log(`  ${name.padEnd(55)} ${seconds(median(times))}    ${seconds(before * 1000)}`);
}

/** @param {import('playwright-core').Browser} browser @param {string} url */
async function payAtShop(browser, url) {
  const { page, seen, close } = await slowPage(browser);
  await page.goto(url, { waitUntil: 'commit' });
  const idle = await seen('idle');
  const part = (/** @type {string} */ css) => page.locator(`crypto-checkout ${css}`);
  await part('[part="action"]').click();
  const start = await seen('click');
  const coins = await seen('coins');
  await part('input[value="USDT"]').click();
  await page.evaluate(() => void Reflect.deleteProperty(globalThis, 'click'));
  await part('input[value="tron"]').click();
  const chosen = await seen('click');
  const qr = await seen('qr');
  await close();
  return [idle, coins - start, qr - chosen];
}

/** @param {import('../scripts/api-server.mjs').ApiServer} server @returns {Promise<string>} the id of a payment whose price is fixed */
async function createLocked({ url, secretKey }) {
  const { payments } = createMerchantClient({ apiUrl: url, secretKey });
  const { data } = await payments.create({ body: { amount: '49.90', baseCurrency: 'USD' } });
  const params = { payment_id: data.payment.id };
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  await payments.lockCurrency({ params });
  return data.payment.id;
}

/** @param {import('playwright-core').Browser} browser @param {import('../scripts/api-server.mjs').ApiServer} server */
async function openHosted(browser, server) {
  const id = await createLocked(server);
  const { page, seen, close } = await slowPage(browser);
  await page.goto(`${server.url}/pay/${id}`, { waitUntil: 'commit' });
  const time = await seen('qr');
  await close();
  return time;
}

/**
 * A page of a new browser profile. `seen` gives the time at which something was first drawn, in milliseconds since the
 * page's load began.
 * @param {import('playwright-core').Browser} browser
 */
async function slowPage(browser, network = slow3g) {
  const context = await browser.newContext({ viewport: { width: 800, height: 1000 }, locale: 'en-US' });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await slowDown(cdp, network);
  await page.addInitScript(() => {
    const looks = /** @type {const} */ ({
      idle: '[part="action"]',
      coins: '[part="option"]',
      address: '[part="address"]',
      qr: 'svg[part="qr"]',
    });
    const times = /** @type {Record<string, number>} */ (/** @type {unknown} */ (globalThis));
    globalThis.addEventListener('click', () => (times['click'] ??= performance.now()), { capture: true });
    const look = () => {
      const shadow = globalThis.document.querySelector('crypto-checkout')?.shadowRoot;
      for (const [name, css] of Object.entries(looks))
        if (shadow?.querySelector(css)) times[name] ??= performance.now();
      globalThis.requestAnimationFrame(look);
    };
    look();
  });
  /** @param {'idle' | 'click' | 'coins' | 'address' | 'qr'} name */
  const seen = async (name) => {
    const time = await page.waitForFunction((what) => /** @type {any} */ (globalThis)[what], name, {
      polling: 100,
      timeout: 60_000,
    });
    return /** @type {number} */ (await time.jsonValue());
  };
  return { page, seen, close: () => context.close() };
}

/** @param {import('playwright-core').Browser} browser @param {Site} site */
async function measureScripts(browser, { url, publicKey, files }) {
  const widget = (await readdir(scripts)).find((name) => /^crypto-checkout-[\d.]+\.js$/.test(name));
  const tag = `<crypto-checkout public-key="${publicKey}" amount="49.90" base-currency="USD" tx-ref="bench"></crypto-checkout>`;
  files.set('/lit.js', await bundle(litSource, root));
  files.set('/price.js', await bundle(priceSource, root));
  const pages = [
    { name: 'an empty page', path: '/empty', html: '' },
    { name: 'the widget, with its pay button and offer', path: '/widget', html: pageOf(`/${widget}`, tag) },
    {
      name: 'an empty Lit element',
      path: '/lit',
      html: pageOf('/lit.js', '<empty-element></empty-element>'),
    },
    {
      name: 'a Lit element that shows a price',
      path: '/price',
      html: pageOf('/price.js', '<empty-element></empty-element>'),
    },
    ...(options.peers ? await peerPages(files) : []),
  ].map((page) => ({
    ...page,
    scripts: /** @type {number[]} */ ([]),
    thread: /** @type {number[]} */ ([]),
    long: /** @type {number[][]} */ ([]),
  }));
  pages.forEach(({ path, html }) => files.set(path, html));
  const loads = Number(options.loads);
  // The first round warms up the browser.
  for (let load = 0; load <= loads; load += 1) {
    for (const page of pages) {
      const { scripts, thread, long } = await loadTimes(browser, `${url}${page.path}`);
      if (load === 0) continue;
      page.long.push(long);
      page.scripts.push(scripts);
      page.thread.push(thread);
    }
  }
  const [empty] = pages;
  const lessEmpty = (/** @type {'scripts' | 'thread'} */ what, /** @type {typeof empty} */ page) =>
    `${(median(page?.[what] ?? []) - median(empty?.[what] ?? [])).toFixed(1).padStart(7)} ms`;
  console.log(`
Processor ${slowdown} times slower; medians of ${loads}, less an empty page's             scripts  main thread   long tasks, and the longest`);
  for (const page of pages) {
    const counts = median(page.long.map((tasks) => tasks.length));
    const longest = median(page.long.map((tasks) => Math.max(0, ...tasks))).toFixed(0);
    const long = `${String(counts).padStart(10)}   ${longest.padStart(5)} ms`;
    console.log(
      `  ${page.name.padEnd(55)} ${lessEmpty('scripts', page)}   ${lessEmpty('thread', page)} ${long}`,
    );
  }
}

/** @param {string} script @param {string} [tag] */
function pageOf(script, tag = '') {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">
    <script type="module" src="${script}"></script>${tag}`;
}

/** @param {Map<string, string>} files */
async function peerPages(files) {
  const folder = join(root, '.tmp/bench-peers');
  await mkdir(folder, { recursive: true });
  const names = Object.entries(peers).map(([name, version]) => `${name}@${version}`);
  const isInstalled = Object.keys(peers).every((name) => existsSync(join(folder, 'node_modules', name)));
  try {
    if (!isInstalled) {
      console.log(`\nInstalling ${names.join(' and ')} into .tmp/bench-peers`);
      await writeFile(join(folder, 'package.json'), '{ "private": true }');
      const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...names];
      await promisify(execFile)('npm', args, { cwd: folder });
    }
    const [solana, paystack] = Object.keys(peers);
    // As a global, so that a bundler keeps all of it, as for a page that uses all of it.
    files.set('/solana.js', await bundle(`export * as peer from '${solana}';`, folder));
    files.set('/paystack.js', await bundle(`export { default as peer } from '${paystack}';`, folder));
  } catch (error) {
    console.log(`\nWithout peers: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
  return Object.entries(peers).map(([name, version], index) => {
    const path = index === 0 ? '/solana' : '/paystack';
    return { name: `${name} ${version}`, path, html: pageOf(`${path}.js`) };
  });
}

/**
 * Bundles a module like the widget, into one script. @param {string} code @param {string} folder the place of its imports
 * found
 */
async function bundle(code, folder) {
  const entry = join(folder, '.bench-entry.js');
  const output = await build({
    configFile: false,
    logLevel: 'error',
    root: folder,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      lib: { entry, formats: ['es'], fileName: 'bench' },
      rolldownOptions: { output: { minify: true, codeSplitting: false } },
    },
  });
  const [result] = Array.isArray(output) ? output : [];
  const [chunk] = result?.output ?? [];
  if (chunk?.type !== 'chunk') throw new Error('The bundler wrote nothing');
  return chunk.code;
}

/**
 * The cost of a page until it is quiet, in milliseconds. @param {import('playwright-core').Browser} browser @param
 * {string} url
 */
async function loadTimes(browser, url) {
  const context = await browser.newContext({ locale: 'en-US' });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable');
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.addInitScript(() => {
    const tasks = /** @type {number[]} */ ([]);
    Object.assign(globalThis, { longTasks: tasks });
    new globalThis.PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: 'longtask',
      buffered: true,
    });
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  const { metrics } = await cdp.send('Performance.getMetrics');
  const long = await page.evaluate(
    () => /** @type {{ longTasks: number[] }} */ (/** @type {unknown} */ (globalThis)).longTasks,
  );
  await context.close();
  const of = (/** @type {string} */ name) =>
    (metrics.find((metric) => metric.name === name)?.value ?? NaN) * 1000;
  return {
    scripts: of('ScriptDuration'),
    thread: of('TaskDuration') - of('LayoutDuration') - of('RecalcStyleDuration'),
    long,
  };
}

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}
