/**
 * The widget in every framework: the apps in `examples/` are built from the packed npm package, their types are checked,
 * and each is paid in a browser. The docs show these very files.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import {
  angularMistakes,
  buildExample,
  checkTypes,
  createQueue,
  exampleNames,
  installExamples,
  renderComponent,
  serveExample,
  serveRenderedReact18,
  typeCheckedNames,
  type ExampleServer,
} from './example-apps.js';
import { reportSkipped } from '../missing.js';
import { useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 250 });
const missing = await installExamples();
if (missing !== undefined) reportSkipped('The tests of the examples', missing);

/** They run in parallel, and each test awaits its own. */
const started = new Map<string, { work: () => Promise<void>; done: Promise<void> | undefined }>();
const start = (name: string, work: () => Promise<void>) => {
  const done = work();
  // A failure is the test's, which awaits it later.
  done.catch(() => undefined);
  started.set(name, { work, done });
};
/** Fails as the work did. A test's second run does it again. */
const result = async (name: string) => {
  const entry = started.get(name);
  if (!entry) throw new Error(`${name} was not started`);
  entry.done ??= entry.work();
  try {
    await entry.done;
  } catch (error) {
    entry.done = undefined;
    throw error;
  }
};
/** A page waits for blocks and timers more than it computes. */
const inTurn = createQueue(2);
const servers: ExampleServer[] = [];

/** All of them run at once, so the first one awaited may take as long as all. */
const timeout = 300_000;
const paid = [...exampleNames, 'react-18, hydrated'];

beforeAll(() => {
  if (missing !== undefined) return;
  const builds = new Map(exampleNames.map((name) => [name, buildExample(name)]));
  for (const name of paid) {
    start(name, async () => {
      await builds.get(name.replace(', hydrated', ''));
      const placeholders = { apiUrl: stage.server.url, publicKey: stage.server.publicKey };
      const reference = name.replace(/\W+/g, '-');
      const server =
        name === 'react-18, hydrated'
          ? await serveRenderedReact18({ ...placeholders, reference })
          : await serveExample(name, { ...placeholders, reference });
      servers.push(server);
      await inTurn(() => pay(server.url, reference));
    });
  }
  // Afterwards, so that the payments, which mostly wait, run in the meantime.
  const built = Promise.allSettled(builds.values());
  for (const name of typeCheckedNames) start(`types: ${name}`, () => built.then(() => checkTypes(name)));
});

afterAll(() => Promise.all(servers.map((server) => server.close())));

/** Opens a page that must stay quiet: strict mode and hydration complain in the console. */
async function open(url: string): Promise<{ page: Page; complaints: string[]; close(): Promise<void> }> {
  const context = await stage.browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(40_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}

/** Pays an order, and checks that the page's handler was called once, with the payment. */
async function pay(url: string, reference: string): Promise<void> {
  const { page, complaints, close } = await open(url);
  try {
    const checkout = checkoutOn(page);
    await checkout.reach('idle');
    await checkout.act();
    await checkout.choose('Tether USD', 'Tron');
    const { data } = await stage.merchant.transactions.list({ query: { txRef: reference } });
    const [payment] = data;
    if (!payment) throw new Error(`No payment for ${reference} was created`);
    expect(payment).toMatchObject({ baseAmount: 5000, baseCurrency: 'NGN' });
    await stage.send(payment, payment.amountDue ?? 0);
    await checkout.reach('success');
    await page.locator('output', { hasText: payment.id }).waitFor();
    expect(await page.locator('output').textContent()).toBe(payment.id);
    expect(complaints).toEqual([]);
  } finally {
    await close();
  }
}

describe.skipIf(missing !== undefined)('in the examples', () => {
  test.each(paid)(
    '%s: the app is built from the package and paid, and its handler is called',
    { timeout },
    async (name) => {
      await expect(result(name)).resolves.toBeUndefined();
    },
  );

  test.each(typeCheckedNames)('%s: the types are strict, and refuse mistakes', { timeout }, async (name) => {
    await expect(result(`types: ${name}`)).resolves.toBeUndefined();
  });

  test('angular: the compiler refuses mistakes', { timeout }, async () => {
    const { refused, wrong } = await angularMistakes();
    expect(wrong).toHaveLength(3);
    expect(refused).toEqual(wrong);
  });

  test('the plain tag hydrates without a complaint, and gets its status', { timeout }, async () => {
    await result('server-rendered');
    const placeholders = { apiUrl: stage.server.url, publicKey: stage.server.publicKey, reference: 'tip' };
    const server = await serveExample('server-rendered', placeholders);
    servers.push(server);
    const rendered = await (await fetch(`${server.url}tip`)).text();
    expect(rendered).toContain('base-currency="NGN"');
    const { page, complaints, close } = await open(`${server.url}tip`);
    await checkoutOn(page).reach('idle');
    expect(complaints).toEqual([]);
    await close();
  });

  test('the handler of a paid order is called once, though its page hydrates late', { timeout }, async () => {
    await result('server-rendered');
    const { url: apiUrl, publicKey } = stage.server;
    const reference = 'hydrated-late';
    const server = await serveExample('server-rendered', { apiUrl, publicKey, reference });
    servers.push(server);
    const context = await stage.browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    // The page has the element's script itself, which runs before React.
    await page.addInitScript((src) => {
      document.addEventListener('readystatechange', () => {
        if (document.readyState !== 'interactive') return;
        document.head.append(Object.assign(document.createElement('script'), { type: 'module', src }));
      });
    }, `${apiUrl}/crypto-checkout.js`);
    await page.goto(server.url);
    const checkout = checkoutOn(page);
    await checkout.reach('idle');
    await checkout.act();
    await checkout.choose('Tether USD', 'Tron');
    const { data } = await stage.merchant.transactions.list({ query: { txRef: reference } });
    const [payment] = data;
    if (!payment) throw new Error('No payment was created');
    await stage.send(payment, payment.amountDue ?? 0);
    await checkout.reach('success');
    await page.route(/\/assets\/.*\.js$/, async (route) => {
      await page.locator('crypto-checkout[status="success"]').waitFor();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await route.continue();
    });
    await page.reload();
    await page.locator('output', { hasText: payment.id }).waitFor();
    expect(await page.locator('output').textContent()).toBe(payment.id);
    await context.close();
  });

  test.each([
    ['react-18', 'no-time-log="true"'],
    ['react-19', 'no-time-log=""'],
  ])('%s: false and objects do not become attributes', { timeout }, async (name, noTimeLog) => {
    const props = { noTimeLog: true, noRedirect: false, messages: {}, className: 'pay', theme: 'dark' };
    const tag = await renderComponent(name, props);
    expect(tag).toBe(`<crypto-checkout ${noTimeLog} class="pay" theme="dark"></crypto-checkout>`);
  });

  test('a server renders the component with its attributes, so that it works before it is hydrated', async () => {
    await result('server-rendered');
    const placeholders = { apiUrl: stage.server.url, publicKey: 'pk_test_1', reference: 'rendered' };
    const server = await serveExample('server-rendered', placeholders);
    servers.push(server);
    const rendered = await (await fetch(server.url)).text();
    expect(rendered).toMatch(
      /<crypto-checkout api-url="http[^"]+" public-key="pk_test_1" amount="5000" base-currency="NGN" tx-ref="rendered">/,
    );
  });
});
