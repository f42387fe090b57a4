/** Endings for the payer: the shop to contact, a receipt to keep, and never an address to pay when it is too late. */
import { expect } from '@open-wc/testing';
import type { Payment } from '../src/contract/checkout.js';
import type { CryptoCheckout } from '../src/index.js';
import {
  getPart,
  hasPart,
  mount,
  orderAttributes,
  press,
  recordEvents,
  textOf,
  waitFor,
  waitForStatus,
} from './support/element.js';
import { FakeApi } from './support/fake-api.js';
import { createdPayment, lockedPayment, paymentInState, receiptOf } from './support/payments.js';

let api: FakeApi;
beforeEach(() => {
  localStorage.clear();
  api = new FakeApi().install();
});
afterEach(() => api.remove());

async function show(payment: Payment): Promise<CryptoCheckout> {
  api.payment = payment;
  const element = await mount({ 'public-key': 'pk_test_x', 'payment-id': payment.id, locale: 'en' });
  await waitFor(() => element.payment !== undefined && textOf(element, 'heading') !== 'Loading…');
  return element;
}

const brandingWith = (supportUrl: string) => {
  const time = '2026-01-01T00:00:00.000Z';
  const names = { id: 'm', businessName: 'Nightjar Lanterns', name: 'Nightjar Lanterns', logo: '' };
  return { ...names, supportUrl, createdAt: time, updatedAt: time };
};

for (const [supportUrl, expected] of [
  ['https://shop.example/help', 'https://shop.example/help'],
  ['mailto:help@shop.example', `mailto:help@shop.example?subject=${lockedPayment().id}`],
  ['javascript:alert(1)', undefined],
] as const) {
  it(`a shop that holds money is contacted at ${supportUrl.split(':')[0]}`, async () => {
    const branding = brandingWith(supportUrl);
    const element = await show(paymentInState('settled_over', { amountSeen: 5, branding }));
    await waitFor(() => hasPart(element, 'receipt'));
    const link = hasPart(element, 'support') ? getPart(element, 'support').getAttribute('href') : undefined;
    expect(link).to.equal(expected);
  });
}

it('if money came too late, the main action leads to the shop, with the payment’s id to copy', async () => {
  const branding = brandingWith('https://shop.example/help');
  const element = await show(paymentInState('expired_late', { amountSeen: 3, branding }));
  await waitFor(() => hasPart(element, 'copy-id'));
  expect(textOf(element, 'payment-id')).to.equal(lockedPayment().id);
  expect(textOf(element, 'action')).to.equal('Contact the shop');
  const { open } = window;
  const opened: unknown[] = [];
  try {
    window.open = (...all) => (opened.push(all), null);
    press(element);
  } finally {
    window.open = open;
  }
  expect(opened).to.deep.equal([['https://shop.example/help', '_blank', 'noopener']]);
});

it('an excess is shown as a separate number, with a message for the shop that has no link', async () => {
  const copied: string[] = [];
  const writeText = (text: string) => Promise.resolve(void copied.push(text));
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
  const receipts = [receiptOf({ amount: 5, txHash: 'a1b2c3', counts: true })];
  const element = await show(paymentInState('settled_over', { amountSeen: 5, receipts }));
  await waitFor(() => hasPart(element, 'excess'));
  expect(textOf(element, 'excess')).to.match(/^1\.75\sUSDT$/);
  press(element, 'copy-message');
  await waitFor(() => copied.length === 1);
  const message = copied[0]?.replaceAll('\u00a0', ' ');
  for (const line of [`Payment ID: ${lockedPayment().id}`, 'Paid: 5.00 USDT', 'Excess: 1.75 USDT', 'a1b2c3'])
    expect(message).to.contain(line);
  Reflect.deleteProperty(navigator, 'clipboard');
});

it('a late payment without confirmations shows no warning, and asks for nothing again', async () => {
  const receipts = [receiptOf({ currency: 'USDT', amount: 3.25, status: 'seen', counts: true })];
  const element = await show(paymentInState('expired', { amountSeen: 3.25, receipts }));
  await waitFor(() => textOf(element, 'heading') === 'Watching the network');
  expect(textOf(element, 'status').replaceAll('\u00a0', ' ')).to.equal(
    '3.25 USDT seen. It came after the time limit; the shop will decide once it is confirmed.',
  );
  expect(textOf(element, 'transfer')).to.match(/3\.25\sUSDT/);
  for (const name of ['action', 'new-payment']) expect(hasPart(element, name), name).to.equal(false);
});

it('a part that came in time counts when the time is up, and its hash is shown', async () => {
  const receipts = [receiptOf({ amount: 1, status: 'seen', counts: true })];
  const element = await show(
    paymentInState('partially_paid', {
      amountSeen: 1,
      amountDue: 2.25,
      receipts,
      expiresBy: Date.now() - 1000,
    }),
  );
  await waitFor(() => hasPart(element, 'transfer'));
  expect(textOf(element, 'status').replaceAll('\u00a0', ' ')).to.equal(
    '1.00 USDT of 3.25 USDT seen in time. It counts. The last check is running. Do not send anything now.',
  );
  expect(hasPart(element, 'address')).to.equal(false);
});

it('before the full price is asked for again, the payer sees the amount that the shop has already', async () => {
  const element = await show(paymentInState('expired_partial', { amountSeen: 1 }));
  await waitFor(() => hasPart(element, 'new-payment'));
  press(element, 'new-payment');
  await waitFor(() => hasPart(element, 'question'));
  expect(textOf(element, 'question').replaceAll('\u00a0', ' ')).to.contain(
    'The shop already has 1.00 USDT. A new payment asks for the full price once more.',
  );
  expect(hasPart(element, 'new-payment')).to.equal(false);
});

it('a receipt is shown on a page of the server, and saved as text with the whole hash', async () => {
  const txHash = '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d';
  const receipts = [
    {
      currency: 'USDT',
      network: 'tron',
      amount: 3.25,
      txHash,
      explorerUrl: '',
      confirmations: 2,
      requiredConfirmations: 2,
      firstSeenAt: '2026-01-01T00:00:40.000Z',
      status: 'confirmed' as const,
      counts: true,
    },
  ];
  const element = await show(paymentInState('settled', { amountSeen: 3.25, receipts }));
  await waitFor(() => hasPart(element, 'save'));
  expect(getPart(element, 'receipt-link').getAttribute('href')).to.equal(
    `https://pay.example.com/receipt/${lockedPayment().id}`,
  );
  const saved: { name: string; blob: Blob }[] = [];
  let blob: Blob | undefined;
  const { createObjectURL } = URL;
  const onSave = (event: MouseEvent) => {
    const [link] = event.composedPath();
    if (!(link instanceof HTMLAnchorElement) || !link.download || !blob) return;
    event.preventDefault();
    saved.push({ name: link.download, blob });
  };
  const { click } = HTMLAnchorElement.prototype;
  try {
    URL.createObjectURL = (made: Blob) => {
      blob = made;
      return createObjectURL.call(URL, made);
    };
    // The link is never in the document, so its click does not bubble to it.
    HTMLAnchorElement.prototype.click = function (this: HTMLAnchorElement) {
      this.addEventListener('click', onSave, { once: true });
      click.call(this);
    };
    press(element, 'save');
  } finally {
    URL.createObjectURL = createObjectURL;
    HTMLAnchorElement.prototype.click = click;
  }
  expect(saved.map(({ name }) => name)).to.deep.equal(['order-42.txt']);
  const text = (await saved[0]?.blob.text())?.replaceAll('\u00a0', ' ');
  expect(text).to.contain(txHash);
  expect(text).to.contain('Paid: 3.25 USDT');
  expect(text).to.contain('Order: order-42');
});

it('a reversal reaches a page that shows the success', async () => {
  const element = await show(paymentInState('settled', { amountSeen: 3.25 }));
  const events = recordEvents(element);
  expect(document.title).to.equal('✓ Paid');
  api.payment = paymentInState('reversed');
  await element.refresh();
  await waitForStatus(element, 'error');
  expect(textOf(element, 'heading')).to.equal('Payment reversed');
  expect(events).to.deep.equal(['error']);
  expect(document.title).not.to.equal('✓ Paid');
});

it('a reversal of coins that may still arrive offers no second payment', async () => {
  const receipts = [receiptOf({ currency: 'USDT', amount: 3.25, counts: true })];
  const element = await show(paymentInState('reversed', { amountSeen: 3.25, receipts }));
  await waitFor(() => hasPart(element, 'payment-id'));
  expect(textOf(element, 'status')).to.contain('It may still arrive: do not send again.');
  expect(textOf(element, 'action')).to.equal('Copy message for the shop');
  expect(hasPart(element, 'new-payment')).to.equal(false);
  api.payment = paymentInState('settled');
  await element.refresh();
  await waitForStatus(element, 'success');
});

it('a reversal with nothing under way says where the rest is, and offers a new payment', async () => {
  const receipts = [
    receiptOf({ currency: 'USDT', amount: 2, counts: true, status: 'confirmed' }),
    receiptOf({ currency: 'USDT', amount: 1.25, counts: true, status: 'lost' }),
  ];
  const element = await show(paymentInState('reversed', { amountSeen: 2, receipts }));
  await waitFor(() => hasPart(element, 'payment-id'));
  expect(textOf(element, 'status')).not.to.contain('do not send again');
  expect(textOf(element, 'action')).to.equal('Copy message for the shop');
  expect(hasPart(element, 'new-payment')).to.equal(true);
});

it('when the time is up after a part, nothing can be paid any more', async () => {
  const element = await show(
    paymentInState('partially_paid', { amountSeen: 1, expiresBy: Date.now() + 1_000 }),
  );
  expect(element.status).to.equal('partially-paid');
  await waitFor(() => textOf(element, 'status').includes('The last check is running'));
  for (const name of [
    'address',
    'qr',
    'qr-panel',
    'amount',
    'copy-amount',
    'copy-address',
    'wallet',
    'exchange',
  ])
    expect(hasPart(element, name), name).to.equal(false);
});

it('one tap leads to the address where the page names coin and network', async () => {
  api.payment = createdPayment();
  const element = await mount({ ...orderAttributes, currency: 'USDT', network: 'tron', locale: 'en' });
  const events = recordEvents(element);
  press(element);
  await waitForStatus(element, 'awaiting-funds');
  expect(hasPart(element, 'address')).to.equal(true);
  expect(events).to.deep.equal(['created', 'currency-set', 'locked']);
});
