/** A refund from the merchant's call to the coins: the payer opens the link, gives an address, and sees the money go out. */
import { expect, test } from 'vitest';
import { ScriptedWallet } from '../support/scripted-wallet.js';
import { giveWallet } from './browser-wallet.js';
import { enter, heading, look, press } from './claim-page.js';
import { inspect, useStage } from './stage.js';

// A refund is sent and paid within two blocks: the tests add them, so that a slow page sees each step.
const stage = useStage({ blockIntervalMs: 0 });

/** An address that belongs to nobody here. */
const own = '0x52908400098527886E0F7030069857D2E4169EE7';
const wrongChecksum = own.replace('E7', 'e7');

/** A payment that got more than its price, and the link to claim the rest. */
async function startRefund() {
  const { payment, url } = await stage.createLocked('USDT', 'ethereum');
  await stage.send(payment, (payment.amount ?? 0) + 5);
  await stage.sandbox('blocks', { network: 'ethereum', count: 15 });
  await expect
    .poll(async () => (await stage.verify(payment.id)).state, { timeout: 10_000 })
    .toBe('settled_over');
  const { data } = await stage.merchant.refunds.create({
    params: { payment_id: payment.id },
    body: { kind: 'excess', reason: 'You sent more than the price' },
  });
  const { id, claimUrl = '' } = data;
  return {
    id,
    url,
    receiptUrl: payment.receiptUrl ?? '',
    claimUrl,
    token: claimUrl.split('#')[1] ?? '',
    reference: payment.txRef ?? '',
  };
}

const statusOf = async (id: string) =>
  (await stage.merchant.refunds.retrieve({ params: { refund_id: id } })).data.status;

/** Adds blocks until the refund is paid. */
async function pay(id: string) {
  const addAndLook = async () => {
    await stage.sandbox('blocks', { network: 'ethereum', count: 2 });
    return statusOf(id);
  };
  await expect.poll(addAndLook, { timeout: 10_000 }).toBe('paid');
}

test('a payer claims an excess by keyboard, and the same link shows that it was sent', async () => {
  const { id, claimUrl, token, reference } = await startRefund();
  const page = await stage.page({ expectedErrors: /400/ });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url(), request.headers()['referer'] ?? ''));

  await page.goto(claimUrl);
  await heading(page, 'Where should we send your refund?');
  expect(await page.locator('.total').innerText()).toBe('5.00\u00a0USDT');
  await page.getByText(reference).waitFor();
  await inspect(page, 'refund-entering');
  await page.setViewportSize({ width: 1280, height: 900 });
  const columns = await Promise.all(
    ['.order', '.pay'].map(async (part) => (await page.locator(part).boundingBox()) ?? { x: 0, width: 0 }),
  );
  expect(columns[0]?.width, 'two columns').toBeGreaterThan(300);
  expect(columns[1]?.x, 'the second column').toBeGreaterThanOrEqual(
    (columns[0]?.x ?? 0) + (columns[0]?.width ?? 0),
  );

  await enter(page, 'not an address');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('This address cannot be used for USDT on Ethereum').waitFor();
  await enter(page, wrongChecksum);
  await page.keyboard.press('Enter');
  // At once, before the payer compares an address that cannot be used anyway.
  await page.getByRole('alert').getByText('This address cannot be used').waitFor();
  expect(await page.getByRole('status').innerText()).toBe('');
  expect((await page.getByRole('alert').innerText()).match(/\./g)).toHaveLength(2);
  expect(await page.locator('.logo').innerText()).toBe('NL');

  await enter(page, ` ${own}\n`);
  await page.keyboard.press('Enter');
  await heading(page, 'Is this your address?');
  expect(await page.locator('.blocks span').allInnerTexts()).toEqual(own.match(/.{1,4}/g));
  await inspect(page, 'refund-confirming');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await heading(page, 'Waiting for the shop');
  await inspect(page, 'refund-waiting');

  await page.reload();
  await heading(page, 'Waiting for the shop');
  await stage.merchant.refunds.approve({ params: { refund_id: id }, body: { address: own } });
  const again = await stage.page();
  await again.goto(claimUrl);
  await heading(again, 'Your refund is being sent');
  await pay(id);
  await look(page);
  await heading(page, 'Refund sent');
  expect(await page.locator('.hash').innerText()).toMatch(/^0x[0-9a-f]{64}$/);
  await inspect(page, 'refund-sent');

  expect(page.url()).not.toContain(token);
  expect(await page.title()).toBe('Refund');
  expect(asked.filter((text) => text.includes(token))).toEqual([]);
});

test('the payment’s page and receipt show a refund’s progress, and never its address or its link', async () => {
  const { id, url, receiptUrl, claimUrl, token } = await startRefund();
  const page = await stage.page();
  await page.goto(url);
  const note = page.locator('[part="refund"]');
  const words = async () => (await note.innerText()).replaceAll('\u00a0', ' ');
  await note.waitFor();
  expect(await words()).toBe('Refund started: 5.00 USDT. The shop sends you the link.');
  const claim = await stage.page();
  await claim.goto(claimUrl);
  await enter(claim, own);
  await press(claim, 'Continue');
  await press(claim, 'Yes, send it here');
  await heading(claim, 'Waiting for the shop');
  await stage.merchant.refunds.approve({ params: { refund_id: id }, body: {} });
  await pay(id);
  await page.reload();
  await expect.poll(words).toBe('Refunded: 5.00 USDT');
  expect(await page.getByText('ask for it back').count(), 'nobody asks for it again').toBe(0);
  const seen = await page.content();
  await page.goto(receiptUrl);
  const receipt = page.locator('main');
  expect(await receipt.innerText()).toMatch(/Refunds\s+5\.00 USDT\s+sent back\s+0x[0-9a-f]{64}/);
  for (const text of [seen, await page.content()])
    for (const secret of [own, own.toLowerCase(), token, id]) expect(text).not.toContain(secret);
});

test('the browser that gave the address can change it until the shop approves, and no other', async () => {
  const { id, claimUrl } = await startRefund();
  const page = await stage.page();
  await page.goto(claimUrl);
  await enter(page, own);
  await press(page, 'Continue');
  await press(page, 'Yes, send it here');
  await heading(page, 'Waiting for the shop');
  await press(page, 'Change the address');
  const elsewhere = await stage.page();
  await elsewhere.goto(claimUrl);
  await heading(elsewhere, 'Waiting for the shop');
  await elsewhere.getByText('in the browser in which it was given').waitFor();
  expect(await elsewhere.getByRole('button', { name: 'Change the address' }).count()).toBe(0);
  expect(await elsewhere.locator('.blocks').innerText()).toBe('0x5290…9EE7');
  await inspect(elsewhere, 'refund-elsewhere');
  const other = '0x27b1fdb04752bbc536007a920d24acb045561c26';
  await enter(page, other);
  await press(page, 'Continue');
  await press(page, 'Yes, send it here');
  await heading(page, 'Waiting for the shop');
  const { data } = await stage.merchant.refunds.retrieve({ params: { refund_id: id } });
  expect(data.address?.toLowerCase()).toBe(other);
});

test('a claim shows the amount that the shop keeps, and yields to the rest of the payment', async () => {
  const { payment } = await stage.createLocked('USDT', 'ethereum');
  await stage.send(payment, (payment.amount ?? 0) - 1);
  await stage.sandbox('blocks', { network: 'ethereum', count: 3 });
  await stage.sandbox('clock', { advanceSeconds: 86_400 });
  const state = async () => {
    await stage.sandbox('blocks', { network: 'ethereum', count: 1 });
    return (await stage.verify(payment.id)).state;
  };
  await expect.poll(state, { timeout: 10_000 }).toBe('expired_partial');
  const params = { payment_id: payment.id };
  const { data } = await stage.merchant.refunds.create({ params, body: { kind: 'unaccepted' } });
  const page = await stage.page();
  await page.goto(data.claimUrl ?? '');
  await heading(page, 'Where should we send your refund?');
  await page.getByText('kept by the shop').waitFor();
  await inspect(page, 'refund-fee-kept');
  await stage.send(payment, 1);
  await expect.poll(state, { timeout: 10_000 }).toBe('settled_late');
  await page.reload();
  await heading(page, 'The rest of your payment came');
  await inspect(page, 'refund-completed');
});

test('an expired, incomplete or wrong link shows the remedy, in the payer’s language', async () => {
  const { id, claimUrl } = await startRefund();
  const { data } = await stage.merchant.refunds.link({ params: { refund_id: id } });
  const page = await stage.page({ expectedErrors: /404/ });
  for (const link of [claimUrl, `${claimUrl.split('#')[0]}?lang=fr#guessed`]) {
    await page.goto(link);
    await heading(page, link.includes('fr') ? 'Remboursement introuvable' : 'Refund not found');
  }
  await inspect(page, 'refund-gone');
  // The newer link is opened in the same tab, which loads no new page.
  await page.goto(`${claimUrl.split('#')[0]}?lang=ar`);
  await page.evaluate((hash) => (location.hash = hash), data.claimUrl?.split('#')[1] ?? '');
  await heading(page, 'إلى أين نرسل المبلغ المسترد؟');
  await inspect(page, 'refund-arabic');
});

test('a wallet in the browser fills in its address, and the payer may continue without its signature', async () => {
  const { claimUrl } = await startRefund();
  const page = await stage.page();
  const wallet = new ScriptedWallet();
  wallet.account = own;
  wallet.answers['personal_sign'] = () => {
    throw new Error('No');
  };
  await giveWallet(page, wallet);
  await page.goto(claimUrl);
  await press(page, 'Use the address of Test Wallet');
  await heading(page, 'Is this your address?');
  await press(page, 'Prove with Test Wallet that it paid');
  await page
    .getByRole('alert')
    .getByText(/You can continue without it/)
    .waitFor();
  await press(page, 'Yes, send it here');
  await heading(page, 'Waiting for the shop');
});
