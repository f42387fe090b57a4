/**
 * Messages between tabs that come late, as reported of others (RicardoJBarrios/elf-sync-state#3): a throttled tab applies a message
 * when a newer state is there already, and goes back to the old one.
 */
import { aTimeout, expect } from '@open-wc/testing';
import {
  goToAddress,
  hasPart,
  mount,
  orderAttributes,
  press,
  textOf,
  waitFor,
  waitForStatus,
} from '../support/element.js';
import { failureReply, heldReply, successReply, useFakeApi } from '../support/fake-api.js';
import { createdPayment, paymentInState } from '../support/payments.js';

const api = useFakeApi();

for (const when of ['while the next one is created', 'once the next one is there'] as const) {
  it(`elf-sync-state#3: a late message of another tab about the cancelled payment does not bring it back ${when}`, async () => {
    const element = await mount({ ...orderAttributes, locale: 'en' });
    await goToAddress(element);
    const first = paymentInState('cancelled');
    api.payment = first;
    await element.refresh();
    await waitForStatus(element, 'cancelled');
    await waitFor(() => hasPart(element, 'action') && textOf(element, 'action') === 'Start a new payment');
    const next = createdPayment({ id: 'next', txRef: 'order-42:2', createdAt: '2026-02-02T00:00:00.000Z' });
    const replyFor = (path: string) => successReply(path.includes('/next') ? next : first);
    api.handlers.retrieve = ({ path }) => replyFor(path);
    api.handlers.verify = ({ path }) => replyFor(path);
    const created = heldReply(() => successReply({ payment: next, url: '' }));
    api.handlers.create = created.handler;
    const creations = api.requestsFor('create').length;
    press(element);
    await waitFor(() => api.requestsFor('create').length === creations + 1);
    if (when === 'once the next one is there') {
      created.release();
      await waitForStatus(element, 'choosing-currency');
    }
    const reads = api.requestsFor('retrieve').length;
    const channel = new BroadcastChannel(`crypto-checkout:${location.origin}:pk_test_x:order-42`);
    channel.postMessage(first.id);
    await waitFor(() => api.requestsFor('retrieve').length > reads);
    channel.close();
    // Long enough for any effect of the message.
    await aTimeout(300);
    created.release();
    await waitForStatus(element, 'choosing-currency');
    expect(element.payment?.id).to.equal('next');
    expect(element.shadowRoot?.textContent).not.to.contain('already open in another tab');
  });
}

/** An element whose payer starts the next payment while the previous one has ended without money. */
async function startNext() {
  const element = await mount({ ...orderAttributes, locale: 'en' });
  await goToAddress(element);
  api.payment = paymentInState('cancelled');
  await element.refresh();
  await waitForStatus(element, 'cancelled');
  await waitFor(() => hasPart(element, 'action') && textOf(element, 'action') === 'Start a new payment');
  const created = heldReply(() => failureReply(422, 'validation_error'));
  api.handlers.create = created.handler;
  const creations = api.requestsFor('create').length;
  press(element);
  await waitFor(() => api.requestsFor('create').length === creations + 1);
  const send = async (id: string) => {
    const reads = api.requestsFor('retrieve').length;
    const channel = new BroadcastChannel(`crypto-checkout:${location.origin}:pk_test_x:order-42`);
    channel.postMessage(id);
    await waitFor(() => api.requestsFor('retrieve').length > reads);
    channel.close();
  };
  return { element, created, send, previous: api.payment };
}

it('a message that money came for the cancelled payment stops the start of the next one, and shows the money', async () => {
  const { element, created, send, previous } = await startNext();
  api.payment = paymentInState('cancelled_paid', { amountSeen: 2 });
  await send(previous.id);
  await waitForStatus(element, 'cancelled');
  await waitFor(() => textOf(element, 'status').includes('2.00 USDT'));
  created.release();
  await aTimeout(300);
  expect([element.status, element.payment?.id]).to.deep.equal(['cancelled', previous.id]);
});

it('a late message about the cancelled payment does not hide why the next one could not be created', async () => {
  const { element, created, send, previous } = await startNext();
  created.release();
  await waitForStatus(element, 'error');
  const before = textOf(element, 'status');
  await send(previous.id);
  await aTimeout(300);
  expect([element.status, element.payment]).to.deep.equal(['error', undefined]);
  expect(textOf(element, 'status')).to.equal(before);
});
