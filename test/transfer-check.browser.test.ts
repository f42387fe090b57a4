/** A payer asks whether their transfer has arrived: the answers word for word, and never more than they asked. */
import { expect } from '@open-wc/testing';
import type { Payment } from '../src/contract/checkout.js';
import type { CryptoCheckout } from '../src/index.js';
import { getPart, hasPart, mount, press, textOf, waitFor } from './support/element.js';
import { failureReply, heldReply, successReply, useFakeApi } from './support/fake-api.js';
import { lockedPayment, paymentInState } from './support/payments.js';

const api = useFakeApi();
const hash = 'ab'.repeat(32);

async function show(payment: Payment, attributes = {}): Promise<CryptoCheckout> {
  api.payment = payment;
  const element = await mount({
    'public-key': 'pk_test_x',
    'payment-id': payment.id,
    locale: 'en',
    ...attributes,
  });
  await waitFor(() => hasPart(element, 'transfer-check'));
  return element;
}

async function open(element: CryptoCheckout): Promise<void> {
  getPart(element, 'transfer-check').querySelector('summary')?.click();
  await waitFor(() => hasPart(element, 'transfer-hash'));
}

function paste(element: CryptoCheckout, text: string): HTMLInputElement {
  const field = getPart(element, 'transfer-hash') as HTMLInputElement;
  field.value = text;
  field.dispatchEvent(new InputEvent('input'));
  return field;
}

const answerOf = (element: CryptoCheckout) => textOf(element, 'transfer-answer').replace(/\s/g, ' ');

async function ask(element: CryptoCheckout, text = hash): Promise<string> {
  const before = answerOf(element);
  paste(element, text);
  press(element, 'check-transfer');
  await waitFor(() => !['', 'Checking…', before].includes(answerOf(element)));
  return answerOf(element);
}

for (const [data, expected] of [
  [
    { answer: 'paid_this', currency: 'USDT', amount: 3.25, confirmations: 1, requiredConfirmations: 2 },
    'It paid this payment: 3.25 USDT on Tron. Confirmations: 1 of 2.',
  ],
  [
    { answer: 'other_coin', currency: 'TRX', amount: 7 },
    'It brought 7 TRX on Tron to the shop, but this payment takes USDT on Tron. Ask the shop for it.',
  ],
  [
    { answer: 'other_address' },
    'It is on Tron, but paid nothing to this address. Compare the address in your wallet or exchange.',
  ],
  [{ answer: 'failed' }, 'It failed on Tron: nothing was sent.'],
  [
    { answer: 'unknown' },
    'Tron does not know it yet. Check again in some minutes. If you sent on another network, ask the shop.',
  ],
] as const) {
  it(`The check answers word for word: ${data.answer.replace('_', ' ')}`, async () => {
    api.handlers.transfer = () => successReply({ network: 'tron', ...data });
    const element = await show(lockedPayment());
    await open(element);
    expect(getPart(element, 'transfer-answer').getAttribute('aria-live')).to.equal('polite');
    expect(await ask(element)).to.equal(expected);
    expect(api.requestsFor('transfer').map(({ path }) => path)).to.deep.equal([
      `/v1/payments/${lockedPayment().id}/transfers/${hash}`,
    ]);
  });
}

const words = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
for (const [name, secret] of [
  ['the words of a wallet', words],
  [
    'numbered words',
    words
      .split(' ')
      .map((word, index) => `${index + 1}. ${word}`)
      .join('\n'),
  ],
  ['a private key as Bitcoin wallets write it', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'],
  ['an extended private key', `zprv${'A'.repeat(107)}`],
  ['a keystore, which holds what looks like a hash', `{"crypto":{"ciphertext":"${hash}","mac":"${hash}"}}`],
] as const) {
  it(`The check sends ${name} to nobody, empties the field, and says so`, async () => {
    const element = await show(lockedPayment());
    await open(element);
    expect(await ask(element, secret)).to.match(
      /^That looks like a private key or the words of a wallet\. It was not sent\./,
    );
    expect((getPart(element, 'transfer-hash') as HTMLInputElement).value).to.equal('');
    expect(api.requestsFor('transfer')).to.deep.equal([]);
  });
}

it('The check takes the hash out of an explorer’s link, and asks nothing if there is none', async () => {
  api.handlers.transfer = () => successReply({ network: 'tron', answer: 'unknown' });
  const element = await show(lockedPayment());
  await open(element);
  expect(await ask(element, 'https://tronscan.org/#/address/TXYZ')).to.match(
    /^That contains no transaction hash/,
  );
  expect(api.requestsFor('transfer')).to.have.length(0);
  await ask(element, ` https://tronscan.org/#/transaction/${hash.toUpperCase()}?lang=en `);
  expect(api.requestsFor('transfer').map(({ path }) => path.split('/').at(-1))).to.deep.equal([hash]);
});

it('The check says calmly how long to wait, that the service is busy, and that there is no connection', async () => {
  const element = await show(lockedPayment());
  await open(element);
  api.handlers.transfer = () => failureReply(429, 'rate_limited', { 'retry-after': '42' });
  expect(await ask(element)).to.equal(
    'You have checked too often. Try again in 42 s; we are still watching for the payment.',
  );
  api.handlers.transfer = () => failureReply(503, 'chain_unavailable');
  expect(await ask(element)).to.equal('The payment service is busy. Try again in a moment.');
  api.handlers.transfer = () => Promise.reject(new TypeError('Failed to fetch'));
  expect(await ask(element)).to.equal('No connection to the payment service. Try again.');
  expect(element.status).to.equal('awaiting-funds');
});

it('Enter starts the check, once at a time, without the main action, and the pasted text stays', async () => {
  const { handler, release } = heldReply(() => successReply({ network: 'tron', answer: 'unknown' }));
  api.handlers.transfer = handler;
  const element = await show(lockedPayment());
  await open(element);
  const enter = new KeyboardEvent('keydown', { key: 'Enter', cancelable: true });
  paste(element, hash).dispatchEvent(enter);
  expect(enter.defaultPrevented).to.equal(true);
  await waitFor(() => answerOf(element) === 'Checking…');
  press(element, 'check-transfer');
  release();
  await waitFor(() => answerOf(element).startsWith('Tron does not know it yet'));
  expect(api.requestsFor('transfer')).to.have.length(1);
  await element.refresh();
  expect((getPart(element, 'transfer-hash') as HTMLInputElement).value).to.equal(hash);
});

it('The check is aborted when the element leaves the page', async () => {
  api.handlers.transfer = heldReply(() => successReply({})).handler;
  const element = await show(lockedPayment());
  await open(element);
  paste(element, hash);
  press(element, 'check-transfer');
  await waitFor(() => api.requestsFor('transfer').length === 1);
  element.remove();
  expect(api.requestsFor('transfer')[0]?.signal?.aborted).to.equal(true);
});

it('The check is in the language of the checkout, and changes with it', async () => {
  api.handlers.transfer = () => successReply({ network: 'tron', answer: 'failed' });
  const element = await show(lockedPayment(), { locale: 'fr' });
  await open(element);
  expect(textOf(element, 'check-transfer')).to.equal('Vérifier');
  element.locale = 'es';
  await waitFor(
    () => hasPart(element, 'check-transfer') && textOf(element, 'check-transfer') === 'Comprobar',
  );
  expect(await ask(element)).to.equal('Falló en Tron: no se envió nada.');
});

for (const state of [
  'expired',
  'expired_partial',
  'expired_late',
  'invalid',
  'cancelled',
  'cancelled_paid',
] as const) {
  it(`The check is there where money may be missing: ${state}`, async () => {
    await open(await show(paymentInState(state)));
  });
}

it('The check is not there for a payment without an address, nor after a success', async () => {
  for (const payment of [
    paymentInState('cancelled', { isCurrencyLocked: false }),
    paymentInState('settled'),
  ]) {
    api.payment = payment;
    const element = await mount({ 'public-key': 'pk_test_x', 'payment-id': payment.id, locale: 'en' });
    await waitFor(() => hasPart(element, 'time-log'));
    expect(hasPart(element, 'transfer-check')).to.equal(false);
  }
});
