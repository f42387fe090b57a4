/** The QR code on the screen holds what the API gave, for every way to pay, and a phone can read it in any theme. */
import { decimalOf, type Payment } from 'crypto-checkout/contract';
import { expect, test } from 'vitest';
import { checkoutOn, type Checkout } from './checkout.js';
import { qrReader, useStage } from './stage.js';

const stage = useStage();

/** The expected content for a wallet: BIP-21 with the amount where wallets agree on it, elsewhere the bare address. */
function expectedText({ currency, currencyNetwork, addressInformation, amountDue = 0 }: Payment): string {
  const address = addressInformation?.address ?? '';
  const scheme = { BTC: 'bitcoin', LTC: 'litecoin' }[`${currency}`];
  expect(address).not.toBe('');
  expect(addressInformation?.network).toBe(currencyNetwork);
  return scheme ? `${scheme}:${address}?amount=${decimalOf(amountDue)}` : address;
}

async function expectQr(
  checkout: Checkout,
  read: (picture: Buffer) => Promise<string | undefined>,
  payment: Payment,
) {
  const page = checkout.element.page();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const picture = await checkout.part('qr').screenshot();
    expect(await read(picture), `${payment.currency} on ${payment.currencyNetwork}, ${colorScheme}`).toBe(
      expectedText(payment),
    );
  }
}

test('every coin on every network shows its own address', async () => {
  const { data: currencies } = await stage.merchant.currencies.list();
  const pairs = currencies.flatMap(({ code, networks }) =>
    networks.map((network) => [code, network.code] as const),
  );
  expect(pairs.length).toBeGreaterThanOrEqual(13);
  const read = await qrReader(stage);
  const page = await stage.page();
  const checkout = checkoutOn(page);
  const addresses = new Set<string>();
  for (const [currency, network] of pairs) {
    const { payment, url } = await stage.createLocked(currency, network);
    await page.goto(url);
    await checkout.reach('awaiting-funds');
    await expectQr(checkout, read, payment);
    expect(await checkout.address()).toBe(payment.addressInformation?.address);
    expect(await checkout.part('amount').innerText()).toContain(currency);
    addresses.add(await checkout.address());
  }
  expect(addresses.size, 'each payment has an address of its own').toBe(pairs.length);
});

test('a second code opens the payment on a phone, and the desktop follows what is paid there', async () => {
  const read = await qrReader(stage);
  const { payment, url } = await stage.createLocked('USDT', 'tron');
  const desktop = checkoutOn(await stage.page());
  await desktop.element.page().goto(url);
  await desktop.part('phone').locator('summary').click();
  const pageUrl = await read(await desktop.part('phone-qr').screenshot());
  expect(pageUrl).toBe(payment.pageUrl);
  const phone = checkoutOn(await stage.page());
  await phone.element.page().goto(pageUrl ?? '');
  await phone.reach('awaiting-funds');
  expect(await phone.address()).toBe(payment.addressInformation?.address);
  await stage.send(payment, payment.amount ?? 0);
  await Promise.all([phone.reach('success'), desktop.reach('success')]);
});

test.each(['BTC', 'LTC'])('after a part of the %s, the code asks for the rest', async (currency) => {
  const read = await qrReader(stage);
  const { payment, url } = await stage.createLocked(currency, currency === 'BTC' ? 'bitcoin' : 'litecoin');
  const checkout = checkoutOn(await stage.page());
  await checkout.element.page().goto(url);
  await stage.send(payment, '0.0001');
  await checkout.reach('partially-paid');
  const partial = await stage.verify(payment.id);
  expect(partial.amountSeen).toBe(0.0001);
  expect(partial.amountDue).toBeLessThan(payment.amount ?? 0);
  await expectQr(checkout, read, partial);
});
