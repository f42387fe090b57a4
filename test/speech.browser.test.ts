/** What a screen reader is told, word for word, as docs/widget.md lists it; and what is copied. */
import { expect } from '@open-wc/testing';
import type { Payment } from '../src/contract/checkout.js';
import type { CryptoCheckout } from '../src/index.js';
import {
  getPart,
  hasPart,
  mount,
  orderAttributes,
  pickOption,
  press,
  textOf,
  waitFor,
} from './support/element.js';
import { FakeApi } from './support/fake-api.js';
import { createdPayment, lockedPayment, paymentInState } from './support/payments.js';

let api: FakeApi;

beforeEach(() => {
  localStorage.clear();
  api = new FakeApi().install();
});
afterEach(() => api.remove());

/** Records each sentence of the state, as a screen reader would speak it. */
function listen(element: CryptoCheckout): string[] {
  const said: string[] = [];
  const status = getPart(element, 'status');
  const hear = () => {
    const text = textOf(element, 'status');
    if (text !== '' && text !== said.at(-1)) said.push(text);
  };
  new MutationObserver(hear).observe(status, { subtree: true, childList: true, characterData: true });
  return said;
}

async function poll(element: CryptoCheckout, payment: Payment): Promise<void> {
  api.payment = payment;
  await element.refresh();
  await waitFor(() => textOf(element, 'heading') !== 'Loading…');
}

describe('announcements', () => {
  it('follow the payment from the first tap to success, one for each step', async () => {
    const element = await mount({ ...orderAttributes, locale: 'en' });
    const said = listen(element);
    press(element);
    await waitFor(() => element.status === 'choosing-currency');
    await element.updateComplete;
    pickOption(element, 'USDT');
    await element.updateComplete;
    pickOption(element, 'tron');
    await waitFor(() => element.getAttribute('status') === 'awaiting-funds');
    const expiresBy = Date.now() + 20 * 60_000;
    await poll(element, lockedPayment({ expiresBy }));
    const time = new Date(expiresBy).toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit' });
    await poll(
      element,
      paymentInState('partially_paid', { amountSeen: 1, amountReceived: 0, amountDue: 2.246754, expiresBy }),
    );
    await poll(
      element,
      paymentInState('confirming', { amountSeen: 3.246754, confirmations: 1, confirmationsRequired: 2 }),
    );
    await poll(element, paymentInState('settled', { amountSeen: 3.246754 }));
    await waitFor(() => said.at(-1)?.includes('Thank you') === true);
    const plain = said.map((text) => text.replaceAll('\u00a0', ' '));
    const passing = ['Getting the price…', 'Fixing the price…'];
    expect(plain.filter((text) => !passing.includes(text))).to.deep.equal([
      'Starting the payment…',
      'Choose the coin you want to pay with.',
      'Choose the network you will send USDT on.',
      `Send exactly 3.246754 USDT on Tron before ${time}.`,
      `1 USDT seen, 0 USDT confirmed. Send the remaining 2.246754 USDT (about NGN 3,460.00) before ${time}.`,
      '3.246754 USDT seen: 1 of 2 confirmations. You may close this page; the shop is told.',
      'The shop has received 3.246754 USDT. Thank you.',
    ]);
  });

  it('say what a check saw', async () => {
    api.payment = lockedPayment();
    const element = await mount({
      'public-key': 'pk_test_x',
      'payment-id': createdPayment().id,
      locale: 'en',
    });
    await waitFor(() => hasPart(element, 'check'));
    press(element);
    await element.updateComplete;
    expect(textOf(element, 'check')).to.equal('Checking…');
    await waitFor(() => /^Nothing seen yet, checked \d+:\d\d:\d\d [AP]M$/.test(textOf(element, 'check')));
  });
});

describe('a secret key', () => {
  it('is refused before any request', async () => {
    const element = await mount({ ...orderAttributes, 'public-key': 'sk_test_x' });
    expect(textOf(element, 'error')).to.equal('This is a secret key. Revoke it now.');
    await element.start();
    expect(element.status).to.equal('idle');
    expect(api.requests).to.have.length(0);
  });
});

describe('a mistake in the tag', () => {
  it('is named with a test key, and kept from payers with a live one', async () => {
    const test = await mount({ ...orderAttributes, amount: '-5' });
    await waitFor(() => hasPart(test, 'error'));
    expect(textOf(test, 'error')).to.contain('amount is not a price: -5');
    const live = await mount({ ...orderAttributes, 'public-key': 'pk_live_x', amount: '-5' });
    await waitFor(() => hasPart(live, 'error'));
    expect(textOf(live, 'error')).to.equal(
      'The shop’s payment settings are not right. Please tell the shop.',
    );
    expect(api.requests).to.have.length(0);
  });
});

describe('what is copied', () => {
  const clipboard = { copied: [] as string[] };
  beforeEach(() => {
    clipboard.copied = [];
    const writeText = (text: string) => Promise.resolve(void clipboard.copied.push(text));
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
  });
  afterEach(() => void Reflect.deleteProperty(navigator, 'clipboard'));

  for (const locale of ['en', 'fr', 'de', 'ar', 'sw', 'zh', 'ha', 'yo', 'ig', 'es', 'pt']) {
    it(`is a plain decimal in ${locale}`, async () => {
      for (const [amount, plain] of [
        [1e-8, '0.00000001'],
        [0.0000007, '0.0000007'],
        [1234567.89, '1234567.89'],
      ] as const) {
        api.payment = lockedPayment({ amount, amountDue: amount });
        const element = await mount({ 'public-key': 'pk_test_x', 'payment-id': createdPayment().id, locale });
        await waitFor(() => hasPart(element, 'copy-amount'));
        press(element, 'copy-amount');
        await waitFor(() => clipboard.copied.at(-1) === plain);
        element.remove();
      }
      expect(clipboard.copied).to.have.length(3);
    });
  }
});
