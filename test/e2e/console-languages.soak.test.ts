/** The console in a language that is longer than English and written from right to left: every page and dialog, for everybody. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { beforeAll, expect, test, vi } from 'vitest';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { settingsPages } from './staff.js';
import { expectToFit, inspect, useStageWithCommands } from './stage.js';

const { stage, env, pathOf } = useStageWithCommands();

/** In place of `console/messages/pick.ts`: each text is marked, accented and two fifths longer. */
const pseudoPick = `
  export const language = 'en';
  const accented = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', A: 'Á', E: 'É', I: 'Í', O: 'Ó', U: 'Ú', n: 'ñ', c: 'ç' };
  const longer = (text) => {
    const more = Math.ceil(text.length * 0.4);
    const rest = 'ẋẋẋẋẋẋ '.repeat(Math.ceil(more / 7)).slice(0, more);
    return '⟦' + text.replace(/[aeiouAEIOUnc]/g, (letter) => accented[letter]) + ' ' + rest + '⟧';
  };
  const translate = (value) => {
    if (typeof value === 'string') return longer(value);
    if (typeof value === 'function') return (...given) => translate(value(...given));
    if (Array.isArray(value)) return value.map(translate);
    if (typeof value !== 'object' || value === null || '_$litType$' in value) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, translate(one)]));
  };
  export const pick = ({ en }) => translate(en);
`;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the console with those texts. */
async function buildPseudo(outDir: string): Promise<void> {
  await build({
    configFile: join(root, 'console/vite.config.ts'),
    root,
    logLevel: 'error',
    build: { outDir },
    plugins: [
      {
        name: 'pseudo-locale',
        enforce: 'pre',
        load: (id) => (id.endsWith('console/messages/pick.ts') ? pseudoPick : null),
      },
    ],
  });
}

let shown: readonly string[];
beforeAll(async () => {
  const id = await merchantIdOf(env());
  await Promise.all([
    buildPseudo(pathOf('console')),
    // Nothing listens there.
    runCommand(
      env(),
      'merchants',
      'update',
      id,
      '--webhook-url',
      'http://127.0.0.1:9/hooks',
      '--mode',
      'test',
    ),
  ]);
  const { payment } = await stage.createLocked('USDT', 'tron');
  await stage.send(payment, (payment.amount ?? 0) * 1.5);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled_over'), 20_000);
  const { merchant } = stage;
  await merchant.refunds.create({ params: { payment_id: payment.id }, body: { kind: 'excess' } });
  const { payment: unpaid } = await stage.create();
  const { data: wallet } = await merchant.wallets.create({ body: { currency: 'USDT', label: 'Donations' } });
  const { data: plan } = await merchant.paymentPlans.create({
    body: {
      frequency: 'monthly',
      planName: 'Membership',
      numberOfTimesToCharge: 12,
      amount: 5,
      currency: 'USD',
      currencies: ['USDT'],
    },
  });
  const params = { payment_plan_id: plan.id };
  await merchant.subscribers.create({ params, body: { email: 'member@example.com' } });
  const [customer] = (await merchant.customers.list({})).data;
  const delivery = await vi.waitFor(async () => {
    const [one] = (await merchant.webhooks.list({ query: { subjectId: payment.id } })).data;
    expect(one?.tries.length).toBeGreaterThan(0);
    return one;
  }, 20_000);
  shown = [
    ...['home', 'payments', `payment/${payment.id}`, `payment/${unpaid.id}`, 'refunds', 'money'],
    ...[
      'exports',
      'sweeps',
      'books',
      'customers',
      `customer/${customer?.id}`,
      'plans',
      `plan/${plan.id}`,
      'subscribers',
    ],
    ...['wallets', `wallet/${wallet.id}`, 'developers', `delivery/${delivery?.id}`, ...settingsPages],
    ...['payments?q=nothing', 'no-such-page'],
  ];
}, 120_000);

/** Words from replies of the API. All other unmarked words were written into a page. */
const data = new Set<string>(['utc', 'chrome']);
const wordsOf = (text: string) => text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
function collect(value: unknown): void {
  if (typeof value === 'string') for (const word of wordsOf(value)) data.add(word);
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
}

async function open(): Promise<Page> {
  const page = await stage.page({ expectedErrors: /40[0134]/ });
  await page.route(/\/console\/(console\.js|chunks\/.*\.js)$/, async (route) => {
    const name = new URL(route.request().url()).pathname.replace('/console/', '');
    const file = join(pathOf('console'), name);
    // The document names files of the server's own build, to be fetched early: the script asks for none of them here.
    if (!existsSync(file)) return route.continue();
    const body = await readFile(file, 'utf8');
    return route.fulfill({ contentType: 'text/javascript; charset=utf-8', body });
  });
  page.on('response', (response) => {
    if (!/\/(v1|console\/api)\//.test(response.url()) || response.url().includes('/changes/')) return;
    void response.json().then(
      (body: { data?: unknown }) => collect(body.data),
      () => undefined,
    );
  });
  return page;
}

/** Names of events, as the API has them, and the ends of ids. */
const code = /^[a-z]+\.[a-z_]+$|^[0-9A-HJKMNP-TV-Z]{6,8}$/;

/** Words shown or announced on the page that are neither marked nor data. Each language is named in itself, and a time zone by IANA. */
async function untranslated(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (
        !node.parentElement?.closest(
          'script, style, code, pre, time, noscript, crypto-checkout, .sentence, [name=locale], [name=language], [name=timeZone]',
        )
      ) {
        found.push(node.textContent ?? '');
      }
    }
    // One text, with links in it.
    for (const one of document.body.querySelectorAll('.sentence')) found.push(one.textContent);
    for (const one of document.body.querySelectorAll('*')) {
      for (const name of ['aria-label', 'placeholder', 'alt']) found.push(one.getAttribute(name) ?? '');
    }
    return [...found, document.title];
  });
  return texts
    .map((text) => text.replace(/⟦[^⟦⟧]*(⟦[^⟦⟧]*⟧[^⟦⟧]*)*⟧/g, '').trim())
    .filter((text) => !code.test(text) && wordsOf(text).some((word) => !data.has(word)));
}

/**
 * Whatever the language, a page has the same markup and colours, which `console.long.test.ts` and the tests of single pages inspect. Many
 * dialogs are opened only here.
 */
async function look(page: Page, name: string, left: Set<string>, isDialog = false): Promise<void> {
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  for (const text of await untranslated(page)) left.add(`${name}: ${text}`);
  const title = `console-rtl-${name}`;
  // Reports all problems, not only those of the first page.
  await (isDialog ? inspect(page, title, ['light']) : expectToFit(page, title)).catch((error: unknown) =>
    left.add(`${name}: ${String(error)}`),
  );
}

test('each page and dialog fits, and is whole in another language; dialogs are marked up for everybody', async () => {
  const page = await open();
  const left = new Set<string>();
  const { port } = new URL(stage.server.url);
  await page.goto(`http://localhost:${port}/console`);
  await page.locator('h1').waitFor();
  await look(page, 'sign-in', left);
  const words = ['--merchant', await merchantIdOf(env()), '--email', 'ada@shop.example', '--role', 'owner'];
  const { signInUrl } = (await runCommand(env(), 'users', 'invite', ...words)) as { signInUrl: string };
  await page.goto(signInUrl.replace(/^http:\/\/[^/]+/, `http://localhost:${port}`));
  await page.locator('nav').first().waitFor();
  for (const path of shown) {
    const name = path.replace(/\W.*/, '');
    await page.goto(`http://localhost:${port}/console/test/${path}`);
    await page.locator('main h1, main [role=alert], main p').first().waitFor();
    await page.waitForFunction(() => !document.querySelector('main .wait'));
    await look(page, name, left);
    // The buttons that ask before they act.
    // On a narrow screen, some are behind another button.
    const wide = () => page.setViewportSize({ width: 1600, height: 900 });
    await wide();
    const asking = page.locator('main button:enabled', { hasText: '…' });
    const names = [...new Set(await asking.allInnerTexts())];
    for (const button of names) {
      await wide();
      await asking.filter({ hasText: button }).first().click();
      await page.locator('dialog[open]').waitFor();
      await look(page, `${name}-dialog`, left, true);
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
    }
  }
  expect([...left]).toEqual([]);
}, 600_000);
