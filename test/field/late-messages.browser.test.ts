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
import { heldReply, successReply, useFakeApi } from '../support/fake-api.js';
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
