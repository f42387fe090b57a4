/** "Check my transfer" against the real server: sent transfers are found, and its code loads only when it is opened. */
import { expect, test } from 'vitest';
import { checkoutOn, type Checkout } from './checkout.js';
import { inspect, useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 0 });

async function ask(checkout: Checkout, pasted: string, answer: RegExp): Promise<void> {
  await checkout.part('transfer-hash').fill(pasted);
  await checkout.part('transfer-hash').press('Enter');
  await checkout.part('transfer-answer').filter({ hasText: answer }).waitFor();
}

test('a payer who sent the wrong coin, then the right one, gets an answer about each', async () => {
  const { payment, url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('time-log').waitFor();
  const isLoaded = () => loaded.some((one) => /panel-|-transfer-/.test(one));
  expect(isLoaded()).toBe(false);
  // Only by keyboard.
  await checkout.part('transfer-check').locator('summary').press('Enter');
  await checkout.part('transfer-hash').waitFor();
  expect(isLoaded()).toBe(true);

  await ask(checkout, 'ab'.repeat(32), /^Tron does not know it yet/);
  await stage.send(payment, 7, 'TRX');
  await stage.send(payment, 1);
  await stage.sandbox('blocks', { network: 'tron', count: 1 });
  await checkout.reach('partially-paid');
  const { receipts = [] } = await stage.verify(payment.id);
  const hashOf = (coin: string) => receipts.find(({ currency }) => currency === coin)?.txHash ?? '';
  await ask(checkout, hashOf('TRX'), /^It brought 7\sTRX on Tron to the shop/);
  await ask(
    checkout,
    `https://tronscan.org/#/transaction/${hashOf('USDT')}`,
    /^It paid this payment: 1\.00\sUSDT on Tron\. Confirmations: 1 of 2\.$/,
  );
  expect(await checkout.element.getAttribute('status')).toBe('partially-paid');
  await inspect(page, 'transfer-checked');

  const other = await stage.createLocked('USDT', 'tron');
  await stage.send(other.payment, 2);
  await expect.poll(async () => (await stage.verify(other.payment.id)).receipts?.length).toBe(1);
  const theirs = (await stage.verify(other.payment.id)).receipts?.[0]?.txHash ?? '';
  await stage.sandbox('blocks', { network: 'tron', count: 1 });
  await ask(checkout, theirs, /^It is on Tron, but paid nothing to this address/);
});
