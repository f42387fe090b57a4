/**
 * Public reports of pages whose text others rewrite: translators, extensions, and scripts that move nodes. The card's
 * texts stay true.
 */
import { expect } from '@open-wc/testing';
import type { CryptoCheckout } from '../../src/index.js';
import { getPart, hasPart, mount, textOf, waitFor, waitForStatus } from '../support/element.js';
import { FakeApi } from '../support/fake-api.js';
import { lockedPayment, paymentInState, receiptOf } from '../support/payments.js';

let api: FakeApi;
beforeEach(() => {
  localStorage.clear();
  api = new FakeApi().install();
});
afterEach(() => api.remove());

type Translate = (text: Text) => void;

/** As Chrome's translator does, and each one that the same code was taken over into: solid#1451, svelte#15090, react#11538. */
const wrapInFonts: Translate = (text) => {
  const outer = document.createElementNS('http://www.w3.org/1999/xhtml', 'font');
  const inner = document.createElementNS('http://www.w3.org/1999/xhtml', 'font');
  inner.textContent = `«${text.data}»`;
  outer.append(inner);
  text.replaceWith(outer);
};

/** As Firefox's does (webcompat#145499): an element gets a new text, and loses the comments next to the old one. */
const replaceContent: Translate = (text) => {
  const parent = text.parentElement;
  text.replaceWith(`«${text.data}»`);
  for (const node of [...(parent?.childNodes ?? [])]) if (node instanceof Comment) node.remove();
};

/** Translates everything that is there, except what says that it must not be. */
function translateAll(element: CryptoCheckout, translate: Translate): void {
  const walker = document.createTreeWalker(element.renderRoot, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    const isOurs = text.parentElement?.closest('[translate="no"], style') != null;
    if (!isOurs && text.data.trim() !== '' && !text.data.startsWith('«')) translate(text);
  }
}

const plain = (text: string) => text.replaceAll(/[\u00a0\u2066-\u2069]/g, ' ').replaceAll(/\s+/g, ' ');
const allText = (element: CryptoCheckout) =>
  plain(element.shadowRoot?.querySelector('.card')?.textContent ?? '');

async function show(): Promise<CryptoCheckout> {
  api.payment = lockedPayment();
  const element = await mount({ 'public-key': 'pk_test_x', 'payment-id': api.payment.id, locale: 'en' });
  await waitForStatus(element, 'awaiting-funds');
  await waitFor(() => hasPart(element, 'time-log'));
  return element;
}

for (const [name, translate] of [
  ['puts elements in place of texts', wrapInFonts],
  ['gives elements a new content', replaceContent],
] as const) {
  it(`a translator that ${name} does not change the countdown, the amount and the address`, async () => {
    const element = await show();
    const [amount, address] = [textOf(element, 'amount'), textOf(element, 'address')];
    const time = textOf(element, 'countdown');
    translateAll(element, translate);
    await waitFor(() => textOf(element, 'countdown') !== time, 'the countdown continues');
    expect(textOf(element, 'amount')).to.equal(amount);
    expect(textOf(element, 'address')).to.equal(address);
    expect(textOf(element, 'countdown')).to.not.contain('«');
  });

  it(`on a page whose translator ${name}, a part is what was paid, and a success asks for nothing`, async () => {
    const element = await show();
    expect(allText(element)).to.contain('3.25');
    translateAll(element, translate);
    const receipts = [receiptOf({ currency: 'USDT', amount: 1.25, counts: true })];
    api.payment = paymentInState('partially_paid', { amountSeen: 1.25, amountDue: 2, receipts });
    await element.refresh();
    await waitFor(() => plain(textOf(element, 'amount')).includes('2.00'), 'the rest is asked for');
    await element.updateComplete;
    translateAll(element, translate);
    api.payment = paymentInState('settled', { amountSeen: 3.25, amountReceived: 3.25, receipts });
    await element.refresh();
    await waitForStatus(element, 'success');
    await waitFor(() => /Paid|complete/i.test(allText(element)), 'it says that it is paid');
    expect(allText(element)).to.not.match(/Send exactly|Send the/);
  });
}

it('swissgeol-viewer-suite#1499: elements that a script has removed or moved are rendered again with the next state', async () => {
  const element = await show();
  element.shadowRoot?.querySelector('.body')?.remove();
  document.body.append(getPart(element, 'status').firstChild ?? '');
  api.payment = paymentInState('settled', { amountSeen: 3.25, amountReceived: 3.25 });
  await element.refresh();
  await waitForStatus(element, 'success');
  await waitFor(() => /Paid|complete/i.test(allText(element)), 'it says that it is paid');
});
