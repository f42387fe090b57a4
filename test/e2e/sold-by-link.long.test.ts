/**
 * A sale without code: the shop chooses its e-mail and makes a link in the console. A stranger on a phone pays it with too much,
 * gets mail, and gets the excess back by the link in it; the owner gets mail about what waits.
 */
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { texts } from '../../console/messages/mail.js';
import { openSink, type Letter, type Sink } from '../../server/test/support/mail-sink.js';
import { checkoutOn } from './checkout.js';
import { enter, heading, press } from './claim-page.js';
import { runCommand } from './deposit-keys.js';
import { signInAs } from './staff.js';
import { useStageWithCommands } from './stage.js';

let sink: Sink;
const { stage, env } = useStageWithCommands({
  blockIntervalMs: 200,
  async prepare() {
    sink = await openSink();
    return { SMTP_URL: sink.url, MAIL_FROM: 'pay@shop.example' };
  },
});
afterAll(() => sink.stop());

/** An address that belongs to nobody here. */
const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

const letter = async (subject: RegExp): Promise<Letter> => {
  const find = () => sink.letters.find((one) => subject.test(one.subject ?? ''));
  await expect.poll(find, { timeout: 15_000 }).toBeDefined();
  const found = find();
  if (!found) throw new Error('It came a moment ago');
  return found;
};

/** Ticks kinds of messages in the console's settings, and reads them again. */
async function chooseMail(page: Page, name: string, title: string, kinds: readonly string[]): Promise<void> {
  const open = async () => {
    await page.goto(`${new URL(page.url()).origin}/console/test/${name}`);
    const section = page.locator('section.panel', { has: page.getByRole('heading', { name: title }) });
    await section.waitFor();
    return section;
  };
  const section = await open();
  for (const kind of kinds) await section.getByLabel(kind, { exact: true }).check();
  await section.getByRole('button', { name: 'Save the choice' }).click();
  await page.getByText('Saved').first().waitFor();
  const again = await open();
  for (const kind of kinds)
    expect(await again.getByLabel(kind, { exact: true }).isChecked(), kind).toBe(true);
}

test('a link is paid with too much, and the excess goes back by the link in the payer’s mail', async () => {
  const owner = await signInAs('owner', stage, env());
  await chooseMail(owner, 'mail', 'E-mail to payers', Object.values(texts.payerKinds));
  await chooseMail(owner, 'account', 'E-mail to you', [
    texts.staffKinds.needsPerson,
    texts.staffKinds.refundToApprove,
  ]);
  await owner.getByRole('link', { name: 'Payment links' }).first().click();
  await owner.getByRole('button', { name: 'New payment link…' }).click();
  const dialog = owner.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Workshop');
  await dialog.getByRole('spinbutton', { name: /^Price/ }).fill('20');
  await dialog.locator('select[name=ask-email]').selectOption('required');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await owner.getByRole('heading', { name: 'Workshop', level: 1 }).waitFor();
  const [link] = (await stage.merchant.links.list({})).data;
  if (!link) throw new Error('The link was made a moment ago');
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
  const waiting = await letter(/needs attention/i);
  expect(waiting.recipients).toEqual(['owner@shop.example']);

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

test('a receipt is mailed once by two presses at once, and again only by a person who sees that it was sent', async () => {
  const email = 'receipt@example.com';
  const { payment } = await stage.create({ customer: { email, name: 'Grace Example' } });
  const params = { payment_id: payment.id };
  const { payments } = stage.merchant;
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  const { data } = await payments.lockCurrency({ params });
  await stage.send(data, data.amount ?? 0);
  await expect.poll(async () => (await stage.verify(payment.id)).state, { timeout: 30_000 }).toBe('settled');
  const sent = () => sink.letters.filter(({ recipients }) => recipients.includes(email)).length;
  // The shop sends one automatically, because the test above chose it.
  await expect.poll(sent, { timeout: 15_000 }).toBe(1);
  const pages = [await signInAs('support', stage, env()), await signInAs('support', stage, env())];
  const dialogs = pages.map((page) => page.getByRole('dialog'));
  for (const page of pages) {
    await page.goto(`${new URL(page.url()).origin}/console/test/payment/${payment.id}`);
    await page.getByRole('button', { name: 'Receipt…' }).click();
  }
  const button = /^(Send by e-mail|Send it again)$/;
  await Promise.all(dialogs.map((dialog) => dialog.getByRole('button', { name: button }).waitFor()));
  const notice = /The receipt is being sent|It was sent already, so it is not sent twice/;
  // Each notice stays for some seconds only, so it is read as it comes.
  const [shown] = await Promise.all([
    Promise.all(pages.map((page) => page.getByText(notice).first().innerText())),
    ...dialogs.map((dialog) => dialog.getByRole('button', { name: button }).click()),
  ]);
  expect(shown.sort()).toEqual(['It was sent already, so it is not sent twice', 'The receipt is being sent']);
  await expect.poll(sent, { timeout: 15_000 }).toBe(2);
  const [page, dialog] = [pages[0], dialogs[0]];
  if (!page || !dialog) throw new Error('Two pages are open');
  // It has arrived before the server notes that it was sent.
  const seen = async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Receipt…' }).click();
    return dialog.getByText(/receipt@example\.com, \d+ (s|min) ago$|^Asked for/).innerText();
  };
  await expect.poll(seen, { timeout: 30_000 }).toMatch(/^Sent to receipt@example\.com/);
  await dialog.getByRole('button', { name: 'Send it again' }).click();
  await expect.poll(sent, { timeout: 15_000 }).toBe(3);
});
