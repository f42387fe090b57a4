/** Public reports of a bad connection that ends a payment on the page, while the payment itself continues. */
import { aTimeout, expect } from '@open-wc/testing';
import type { CryptoCheckout } from '../../src/index.js';
import {
  goToAddress,
  hasPart,
  mount,
  orderAttributes,
  press,
  recordEvents,
  textOf,
  waitFor,
  waitForStatus,
} from '../support/element.js';
import { failureReply, successReply, useFakeApi } from '../support/fake-api.js';
import { createdPayment, lockedPayment } from '../support/payments.js';

const api = useFakeApi();
const resumeAttributes = { 'public-key': 'pk_test_x', 'payment-id': createdPayment().id, locale: 'en' };

/** Fails more often than any other call is tried. Each time, the next try would wait longer. */
async function failOften(): Promise<void> {
  for (let tried = 1; tried <= 5; tried += 1) {
    if (tried > 1) window.dispatchEvent(new Event('online'));
    await waitFor(() => api.requestsFor('retrieve').length === tried, `${tried} requests`);
    await aTimeout(20);
  }
}

function expectReconnecting(element: CryptoCheckout, events: readonly string[]): void {
  expect(element.status).to.equal('creating');
  expect(textOf(element, 'connection')).to.equal('Reconnecting…');
  expect(events).to.not.include('error');
}

for (const [what, failure] of [
  ['no connection', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['a server that starts', () => failureReply(503, 'service_unavailable')],
] as const) {
  it(`stripe/stripe-ios#629: with ${what}, a payment that the page names is looked up until it is found`, async () => {
    api.payment = lockedPayment();
    api.handlers.retrieve = failure;
    const element = await mount(resumeAttributes);
    const events = recordEvents(element);
    await failOften();
    await element.updateComplete;
    expectReconnecting(element, events);
    Reflect.deleteProperty(api.handlers, 'retrieve');
    window.dispatchEvent(new Event('online'));
    await waitForStatus(element, 'awaiting-funds');
    expect(textOf(element, 'connection')).to.equal('');
    expect(events).to.not.include('error');
  });

  it(`stripe/stripe-ios#629: with ${what}, a reload looks up the payment that the browser remembers until it is found`, async () => {
    const first = await mount(orderAttributes);
    await goToAddress(first);
    first.remove();
    api.requests.length = 0;
    api.handlers.retrieve = failure;
    const element = await mount({ ...orderAttributes, locale: 'en' });
    const events = recordEvents(element);
    await failOften();
    await element.updateComplete;
    expectReconnecting(element, events);
    Reflect.deleteProperty(api.handlers, 'retrieve');
    document.dispatchEvent(new Event('visibilitychange'));
    await waitForStatus(element, 'awaiting-funds');
    expect(api.requestsFor('create')).to.have.length(0);
  });
}

it('a look-up that fails three times is reported to the page’s developer, once, and the payer can ask again at once', async () => {
  const original = console.error;
  const reported: unknown[] = [];
  console.error = (...texts: unknown[]) => void reported.push(texts[1]);
  try {
    api.payment = lockedPayment();
    api.handlers.retrieve = () => Promise.reject(new TypeError('Failed to fetch'));
    const element = await mount(resumeAttributes);
    const action = () => element.shadowRoot?.querySelector('[part="action"]');
    await waitFor(() => api.requestsFor('retrieve').length === 1);
    expect(hasPart(element, 'error')).to.equal(false);
    expect(action()?.textContent.trim()).to.equal('Pay');
    await failOften();
    await waitFor(() => textOf(element, 'error').includes('No connection to the payment service'));
    expect(action()?.textContent.trim()).to.equal('Try again');
    Reflect.deleteProperty(api.handlers, 'retrieve');
    press(element);
    await waitForStatus(element, 'awaiting-funds');
    expect(hasPart(element, 'error')).to.equal(false);
  } finally {
    console.error = original;
  }
  expect(reported).to.deep.equal(['network_error']);
});

it('an element that looks up its previous payment shows the next one, which another tab has started', async () => {
  const first = await mount(orderAttributes);
  await goToAddress(first);
  first.remove();
  const next = createdPayment({ id: 'N'.repeat(26), txRef: 'order-42:2' });
  api.requests.length = 0;
  api.handlers.retrieve = ({ path }) =>
    path.endsWith(next.id) ? successReply(next) : failureReply(503, 'service_unavailable');
  const element = await mount(orderAttributes);
  await waitFor(() => api.requestsFor('retrieve').length === 1);
  const channel = new BroadcastChannel(`crypto-checkout:${location.origin}:pk_test_x:order-42`);
  channel.postMessage(next.id);
  await waitForStatus(element, 'choosing-currency');
  channel.close();
  expect(element.payment?.id).to.equal(next.id);
});

it('a removed element stops looking up its payment', async () => {
  api.handlers.retrieve = () => failureReply(503, 'service_unavailable');
  const element = await mount(resumeAttributes);
  await waitFor(() => api.requestsFor('retrieve').length === 1);
  element.remove();
  await aTimeout(20);
  window.dispatchEvent(new Event('online'));
  await aTimeout(50);
  expect(api.requestsFor('retrieve')).to.have.length(1);
});

it('a payment that does not exist is an error at once', async () => {
  api.handlers.retrieve = () => failureReply(404, 'not_found');
  const element = await mount(resumeAttributes);
  const events = recordEvents(element);
  await waitForStatus(element, 'error');
  expect(api.requestsFor('retrieve')).to.have.length(1);
  await waitFor(() => events.includes('error'));
});
