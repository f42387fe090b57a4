/** A screen reader's announcements, word for word, as docs/widget.md lists them. */
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
import { createdPayment, lockedPayment, paymentInState, receiptOf } from './support/payments.js';

const api = useFakeApi();

/** Records each sentence of the state, as a screen reader would speak it. */
function listen(element: CryptoCheckout): string[] {
  const announced: string[] = [];
  const status = getPart(element, 'status');
  const hear = () => {
    const text = textOf(element, 'status');
    if (text !== '' && text !== announced.at(-1)) announced.push(text);
  };
  new MutationObserver(hear).observe(status, { subtree: true, childList: true, characterData: true });
  return announced;
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

/** All announcements of a payment, in order. */
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
const passing = ['Getting the price…', 'Locking your rate…', 'Calcul du prix…', 'Blocage de votre cours…'];

describe('announcements', () => {
  for (const [locale, way] of Object.entries(ways)) {
    it(`The announcements follow the payment from the first tap to success in ${locale}, one for each step`, async () => {
      const expiresBy = Date.now() + 20 * 60_000;
      api.handlers.lock = () => {
        api.payment = lockedPayment({ expiresBy });
        return successReply(api.payment);
      };
      const element = await mount({ ...orderAttributes, locale });
      const announced = listen(element);
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
      await waitFor(() => plain(announced.at(-1) ?? '') === expected.at(-1));
      expect(announced.map(plain).filter((text) => !passing.includes(text))).to.deep.equal(expected);
    });
  }

  it('A check says what it saw', async () => {
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

/** The text that is read of a part: without its hidden parts, or its label. */
function readOf(element: CryptoCheckout, name: string): string {
  const part = getPart(element, name);
  const copy = part.cloneNode(true) as HTMLElement;
  copy.querySelectorAll('[aria-hidden="true"]').forEach((hidden) => hidden.remove());
  return part.ariaLabel ?? copy.textContent.replace(/\s+/g, ' ').trim();
}

/** The live region that speaks a part when it changes; empty if nothing does. */
function liveOf(element: CryptoCheckout, name: string): string {
  const region = getPart(element, name).closest('[aria-live], [role="status"], [role="alert"]');
  return region?.getAttribute('aria-live') ?? region?.role ?? '';
}

async function open(payment: Payment): Promise<CryptoCheckout> {
  api.payment = payment;
  const element = await mount({ 'public-key': 'pk_test_x', 'payment-id': payment.id, locale: 'en' });
  await waitFor(() => element.payment !== undefined && textOf(element, 'heading') !== 'Loading…');
  return element;
}

describe('read word for word', () => {
  let copied: string[];
  beforeEach(() => {
    copied = [];
    const writeText = (text: string) => Promise.resolve(void copied.push(plain(text)));
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
  });
  afterEach(() => {
    Reflect.deleteProperty(navigator, 'clipboard');
  });

  it('The line of the offer is read word for word, not announced, and its coins are pictures for the eye', async () => {
    const element = await mount({ ...orderAttributes, locale: 'en' });
    await waitFor(() => readOf(element, 'offer') !== '');
    expect(readOf(element, 'offer')).to.equal('8 coins · no account · price fixed for 30 min');
    expect(liveOf(element, 'offer')).to.equal('');
    const marks = [...getPart(element, 'offer').querySelectorAll('svg')];
    expect(marks.map(({ ariaHidden }) => ariaHidden)).to.deep.equal(Array(5).fill('true'));
  });

  for (const [seconds, word] of [
    [600, ''],
    [290, 'Ending soon'],
    [50, 'Last minute'],
  ] as const) {
    it(`The timer with ${seconds} s left has words, not only a colour: ${word || 'only the time'}`, async () => {
      const element = await open(lockedPayment({ expiresBy: Date.now() + seconds * 1000 }));
      await waitFor(() => hasPart(element, 'countdown'));
      const timer = getPart(element, 'countdown');
      expect([timer.role, timer.ariaLabel]).to.deep.equal(['timer', 'Time left']);
      const around = timer.parentElement;
      expect(around?.querySelector('small')?.textContent ?? '').to.equal(word);
      expect(around?.querySelector('svg')?.ariaHidden).to.equal('true');
      // A screen reader would speak each second of it.
      expect(liveOf(element, 'countdown')).to.equal('');
    });
  }

  it('The payment on the phone is read as a title, an image and a sentence, none of them announced', async () => {
    const element = await open(lockedPayment());
    await waitFor(() => hasPart(element, 'phone'));
    getPart(element, 'phone').querySelector('summary')?.click();
    await waitFor(() => hasPart(element, 'phone-qr'));
    expect(textOf(element, 'phone')).to.equal(
      'Pay on your phone Scan it with your phone’s camera, not with a wallet. This page will show the payment.',
    );
    const code = getPart(element, 'phone-qr');
    expect([code.role, readOf(element, 'phone-qr')]).to.deep.equal(['img', 'QR code: Pay on your phone']);
    expect(liveOf(element, 'phone')).to.equal('');
  });

  it('The check of a transfer is read as its field, its button, and an answer that is announced', async () => {
    const element = await open(lockedPayment());
    await waitFor(() => hasPart(element, 'transfer-check'));
    getPart(element, 'transfer-check').querySelector('summary')?.click();
    await waitFor(() => hasPart(element, 'transfer-hash'));
    const field = getPart(element, 'transfer-hash') as HTMLInputElement;
    expect([...(field.labels ?? [])].map(({ textContent }) => textContent)).to.deep.equal([
      'Transaction hash or explorer link',
    ]);
    expect(readOf(element, 'check-transfer')).to.equal('Check');
    expect(field.getAttribute('aria-describedby')).to.equal(getPart(element, 'transfer-answer').id);
    press(element, 'check-transfer');
    await waitFor(() => readOf(element, 'transfer-answer') !== '');
    expect(readOf(element, 'transfer-answer')).to.equal(
      'That contains no transaction hash: 64 digits and letters from a to f, in the history of your wallet or exchange.',
    );
    expect(liveOf(element, 'transfer-answer')).to.equal('polite');
  });

  it('The excess and the message for the shop are read word for word, and the message’s copy is announced', async () => {
    const receipts = [
      receiptOf({ currency: 'USDT', amount: 5, txHash: 'a1b2c3', counts: true, status: 'confirmed' }),
    ];
    const element = await open(paymentInState('settled_over', { amountSeen: 5, receipts }));
    await waitFor(() => hasPart(element, 'copy-message'));
    expect(plain(readOf(element, 'status'))).to.equal(
      'You sent 5.00 USDT; 3.25 USDT was due. The shop has the excess: ask for it back.',
    );
    expect(readOf(element, 'copy-message')).to.equal('Copy message for the shop');
    press(element, 'copy-message');
    await waitFor(() => copied.length === 1);
    await waitFor(() => readOf(element, 'notice') === 'Copied.');
    expect(liveOf(element, 'notice')).to.equal('polite');
    expect(copied).to.deep.equal([
      plain(
        [
          'Order: order-42',
          `Payment ID: ${lockedPayment().id}`,
          'Total: 3.25 USDT',
          'Paid: 5.00 USDT',
          'Excess: 1.75 USDT',
          'Transaction: 5.00 USDT a1b2c3',
        ].join('\n'),
      ),
    ]);
  });

  it('The receipt is read as the amount paid, "Details", "Receipt" and "Save"', async () => {
    const element = await open(paymentInState('settled', { amountSeen: 3.25 }));
    await waitFor(() => hasPart(element, 'save'));
    expect(plain(readOf(element, 'status'))).to.equal('The shop has received 3.25 USDT. Thank you.');
    expect(plain(readOf(element, 'paid'))).to.match(/^3\.25 USDT .*, \d+:\d\d [AP]M$/);
    expect(getPart(element, 'receipt').querySelector('summary')?.textContent).to.equal('Details');
    const link = getPart(element, 'receipt-link');
    expect([link.tagName, readOf(element, 'receipt-link')]).to.deep.equal(['A', 'Receipt']);
    const save = getPart(element, 'save');
    expect([save.tagName, readOf(element, 'save')]).to.deep.equal(['BUTTON', 'Save']);
  });

  for (const [what, payment, sentence] of [
    [
      'late and unconfirmed',
      () =>
        paymentInState('expired', {
          amountSeen: 3.25,
          receipts: [receiptOf({ currency: 'USDT', amount: 3.25, counts: true })],
        }),
      '3.25 USDT seen. It came after the time limit; the shop will decide once it is confirmed.',
    ],
    [
      'late and too little',
      () => paymentInState('expired_late', { amountSeen: 3 }),
      '3.00 USDT came too late and does not cover the price. The shop has it: ask what happens next.',
    ],
    [
      'short',
      () => paymentInState('expired_partial', { amountSeen: 1 }),
      '1.00 USDT of 3.25 USDT arrived in time. The shop has it: ask for it back, or ask how to pay the rest.',
    ],
    [
      'seen in time, and short',
      () =>
        paymentInState('partially_paid', { amountSeen: 1, amountDue: 2.25, expiresBy: Date.now() - 1000 }),
      '1.00 USDT of 3.25 USDT seen in time. It counts. The last check is running. Do not send anything now.',
    ],
    [
      'late, and accepted',
      () => paymentInState('settled_late', { amountSeen: 3.25 }),
      'Your payment came after the time limit, and the shop has accepted it.',
    ],
  ] as const) {
    it(`Money that is ${what} is read in the region of the status`, async () => {
      const element = await open(payment());
      await waitFor(() => plain(readOf(element, 'status')) === sentence, sentence);
      expect(liveOf(element, 'status')).to.equal('status');
    });
  }
});

describe('a secret key', () => {
  it('A secret key is refused before any request', async () => {
    const element = await mount({ ...orderAttributes, 'public-key': 'sk_test_x' });
    expect(textOf(element, 'error')).to.equal('This is a secret key. Revoke it now.');
    await element.start();
    expect(element.status).to.equal('idle');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([...api.requests, ...api.offersAsked]).to.deep.equal([]);
  });
});

describe('a mistake in the tag', () => {
  it('A mistake in the tag is named with a test key, and kept from payers with a live one', async () => {
    const test = await mount({ ...orderAttributes, amount: '-5' });
    await waitFor(() => hasPart(test, 'error'));
    expect(textOf(test, 'error')).to.contain('amount is not a price: -5');
    const live = await mount({ ...orderAttributes, 'public-key': 'pk_live_x', amount: '-5' });
    await waitFor(() => hasPart(live, 'error'));
    expect(textOf(live, 'error')).to.equal('The shop’s payment settings are wrong. Please contact the shop.');
    expect(api.requests).to.have.length(0);
  });
});
