/** What a screen reader is told, word for word, as docs/widget.md lists it. */
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
import { successReply, useFakeApi } from './support/fake-api.js';
import { createdPayment, lockedPayment, paymentInState } from './support/payments.js';

const api = useFakeApi();

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

/** With plain spaces, as it is spoken. */
const plain = (text: string) => text.replace(/\s/g, ' ');

async function poll(element: CryptoCheckout, payment: Payment): Promise<void> {
  api.payment = payment;
  await element.refresh();
  await waitFor(() => textOf(element, 'heading') !== 'Loading…');
}

const clock = (locale: string, time: number) =>
  new Date(time).toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' });

/** The whole way, in the order in which it is said. */
const ways: Readonly<Record<string, (time: string) => readonly string[]>> = {
  en: (time) => [
    'Starting the payment…',
    'Choose the coin you want to pay with.',
    'Choose the network you will send USDT on.',
    `Send exactly 3.25 USDT on Tron before ${time}.`,
    `1.00 USDT seen, 0.00 USDT confirmed. Send the remaining 2.25 USDT (about NGN 3,461.54) before ${time}.`,
    '3.25 USDT seen: 1 of 2 confirmations. You may close this page; the shop is told.',
    'The shop has received 3.25 USDT. Thank you.',
  ],
  fr: (time) => [
    'Ouverture du paiement…',
    'Choisissez la crypto avec laquelle vous voulez payer.',
    'Choisissez le réseau sur lequel vous enverrez USDT.',
    `Envoyez exactement 3,25 USDT sur Tron avant ${time}.`,
    `1,00 USDT détectés, 0,00 USDT confirmés. Envoyez les 2,25 USDT restants (environ 3 461,54 NGN) avant ${time}.`,
    '3,25 USDT détectés : 1 confirmation sur 2. Vous pouvez fermer cette page ; la boutique est prévenue.',
    'La boutique a reçu 3,25 USDT. Merci.',
  ],
};
/** Said only where the server takes its time. */
const passing = ['Getting the price…', 'Fixing your price', 'Calcul du prix…', 'Fixation de votre prix'];

describe('announcements', () => {
  for (const [locale, way] of Object.entries(ways)) {
    it(`follow the payment from the first tap to success in ${locale}, one for each step`, async () => {
      const expiresBy = Date.now() + 20 * 60_000;
      api.handlers.lock = () => {
        api.payment = lockedPayment({ expiresBy });
        return successReply(api.payment);
      };
      const element = await mount({ ...orderAttributes, locale });
      const said = listen(element);
      press(element);
      await waitFor(() => element.status === 'choosing-currency');
      await element.updateComplete;
      pickOption(element, 'USDT');
      await element.updateComplete;
      pickOption(element, 'tron');
      await waitFor(() => element.getAttribute('status') === 'awaiting-funds');
      const part = { amountSeen: 1, amountReceived: 0, amountDue: 2.25, expiresBy };
      await poll(element, paymentInState('partially_paid', part));
      await waitFor(() => hasPart(element, 'log'));
      const all = { amountSeen: 3.25, confirmations: 1, confirmationsRequired: 2 };
      await poll(element, paymentInState('confirming', all));
      await waitFor(() => hasPart(element, 'badge'));
      await poll(element, paymentInState('settled', { amountSeen: 3.25 }));
      const expected = way(clock(locale, expiresBy)).map(plain);
      await waitFor(() => plain(said.at(-1) ?? '') === expected.at(-1));
      expect(said.map(plain).filter((text) => !passing.includes(text))).to.deep.equal(expected);
    });
  }

  it('say what a check saw', async () => {
    api.payment = lockedPayment();
    const element = await mount({
      'public-key': 'pk_test_x',
      'payment-id': createdPayment().id,
      locale: 'en',
    });
    await waitFor(() => hasPart(element, 'check'));
    press(element, 'check-now');
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
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([...api.requests, ...api.offersAsked]).to.deep.equal([]);
  });
});

describe('a mistake in the tag', () => {
  it('is named with a test key, and kept from payers with a live one', async () => {
    const test = await mount({ ...orderAttributes, amount: '-5' });
    await waitFor(() => hasPart(test, 'error'));
    expect(textOf(test, 'error')).to.contain('amount is not a price: -5');
    const live = await mount({ ...orderAttributes, 'public-key': 'pk_live_x', amount: '-5' });
    await waitFor(() => hasPart(live, 'error'));
    expect(textOf(live, 'error')).to.equal('The shop’s payment settings are wrong. Please tell the shop.');
    expect(api.requests).to.have.length(0);
  });
});
