/** A sale without code: a link is paid by a stranger, who gets mail, asks for too much back by its link, and gets it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSink, type Letter, type Sink } from '../../server/test/support/mail-sink.js';
import { checkoutOn } from './checkout.js';
import { enter, heading, press } from './claim-page.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { useStage } from './stage.js';

let directory: string;
let sink: Sink;
const env = () => ({
  ...{ DATABASE_URL: `sqlite:${join(directory, 'data.sqlite')}`, NETWORKS_FILE: '' },
  ...{ SMTP_URL: sink.url, MAIL_FROM: 'pay@shop.example' },
});
const stage = useStage({
  blockIntervalMs: 200,
  async start() {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-sold-'));
    sink = await openSink();
    return { env: env() };
  },
});
afterAll(async () => {
  await sink.stop();
  await rm(directory, { recursive: true, force: true });
});

/** An address that belongs to nobody here. */
const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

const letter = async (subject: RegExp): Promise<Letter> => {
  const find = () => sink.letters.find((one) => subject.test(one.subject ?? ''));
  await expect.poll(find, { timeout: 15_000 }).toBeDefined();
  const found = find();
  if (!found) throw new Error('It came a moment ago');
  return found;
};

test('a link is paid with too much, and the excess goes back by the link in the payer’s mail', async () => {
  const merchant = ['--merchant', await merchantIdOf(env())];
  await runCommand(env(), 'mail', 'choose', ...merchant, '--kinds', 'all');
  const { data: link } = await stage.merchant.links.create({
    body: {
      ...{ title: 'Workshop', amount: 20, baseCurrency: 'USD' },
      fields: [{ name: 'email', isRequired: true }],
    },
  });
  const context = await stage.browser.newContext({ viewport: { width: 390, height: 800 }, locale: 'en-GB' });
  const phone = await stage.page({ context, expectedErrors: /40[09]/ });
  await phone.goto(link.url);
  await phone.getByLabel('Email').fill('ada@example.com');
  await phone.getByRole('button', { name: 'Continue to payment' }).click();
  const checkout = checkoutOn(phone);
  await checkout.choose('Tether USD', 'Tron');
  const id = new URL(phone.url()).pathname.split('/').at(-1) ?? '';
  await stage.send(await stage.verify(id), 25);
  await checkout.reach('success');
  const over = await letter(/paid more than was due/);
  expect(over.recipients).toEqual(['ada@example.com']);
  expect(over.text).toContain('25.00 USDT arrived');

  const { data: refund } = await stage.merchant.refunds.create({
    params: { payment_id: id },
    body: { kind: 'excess', deliver: 'email' },
  });
  expect(refund.claimUrl).toBeUndefined();
  const [claimUrl = ''] = /\S+\/refund#[\w-]+/.exec((await letter(/sends back/)).text ?? '') ?? [];
  await phone.goto(claimUrl);
  await heading(phone, 'Where should we send your refund?');
  await enter(phone, address);
  await press(phone, 'Continue');
  await heading(phone, 'Is this your address?');
  await press(phone, 'Yes, send it here');
  await heading(phone, 'Waiting for the shop');
  const refunded = { params: { refund_id: refund.id } };
  await stage.merchant.refunds.approve({ ...refunded, body: { address } });
  await heading(phone, 'Refund sent');
  const sent = await letter(/refund was sent/);
  const { data: paid } = await stage.merchant.refunds.retrieve(refunded);
  expect(sent.text).toContain(paid.txHash);

  const { data: month } = await stage.merchant.books.list({
    query: { month: new Date().toISOString().slice(0, 7) },
  });
  const ofPayment = month.bookings.filter((booking) => JSON.stringify(booking).includes(id));
  expect(ofPayment.length).toBeGreaterThan(1);
  const checks = (await runCommand(env(), 'ledger', 'check')) as { violations: string[] }[];
  expect(checks.flatMap(({ violations }) => violations)).toEqual([]);
});
