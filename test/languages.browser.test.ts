/** The languages as payers see and hear them: announcements word for word, directions, overrides, and plain copies. */
import { expect, fixture, html } from '@open-wc/testing';
import type { Payment } from '../src/contract/checkout.js';
import type { CryptoCheckout } from '../src/index.js';
import { codes } from '../src/messages/codes.js';
import { formatAmount } from '../src/money/format.js';
import { priceText } from '../src/money/price.js';
import { amounts, currencies, styles } from './money/price-samples.js';
import {
  createElement,
  getPart,
  goToAddress,
  hasPart,
  mount,
  orderAttributes,
  pickOption,
  press,
  textOf,
  waitFor,
} from './support/element.js';
import { failureReply, useFakeApi } from './support/fake-api.js';
import { createdPayment, lockedPayment, paymentInState, receiptOf } from './support/payments.js';

const api = useFakeApi();

const attributes = { 'public-key': 'pk_test_x', 'payment-id': createdPayment().id };

/** Shows a payment from its beginning, in a language. */
async function mountPayment(payment: Payment, locale: string): Promise<CryptoCheckout> {
  api.payment = payment;
  const element = await mount({ ...attributes, locale });
  await waitFor(() => !['idle', 'creating'].includes(element.status));
  await waitFor(() => hasPart(element, 'log'));
  return element;
}

const card = (element: CryptoCheckout) => getPart(element, 'card');
const deadline = lockedPayment().expiresBy ?? 0;
const clock = (locale: string, time = deadline) =>
  new Date(time).toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' }).replace(/\s+/g, ' ');

type Spoken = readonly [name: string, payment: Payment, en: string, fr: string, ar: string];

const locked = { expiresBy: deadline };
/** One announcement for every state, word for word. In Arabic, `‹…›` stands for the isolates around a value. */
const announcements: readonly Spoken[] = [
  [
    'the address',
    lockedPayment(locked),
    `Send exactly 3.25 USDT on Tron before ${clock('en')}.`,
    `Envoyez exactement 3,25 USDT sur Tron avant ${clock('fr')}.`,
    `أرسل ‹3.25 USDT› بالضبط على ‹Tron› قبل ‹${clock('ar')}›.`,
  ],
  [
    'a part',
    paymentInState('partially_paid', { ...locked, amountSeen: 2, amountReceived: 1, amountDue: 1.25 }),
    `2.00 USDT seen, 1.00 USDT confirmed. Send the remaining 1.25 USDT (about NGN 1,923.08) before ${clock('en')}.`,
    `2,00 USDT détectés, 1,00 USDT confirmés. Envoyez les 1,25 USDT restants (environ 1 923,08 NGN) avant ${clock('fr')}.`,
    `رُصد ‹2.00 USDT›، وتأكد ‹1.00 USDT›. أرسل المتبقي ‹1.25 USDT› (نحو ‹1,923.08 NGN›) قبل ‹${clock('ar')}›.`,
  ],
  [
    'confirmations',
    paymentInState('confirming', { amountSeen: 3.25, confirmations: 1, confirmationsRequired: 12 }),
    '3.25 USDT seen: 1 of 12 confirmations. You may close this page; the shop is told.',
    '3,25 USDT détectés : 1 confirmation sur 12. Vous pouvez fermer cette page ; la boutique est prévenue.',
    'رُصد ‹3.25 USDT›: 1 من أصل 12 تأكيدًا. يمكنك إغلاق هذه الصفحة، وسيُبلَّغ المتجر.',
  ],
  [
    'success',
    paymentInState('settled', { amountSeen: 3.25, amountReceived: 3.25 }),
    'The shop has received 3.25 USDT. Thank you.',
    'La boutique a reçu 3,25 USDT. Merci.',
    'استلم المتجر ‹3.25 USDT›. شكرًا لك.',
  ],
  [
    'too much',
    paymentInState('settled_over', { amountSeen: 4, amountReceived: 4 }),
    'You sent 4.00 USDT; 3.25 USDT was due. The shop has the excess: ask for it back.',
    'Vous avez envoyé 4,00 USDT au lieu de 3,25 USDT. La boutique a l’excédent : demandez-lui son retour.',
    'أرسلت ‹4.00 USDT›، وكان المطلوب ‹3.25 USDT›. الزيادة لدى المتجر: اطلب إعادتها.',
  ],
  [
    'nothing in time',
    paymentInState('expired', { receipts: [] }),
    'Nothing arrived in time. Nothing was charged. Do not send to the old address.',
    'Rien n’est arrivé à temps. Rien n’a été débité. N’envoyez rien à l’ancienne adresse.',
    'لم يصل شيء في الوقت المحدد. لم يُخصم شيء. لا ترسل إلى العنوان القديم.',
  ],
  [
    'too little in time',
    paymentInState('expired_partial', { amountSeen: 1, amountReceived: 1 }),
    '1.00 USDT of 3.25 USDT arrived in time. The shop has it: ask for it back, or ask how to pay the rest.',
    '1,00 USDT sur 3,25 USDT sont arrivés à temps. La boutique les a : demandez leur retour, ou comment payer le reste.',
    'وصل ‹1.00 USDT› من ‹3.25 USDT› في الوقت المحدد. المبلغ لدى المتجر: اطلب إعادته، أو اسأل كيف تدفع الباقي.',
  ],
  [
    'money that came late, and is accepted',
    paymentInState('settled_late', { amountSeen: 3.25, amountReceived: 3.25 }),
    'Your payment came after the time limit, and the shop has accepted it.',
    'Votre paiement est arrivé après le délai, et la boutique l’a accepté.',
    'وصلت دفعتك بعد انتهاء المهلة، وقبلها المتجر.',
  ],
  [
    'money that came too late',
    paymentInState('expired_late', { amountSeen: 1, amountReceived: 1 }),
    '1.00 USDT came too late and does not cover the price. The shop has it: ask what happens next.',
    '1,00 USDT sont arrivés trop tard et ne couvrent pas le prix. La boutique les a : demandez-lui la suite.',
    'وصل ‹1.00 USDT› متأخرًا ولا يغطي السعر. المبلغ لدى المتجر: اسأله عن الخطوة التالية.',
  ],
  [
    'the end of the time, by a server that does not list what arrived',
    paymentInState('expired', { receipts: undefined }),
    'Do not send to the old address.',
    'N’envoyez rien à l’ancienne adresse.',
    'لا ترسل إلى العنوان القديم.',
  ],
  [
    'a wrong coin',
    paymentInState('invalid', { receipts: [receiptOf()] }),
    'The shop received 10 TRX instead of USDT. Ask for it back.',
    'La boutique a reçu 10 TRX au lieu de USDT. Demandez-lui le retour.',
    'استلم المتجر ‹10 TRX› بدلًا من ‹USDT›. اطلب إعادته.',
  ],
  [
    'a failure without a reason',
    lockedPayment({ status: 'error', state: undefined, expiresBy: Date.now() + 3_600_000 }),
    'The payment could not be completed. Ask the shop what happens to anything you sent.',
    'Le paiement n’a pas pu aboutir. Demandez à la boutique ce que devient ce que vous avez envoyé.',
    'تعذّر إكمال الدفع. اسأل المتجر عن مصير ما أرسلته.',
  ],
  [
    'a reversal',
    paymentInState('reversed'),
    'The network reversed your payment after it was complete. Ask your wallet or exchange what happened.',
    'Le réseau a repris votre paiement alors qu’il était terminé. Demandez à votre portefeuille ou plateforme ce qui s’est passé.',
    'سحبت الشبكة دفعتك بعد اكتمالها. اسأل محفظتك أو منصتك عمّا حدث.',
  ],
  [
    'a cancellation before the price was fixed',
    paymentInState('cancelled', { isCurrencyLocked: false }),
    'Nothing was sent, and nothing is owed.',
    'Rien n’a été envoyé, et rien n’est dû.',
    'لم يُرسل شيء، ولا شيء مستحق عليك.',
  ],
  [
    'money after a cancellation',
    paymentInState('cancelled_paid', { amountSeen: 2, amountReceived: 2 }),
    '2.00 USDT came, but the payment is cancelled. The shop has it: ask what happens next.',
    '2,00 USDT sont arrivés, mais le paiement est annulé. La boutique les a : demandez-lui la suite.',
    'وصل ‹2.00 USDT›، لكن الدفعة أُلغيت. المبلغ لدى المتجر: اسأله عن الخطوة التالية.',
  ],
  [
    'right and wrong coins for a cancelled payment',
    paymentInState('cancelled_paid', { amountSeen: 2, amountReceived: 2, receipts: [receiptOf()] }),
    '2.00 USDT, 10 TRX came, but the payment is cancelled. The shop has it: ask what happens next.',
    '2,00 USDT, 10 TRX sont arrivés, mais le paiement est annulé. La boutique les a : demandez-lui la suite.',
    'وصل ‹2.00 USDT, 10 TRX›، لكن الدفعة أُلغيت. المبلغ لدى المتجر: اسأله عن الخطوة التالية.',
  ],
  [
    'a reversal of what may still arrive',
    paymentInState('reversed', {
      receipts: [receiptOf({ currency: 'USDT', amount: 3.25, counts: true })],
    }),
    'The network reversed your payment after it was complete. It may still arrive: do not send again.',
    'Le réseau a repris votre paiement alors qu’il était terminé. Il peut encore arriver : n’envoyez pas une seconde fois.',
    'سحبت الشبكة دفعتك بعد اكتمالها. قد تصل من جديد: لا ترسل مرة أخرى.',
  ],
  [
    'the last check, when the time is up',
    lockedPayment({ expiresBy: Date.now() - 1000 }),
    'The last check is running. Do not send anything now.',
    'Dernière vérification en cours. N’envoyez plus rien.',
    'الفحص الأخير جارٍ. لا ترسل شيئًا الآن.',
  ],
  [
    'a cancellation',
    paymentInState('cancelled'),
    'Do not send to the old address.',
    'N’envoyez rien à l’ancienne adresse.',
    'لا ترسل إلى العنوان القديم.',
  ],
];

describe('announcements', () => {
  for (const [name, payment, en, fr, ar] of announcements) {
    it(`The announcement for ${name} is word for word in English, French and Arabic`, async () => {
      for (const [locale, expected] of [
        ['en', en],
        ['fr', fr],
        ['ar', ar],
      ] as const) {
        const element = await mountPayment(payment, locale);
        const status = getPart(element, 'status');
        expect(status.getAttribute('role')).to.equal('status');
        const announced = textOf(element, 'status')
          .replace(/[\u2066\u2068]/g, '‹')
          .replaceAll('\u2069', '›');
        // Marks for direction inside an Arabic price or time are the browser's own.
        expect(announced.replace(/[\u200e\u200f\u061c]/g, '')).to.equal(
          expected.replace(/[\u200e\u200f\u061c]/g, ''),
          locale,
        );
        element.remove();
        localStorage.clear();
      }
    });
  }
});

/** On the way from the pay button, and next to the state's sentence. */
const onTheWay = {
  en: {
    coin: 'Choose the coin you want to pay with.',
    network: 'Choose the network you will send USDT on.',
    amount: 'Amount copied: 3.25',
    address: 'Address copied. Send only USDT on Tron.',
    checked: /^Nothing seen yet, checked \d+:\d\d:\d\d [AP]M$/,
    minute: '1 minute left to pay.',
    wrong: '10 TRX on Tron arrived, but this payment takes USDT on Tron. The shop has it: ask for it back.',
    cancel: 'Cancel this payment?',
  },
  fr: {
    coin: 'Choisissez la crypto avec laquelle vous voulez payer.',
    network: 'Choisissez le réseau sur lequel vous enverrez USDT.',
    amount: 'Montant copié : 3.25',
    address: 'Adresse copiée. Envoyez uniquement USDT sur Tron.',
    checked: /^Rien de détecté pour le moment, vérifié à \d+:\d\d:\d\d$/,
    minute: 'Il reste 1 minute pour payer.',
    wrong:
      '10 TRX sur Tron sont arrivés, mais ce paiement attend USDT sur Tron. La boutique les a reçus : demandez-lui leur retour.',
    cancel: 'Annuler ce paiement ?',
  },
} as const;

for (const locale of ['en', 'fr'] as const) {
  it(`The checkout announces each step on the way in ${locale}, word for word`, async () => {
    const writeText = () => Promise.resolve();
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
    const expected = onTheWay[locale];
    const element = await mount({ ...orderAttributes, locale });
    press(element);
    await waitFor(() => element.status === 'choosing-currency');
    await element.updateComplete;
    expect(textOf(element, 'status')).to.equal(expected.coin);
    pickOption(element, 'USDT');
    await element.updateComplete;
    expect(textOf(element, 'status')).to.equal(expected.network);
    pickOption(element, 'tron');
    await waitFor(() => hasPart(element, 'log'));
    press(element, 'copy-amount');
    await waitFor(() => textOf(element, 'notice') === expected.amount, expected.amount);
    press(element, 'copy-address');
    await waitFor(() => textOf(element, 'notice') === expected.address, expected.address);
    Reflect.deleteProperty(navigator, 'clipboard');
    press(element, 'check-now');
    await waitFor(() => expected.checked.test(textOf(element, 'check')), String(expected.checked));
    press(element, 'cancel');
    await element.updateComplete;
    expect(getPart(element, 'question').querySelector('b')?.textContent.replace(/\s/g, ' ')).to.equal(
      expected.cancel,
    );
    api.payment = lockedPayment({ receipts: [receiptOf()], expiresBy: Date.now() + 50_000 });
    await element.refresh();
    await waitFor(() => hasPart(element, 'wrong-asset'));
    expect(textOf(element, 'wrong-asset')).to.equal(expected.wrong);
    const spoken = getPart(element, 'countdown').nextElementSibling;
    expect(spoken?.textContent).to.equal(expected.minute);
    expect(spoken?.getAttribute('aria-live')).to.equal('polite');
  });
}

/** Rare announcements. */
const nowAndThen = {
  en: {
    failed: 'Try again. If it still fails, ask the shop.',
    changed: `The shop changed the price from NGN 5,000.00 to NGN 6,000.00. Your earlier payment is cancelled: send nothing to its address.`,
    joined: 'This payment is already open in another tab. Here it is.',
    reconnecting: 'Reconnecting…',
    fiveMinutes: '5 minutes left to pay.',
    thirtySeconds: '30 seconds left to pay.',
    redirect: 'You will return to shop.example in 8 s.',
  },
  fr: {
    failed: 'Réessayez. Si cela échoue encore, contactez la boutique.',
    changed:
      'La boutique a changé le prix de 5 000,00 NGN à 6 000,00 NGN. Votre paiement précédent est annulé : n’envoyez rien à son adresse.',
    joined: 'Ce paiement est déjà ouvert dans un autre onglet. Le voici.',
    reconnecting: 'Reconnexion…',
    fiveMinutes: 'Il reste 5 minutes pour payer.',
    thirtySeconds: 'Il reste 30 secondes pour payer.',
    redirect: 'Vous retournez sur shop.example dans 8 s.',
  },
} as const;

for (const locale of ['en', 'fr'] as const) {
  describe(`in ${locale}, word for word, it says`, () => {
    const expected = nowAndThen[locale];
    const plainText = (element: CryptoCheckout, part: string) => textOf(element, part).replace(/\s/g, ' ');
    const trusted = { redirectUrl: 'https://shop.example/thanks', isRedirectTrusted: true };

    it('The payment did not open', async () => {
      api.handlers.create = () => failureReply(403, 'forbidden');
      const element = await mount({ ...orderAttributes, locale });
      press(element);
      await waitFor(() => plainText(element, 'status') === expected.failed, expected.failed);
    });

    it('The price changed', async () => {
      const element = await mount({ ...orderAttributes, locale });
      await goToAddress(element);
      element.setAttribute('amount', '6000');
      await waitFor(() => plainText(element, 'status') === expected.changed, expected.changed);
    });

    it('Another tab has the payment', async () => {
      const one = await mount({ ...orderAttributes, locale });
      const two = await mount({ ...orderAttributes, locale });
      press(one);
      await waitFor(
        () => hasPart(two, 'notice') && plainText(two, 'notice') === expected.joined,
        expected.joined,
      );
    });

    it('The connection is lost', async () => {
      const element = await mountPayment(lockedPayment(), locale);
      api.handlers.verify = () => Promise.reject(new TypeError('Failed to fetch'));
      await element.refresh();
      await waitFor(() => plainText(element, 'connection') === expected.reconnecting, expected.reconnecting);
    });

    for (const [seconds, announced] of [
      [290, expected.fiveMinutes],
      [25, expected.thirtySeconds],
    ] as const) {
      it(`Some ${seconds} seconds are left`, async () => {
        const element = await mountPayment(lockedPayment({ expiresBy: Date.now() + seconds * 1000 }), locale);
        await waitFor(
          () => getPart(element, 'countdown').nextElementSibling?.textContent === announced,
          announced,
        );
      });
    }

    it('The page goes back to the shop', async () => {
      const element = await mountPayment(lockedPayment(trusted), locale);
      api.payment = paymentInState('settled', trusted);
      await element.refresh();
      await waitFor(() => hasPart(element, 'redirect'));
      const spoken = getPart(element, 'redirect').querySelector('[role="status"]');
      expect(spoken?.textContent.replace(/\s/g, ' ')).to.equal(expected.redirect);
      element.remove();
    });
  });
}

describe('copied texts', () => {
  let copied: string[];
  beforeEach(() => {
    copied = [];
    const writeText = (text: string) => Promise.resolve(void copied.push(text));
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
  });
  afterEach(() => {
    Reflect.deleteProperty(navigator, 'clipboard');
  });

  const amounts = [
    [1e-8, '0.00000001'],
    [7e-7, '0.0000007'],
    [1234567.89, '1234567.89'],
  ] as const;

  for (const locale of new Set(['en', ...codes, 'ar-XB', 'de', 'hi-u-nu-deva'])) {
    it(`A copied amount is the plain value in ${locale}, and the shown text has Latin digits`, async () => {
      for (const [amount, plain] of amounts) {
        copied = [];
        const element = await mountPayment(
          lockedPayment({ amount, amountDue: amount, currency: 'BTC' }),
          locale,
        );
        press(element, 'copy-amount');
        press(element, 'copy-address');
        await waitFor(() => copied.length === 2);
        expect(copied).to.deep.equal([plain, lockedPayment().addressInformation?.address]);
        expect(textOf(element, 'amount').replace(/[\s.,\u202f]/g, '')).to.equal(
          `${plain.replace('.', '')}BTC`,
        );
        expect(getPart(element, 'amount').dir).to.equal('ltr');
        expect(getPart(element, 'address').dir).to.equal('ltr');
        expect(getPart(element, 'address').textContent.replace(/\s/g, '')).to.equal(copied[1]);
        element.remove();
        localStorage.clear();
      }
    });
  }
});

describe('the language', () => {
  it('The language is the nearest around the element, across shadow roots', async () => {
    const outer = await fixture<HTMLElement>(html`<div lang="fr-CA"><div id="host"></div></div>`);
    const shadow = outer.querySelector('#host')?.attachShadow({ mode: 'open' });
    const element = createElement({ ...orderAttributes, 'base-currency': 'CAD', amount: '49.9' });
    shadow?.append(element);
    await element.updateComplete;
    expect(textOf(element, 'heading')).to.equal('Payer en crypto');
    expect(textOf(element, 'action')).to.equal('Payer 49,90 $');
    expect([card(element).lang, card(element).dir]).to.deep.equal(['fr', 'ltr']);
  });

  it('The checkout is in English, from left to right, on a Hebrew page: there is no Hebrew', async () => {
    const outer = await fixture<HTMLElement>(html`<div lang="he" dir="rtl"></div>`);
    const element = createElement(orderAttributes);
    outer.append(element);
    await element.updateComplete;
    expect(textOf(element, 'heading')).to.equal('Pay with crypto');
    expect([card(element).lang, card(element).dir]).to.deep.equal(['en', 'ltr']);
  });

  it('The checkout has its own lang and dir where the page is in another language', async () => {
    const element = await mount({ ...orderAttributes, locale: 'ar' });
    expect(textOf(element, 'heading')).to.equal('الدفع بالعملات الرقمية');
    expect([card(element).lang, card(element).dir]).to.deep.equal(['ar', 'rtl']);
    expect(getComputedStyle(getPart(element, 'heading')).direction).to.equal('rtl');
  });

  it('The language can change in the middle of a payment, which continues', async () => {
    const element = await mount({ ...orderAttributes, locale: 'en' });
    await goToAddress(element);
    await waitFor(() => hasPart(element, 'log'));
    const requests = api.requestsFor('create').length;
    for (const [locale, heading, log] of [
      ['fr', 'Envoyez votre paiement', 'Activité'],
      ['zh', '请转账付款', '动态'],
      ['xx', 'Send your payment', 'Activity'],
    ] as const) {
      element.locale = locale;
      await waitFor(() => textOf(element, 'heading') === heading, heading);
      expect(getPart(element, 'time-log').querySelector('summary')?.textContent).to.equal(log);
    }
    expect(element.status).to.equal('awaiting-funds');
    expect(api.requestsFor('create')).to.have.length(requests);
  });

  it('The language that was set last is the one that is shown', async () => {
    const element = await mount({ ...orderAttributes, locale: 'en' });
    element.locale = 'ar';
    await element.updateComplete;
    element.locale = 'sw';
    await waitFor(() => textOf(element, 'heading') === 'Lipa kwa crypto');
    expect(card(element).dir).to.equal('ltr');
  });

  it('A language that is not a language tag counts as none', async () => {
    const element = await mount({ ...orderAttributes, locale: 'not a tag!' });
    expect(textOf(element, 'heading')).to.equal('Pay with crypto');
  });
});

describe('messages', () => {
  it('The page’s messages override the language’s texts, the pay button’s too, and are text, not markup', async () => {
    const element = await mount({ ...orderAttributes, locale: 'fr' });
    const attack = '<img src=x onerror="window.hacked = 1"> {amount}';
    element.messages = {
      payAmount: attack,
      testMode: '{constructor} & {amount}',
      idleHeading: () => 'Régler',
    };
    await element.updateComplete;
    expect(textOf(element, 'action')).to.match(/^<img src=x onerror="window\.hacked = 1"> 5\s000,00\sNGN$/);
    expect(textOf(element, 'test-mode')).to.equal('{constructor} & {amount}');
    expect(textOf(element, 'heading')).to.equal('Régler');
    // The others stay French.
    expect(textOf(element, 'status')).to.equal('Payez depuis n’importe quel portefeuille ou plateforme.');
    expect(element.shadowRoot?.querySelector('img') === null).to.equal(true);
  });
});

// Node's data of locales may be older or newer than the browser's, which is what payers see. Of languages that a browser does not
// know, its Intl knows less than we do.
it('Prices without Intl are written as this browser’s Intl writes them, in the languages that it knows', () => {
  const known = Intl.NumberFormat.supportedLocalesOf(Object.keys(styles));
  expect(known).to.include.members(['en', 'fr', 'es', 'pt', 'ar', 'zh', 'sw']);
  const isKnown = ([tag]: [string, unknown]) => known.includes(tag);
  for (const [tag, style] of Object.entries(styles).filter(isKnown))
    for (const currency of currencies)
      for (const amount of amounts)
        expect(priceText(amount, currency, style), tag).to.equal(formatAmount(amount, currency, tag));
});
