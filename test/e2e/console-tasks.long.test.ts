/** Twelve daily tasks of a shop's staff in the console, by clicks, keys and seconds, on a phone, and in a soak on a desk. */
import { createServer } from 'node:http';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { signInAs } from './staff.js';
import { useStageWithCommands } from './stage.js';
import { roundsOf } from '../../server/test/support/rounds.js';

const { stage, env } = useStageWithCommands();

/** The shop's receiver of webhooks. */
let answer = 503;
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(answer).end();
});
afterAll(() => receiver.close());

async function setWebhook(): Promise<void> {
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('It listens on a port');
  const words = ['--webhook-url', `http://127.0.0.1:${address.port}/hooks`, '--mode', 'test'];
  await runCommand(env(), 'merchants', 'update', await merchantIdOf(env()), ...words);
}

/** An order of 20 dollars, its payment locked. */
async function order(reference: string, name: string) {
  const { payment } = await stage.create({
    txRef: reference,
    customer: { email: `${name}@example.com`, name },
  });
  const params = { payment_id: payment.id };
  const { payments } = stage.merchant;
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  return (await payments.lockCurrency({ params })).data;
}
const mine = () => stage.sandbox('blocks', { network: 'tron', count: 30 });
const until = (id: string, state: string) =>
  vi.waitFor(async () => expect((await stage.verify(id)).state).toBe(state), 20_000);

/** The work that waits for the staff in the morning. */
async function fill(suffix: string): Promise<void> {
  const { merchant } = stage;
  const exact = await order(`ORDER-50${suffix}`, `grace-${suffix}`);
  const excess = await order(`excess-${suffix}`, 'ada');
  const short = await order(`short-${suffix}`, 'ada');
  const late = await order(`late-${suffix}`, 'ada');
  const asked = await order(`asked-${suffix}`, 'ada');
  await merchant.payments.cancel({ params: { payment_id: late.id } });
  for (const [payment, sum] of [
    [exact, 20],
    [excess, 30],
    [short, 15],
    [late, 20],
    [asked, 30],
  ] as const)
    await stage.send(payment, sum);
  await mine();
  await stage.sandbox('clock', { advanceSeconds: 86_400 });
  await Promise.all([until(short.id, 'expired_partial'), until(late.id, 'cancelled_paid')]);
  await until(asked.id, 'settled_over');
  const { data: refund } = await merchant.refunds.create({
    params: { payment_id: asked.id },
    body: { kind: 'excess', reason: 'More than the price', address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
  });
  expect(refund.status).toBe('awaiting_approval');
  const { data: plan } = await merchant.paymentPlans.create({
    body: {
      frequency: 'monthly',
      planName: `Lamp oil ${suffix}`,
      numberOfTimesToCharge: 12,
      amount: 20,
      currency: 'USD',
      currencies: ['USDT'],
    },
  });
  await merchant.subscribers.create({
    params: { payment_plan_id: plan.id },
    body: { email: `grace-${suffix}@example.com` },
  });
  const failed = async (status: 'failing' | 'failed') =>
    (await merchant.webhooks.list({ query: { status, type: 'payment.late' } })).data;
  await expect.poll(async () => (await failed('failing')).length, { timeout: 20_000 }).toBeGreaterThan(0);
  // The answer that the address is gone gives all events up at the next attempt.
  answer = 410;
  await stage.sandbox('clock', { advanceSeconds: 600 });
  await expect.poll(async () => (await failed('failed')).length, { timeout: 20_000 }).toBeGreaterThan(0);
  answer = 204;
  await setWebhook();
}

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
}, 60_000);

interface Row {
  readonly task: string;
  readonly width: number;
  readonly clicks: number;
  readonly keys: number;
  readonly seconds: number;
}
const rows: Row[] = [];

/** A person's hand: it sees only what is in view, and opens a menu where the target is behind one. */
class Hand {
  clicks = 0;
  keys = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async press(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }
  async menu(...names: string[]): Promise<void> {
    const { page } = this;
    for (const name of names) {
      const link = page.getByRole('navigation').getByRole('link', { name: new RegExp(`^${name}(,|$)`) });
      await page.getByRole('navigation', { name: 'Menu' }).waitFor();
      const isInView = await link
        .first()
        .waitFor({ timeout: 1000 })
        .then(
          () => true,
          () => false,
        );
      if (!isInView) await this.press(page.getByRole('button', { name: 'More', exact: true }));
      await this.press(link.first());
    }
  }
  link = (name: string | RegExp) =>
    this.press(this.page.getByRole('main').getByRole('link', { name }).first());
  async button(name: string | RegExp, within: Locator = this.page.locator('body')): Promise<void> {
    const target = within
      .getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })
      .first();
    const isInView = await target.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
    if (!isInView) await this.press(within.getByRole('button', { name: 'More actions' }).first());
    await this.press(target);
  }
  async type(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByRole('dialog').getByLabel(label).first().fill(text);
    this.keys += text.length;
  }
  async choose(label: string, value: string): Promise<void> {
    this.clicks += 1;
    await this.page.getByLabel(label).selectOption(value);
  }
  async key(name: string): Promise<void> {
    this.keys += 1;
    await this.page.keyboard.press(name);
  }
}

/** The most clicks that each task may take, on a phone too. */
const most = 5;

/** On a phone the menu and the actions of a row take one click more. `console.long.test.ts` counts most of them on a wide screen. */
const widths = [390, 1280].slice(0, roundsOf({ usual: 1, soak: 2 }));

test.each(widths)(
  'twelve daily tasks take five clicks at most, %i px wide',
  { timeout: 400_000 },
  async (width) => {
    const suffix = String(width);
    answer = 503;
    await setWebhook();
    await fill(suffix);
    const page = await signInAs('owner', stage, env());
    await page.setViewportSize({ width, height: 844 });
    const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const heading = (name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor();

    const task = async (name: string, run: (hand: Hand) => Promise<void>) => {
      await page.goto(`${new URL(page.url()).origin}/console/test/home`);
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await page.waitForFunction(() => !document.querySelector('main .wait'));
      const hand = new Hand(page);
      const began = performance.now();
      await run(hand);
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      rows.push({ task: name, width, clicks: hand.clicks, keys: hand.keys, seconds });
      expect(hand.clicks, `${name}, ${width} px`).toBeLessThanOrEqual(most);
    };

    await task('find a payment by the beginning of its order', async (hand) => {
      await hand.key('/');
      await page.keyboard.type(`ORDER-50${suffix.slice(0, 1)}`);
      hand.keys += 9;
      await hand.key('Enter');
      // One hit opens; of several, the row.
      await page.getByText(`ORDER-50${suffix}`).first().waitFor();
    });
    await task('refund an excess', async (hand) => {
      await hand.link(/paid too much/);
      await hand.link(`excess-${suffix}`);
      await hand.button('Refund…');
      await hand.button('Make the refund’s link');
      await heading(/send this link to the payer/);
    });
    await task('approve a refund', async (hand) => {
      await hand.link(/waits? for approval/);
      await hand.button('Approve…');
      await see('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8');
      await hand.button(/^Approve 10/);
      await page.locator('.toast', { hasText: 'Approved' }).waitFor();
    });
    await task('handle a late payment', async (hand) => {
      await hand.link(/paid late/);
      await hand.link(`late-${suffix}`);
      await hand.button('Refund…');
      await hand.button('Make the refund’s link');
      await heading(/send this link to the payer/);
    });
    await task('accept a short payment', async (hand) => {
      await hand.link(/paid too little/);
      await hand.link(`short-${suffix}`);
      await hand.button('Accept as paid…');
      await hand.button(/^Accept 15/);
      await see(/the shop accepted it as paid/);
    });
    await task('make a payment link', async (hand) => {
      await hand.menu('Payment links');
      await hand.button('New payment link…');
      await hand.type('Title', 'Workshop');
      await hand.type('Price', '45');
      await hand.button('Save', page.getByRole('dialog'));
      await heading('Workshop');
    });
    await task('invite a colleague', async (hand) => {
      await hand.menu('Settings', 'Team');
      await hand.button('Add a colleague…');
      await hand.type('E-mail', `eve-${suffix}@shop.example`);
      await hand.button('Make the link');
      await heading(/^Send this link to eve/);
    });
    await task('send failed webhooks again', async (hand) => {
      await hand.menu('Developers');
      await hand.choose('Status', 'failed');
      await hand.button(/^Send (these \d+|this one) again…$/);
      await hand.button('Send again', page.getByRole('dialog'));
      await see(/(is|are) sent again/);
    });
    await task('export last month', async (hand) => {
      await hand.menu('Books');
      await hand.choose('Period', 'last-month');
      const saved = page.waitForEvent('download');
      await hand.button(/^Save/, page.getByRole('main'));
      await hand.button(/^Save/, page.getByRole('dialog'));
      expect((await saved).suggestedFilename()).toMatch(/^books-test-\d{4}-\d\d\.csv$/);
    });
    // Only a command changes it: a stolen session must not.
    await task('see the fee, and copy the command that sets it', async (hand) => {
      await hand.menu('Settings', 'Fee and limits');
      await see(/^1 ?%$/);
      await page
        .getByText(/merchants update \S+ --fee-basis-points/)
        .first()
        .waitFor();
    });
    await task('look up a customer, and what they paid', async (hand) => {
      await hand.menu('Customers');
      await hand.link(new RegExp(`grace-${suffix}`));
      await see(/^\$20\.00, 1 payment/);
    });
    await task('end a subscription', async (hand) => {
      await hand.menu('Subscribers');
      await hand.button('End…', page.getByRole('row', { name: new RegExp(`grace-${suffix}`) }));
      await hand.button('End it', page.getByRole('dialog'));
      await page.locator('.toast', { hasText: 'Ended' }).waitFor();
    });
    console.log(
      rows
        .filter((row) => row.width === width)
        .map((row) => `${row.task} | ${row.clicks} | ${row.keys} | ${row.seconds} s`)
        .join('\n'),
    );
  },
);
