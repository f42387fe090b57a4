/**
 * Late replies, and payers and pages that do not wait: nothing is paid twice, hidden or reported for another payment.
 */
import { aTimeout, expect, fixture, html } from '@open-wc/testing';
import { verifyPayment } from '../../src/client/verify-payment.js';
import type { CryptoCheckout } from '../../src/index.js';
import {
  createElement,
  getPart,
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
import { failureReply, heldReply, successReply, useFakeApi } from '../support/fake-api.js';
import { createdPayment, evmPayment, lockedPayment, paymentInState, receiptOf } from '../support/payments.js';
import { ScriptedWallet, sentHash } from '../support/scripted-wallet.js';

const api = useFakeApi();
const id = createdPayment().id;
const resumeAttributes = { 'public-key': 'pk_test_x', 'payment-id': id, locale: 'en' };
const orderInEnglish = { ...orderAttributes, locale: 'en' };
const offline = () => Promise.reject(new TypeError('Failed to fetch'));
const createBodies = () => api.requestsFor('create').map(({ body }) => body as { txRef?: string });
/** Long enough for any effect of a late reply. */
const settle = () => aTimeout(300);

async function confirm(element: CryptoCheckout, part: 'restart' | 'cancel' | 'new-payment'): Promise<void> {
  await waitFor(() => hasPart(element, part) && hasPart(element, 'time-log'));
  press(element, part);
  await waitFor(() => hasPart(element, 'confirm'));
  press(element, 'confirm');
}

function announceWallet(): { wallet: ScriptedWallet; end: () => void } {
  const wallet = new ScriptedWallet();
  const page = new AbortController();
  const detail = { info: { uuid: 'w', name: 'Test Wallet', icon: '' }, provider: wallet };
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  addEventListener('eip6963:requestProvider', announce, { signal: page.signal });
  return { wallet, end: () => page.abort() };
}

describe('the next payment of an order', () => {
  for (const how of ['another coin', 'one that ran out'] as const) {
    it(`The next payment has a reference that the shop can verify, also the third one, after ${how}`, async () => {
      const isOther = how === 'another coin';
      const made = (changes = {}) =>
        isOther ? lockedPayment(changes) : paymentInState('expired', { receipts: [], ...changes });
      api.payment = made();
      const element = await mount(resumeAttributes);
      await waitForStatus(element, isOther ? 'awaiting-funds' : 'expired');
      for (const next of ['second', 'third']) {
        api.handlers.create = ({ body }) => {
          api.payment = made({ id: next, txRef: (body as { txRef?: string }).txRef });
          return successReply({ payment: api.payment, url: '' });
        };
        if (isOther) await confirm(element, 'restart');
        else {
          await waitFor(
            () => hasPart(element, 'action') && textOf(element, 'action') === 'Start a new payment',
          );
          press(element);
        }
        await waitFor(() => element.payment?.id === next);
        await element.updateComplete;
      }
      const references = createBodies().map(({ txRef }) => txRef);
      expect(references).to.deep.equal(['order-42:2', 'order-42:3']);
      const paid = paymentInState('settled', {
        txRef: references[1],
        amountReceived: 3.25,
        mode: 'live',
      });
      const order = { txRef: 'order-42', baseAmount: 5000, baseCurrency: 'NGN' };
      expect(verifyPayment(paid, order).verified).to.equal(true);
    });
  }

  for (const attributes of [resumeAttributes, orderInEnglish]) {
    const kind = 'payment-id' in attributes ? 'a payment id' : 'a reference';
    it(`The next payment has one key, however often its creation is tried, with ${kind}`, async () => {
      if ('payment-id' in attributes) api.payment = lockedPayment();
      const element = await mount(attributes);
      if (!('payment-id' in attributes)) await goToAddress(element);
      await waitForStatus(element, 'awaiting-funds');
      const before = api.requestsFor('create').length;
      api.handlers.create = offline;
      await confirm(element, 'restart');
      await waitForStatus(element, 'error');
      api.payment = createdPayment({ id: 'next' });
      api.handlers.create = () => successReply({ payment: api.payment, url: '' });
      press(element);
      await waitForStatus(element, 'choosing-currency');
      const sent = api.requestsFor('create').slice(before);
      expect(sent.length).to.be.greaterThan(1);
      expect(new Set(sent.map(({ headers }) => headers.get('Idempotency-Key'))).size).to.equal(1);
    });
  }

  it('The next payment does not start automatically when the price changes while the first one is created', async () => {
    const element = await mount(orderAttributes);
    const held = heldReply(() => successReply({ payment: createdPayment(), url: '' }));
    api.handlers.create = held.handler;
    press(element);
    await waitFor(() => api.requestsFor('create').length === 1);
    element.setAttribute('amount', '6000');
    held.release();
    await settle();
    expect(api.requestsFor('create')).to.have.length(1);
    expect(element.status).to.equal('idle');
  });

  it('No payment is created when "another coin" fails: the open one is shown again, and the money that comes', async () => {
    const element = await mount(orderInEnglish);
    const events = recordEvents(element);
    await goToAddress(element);
    events.length = 0;
    api.handlers.cancel = () => failureReply(400, 'validation_error');
    await confirm(element, 'restart');
    await waitFor(() => hasPart(element, 'error'));
    expect([element.status, element.payment?.id]).to.deep.equal(['awaiting-funds', id]);
    expect(hasPart(element, 'address')).to.equal(true);
    // The next polls keep the message.
    await element.refresh();
    await element.updateComplete;
    expect(hasPart(element, 'error')).to.equal(true);
    api.payment = paymentInState('confirming', { amountSeen: 3.25 });
    await element.refresh();
    await waitForStatus(element, 'confirming');
    expect(hasPart(element, 'error')).to.equal(false);
    expect(events).not.to.include('created');
  });

  it('The next payment is not reported as created when money keeps the previous one', async () => {
    const element = await mount(orderAttributes);
    const events = recordEvents(element);
    await goToAddress(element);
    api.handlers.cancel = () => {
      api.payment = paymentInState('confirming', { amountSeen: 3.25 });
      return failureReply(409, 'invalid_state');
    };
    await confirm(element, 'restart');
    await waitForStatus(element, 'confirming');
    await settle();
    expect(events).to.deep.equal(['created', 'currency-set', 'locked', 'detected', 'confirming']);
  });
});

describe('a cancellation', () => {
  it('A cancellation that is answered late does not end the next payment', async () => {
    const element = await mount(orderAttributes);
    const events = recordEvents(element);
    await goToAddress(element);
    const late = heldReply(() => successReply(undefined));
    api.handlers.cancel = late.handler;
    void element.cancel();
    await waitFor(() => api.requestsFor('cancel').length === 1);
    Reflect.deleteProperty(api.handlers, 'cancel');
    const next = createdPayment({ id: 'next' });
    api.handlers.create = () => successReply({ payment: next, url: '' });
    api.handlers.retrieve = () => successReply(next);
    await confirm(element, 'restart');
    await waitFor(() => element.payment?.id === 'next');
    late.release();
    await settle();
    expect([element.status, element.payment?.id]).to.deep.equal(['choosing-currency', 'next']);
    expect(events).not.to.include('cancelled');
  });

  it('A cancellation that is answered late does not take other tabs from the next payment', async () => {
    const [one, two] = [await mount(orderInEnglish), await mount(orderInEnglish)];
    await goToAddress(one);
    await waitForStatus(two, 'awaiting-funds');
    const late = heldReply(() => successReply(undefined));
    api.handlers.cancel = late.handler;
    void one.cancel();
    await waitFor(() => api.requestsFor('cancel').length === 1);
    // It has reached the server; only the reply is late.
    const first = paymentInState('cancelled');
    api.payment = first;
    await two.refresh();
    await waitForStatus(two, 'cancelled');
    await waitFor(() => hasPart(two, 'action') && textOf(two, 'action') === 'Start a new payment');
    const next = lockedPayment({ id: 'next', txRef: 'order-42:2' });
    const replyFor = (path: string) => successReply(path.includes('/next') ? next : first);
    api.handlers.create = () => successReply({ payment: next, url: '' });
    api.handlers.retrieve = ({ path }) => replyFor(path);
    api.handlers.verify = ({ path }) => replyFor(path);
    press(two);
    await waitForStatus(two, 'awaiting-funds');
    await waitFor(() => one.payment?.id === 'next');
    late.release();
    await settle();
    expect([one.payment?.id, two.payment?.id, two.status]).to.deep.equal(['next', 'next', 'awaiting-funds']);
  });

  it('A cancellation overtaken by another order is not announced to that order’s tabs', async () => {
    const element = await mount(orderAttributes);
    const other = await mount({ ...orderAttributes, 'tx-ref': 'order-43' });
    await goToAddress(element);
    const held = heldReply(() => successReply(undefined));
    api.handlers.cancel = held.handler;
    void element.cancel();
    await waitFor(() => api.requestsFor('cancel').length === 1);
    element.setAttribute('tx-ref', 'order-43');
    await element.updateComplete;
    held.release();
    await settle();
    expect([other.status, other.payment?.id]).to.deep.equal(['idle', undefined]);
  });

  it('A cancellation that is refused is reported, and the payment continues', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.handlers.cancel = () => failureReply(403, 'customer_not_allowed');
    await confirm(element, 'cancel');
    await waitFor(() => hasPart(element, 'error'));
    expect(element.status).to.equal('awaiting-funds');
    await waitFor(() => hasPart(element, 'cancel'));
  });

  it('A cancellation is under way until the server answers: no button can be pressed in the meantime', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    const held = heldReply(() => successReply((api.payment = paymentInState('cancelled'))));
    api.handlers.cancel = held.handler;
    await confirm(element, 'cancel');
    await waitFor(() => getPart(element, 'question').getAttribute('aria-busy') === 'true');
    press(element, 'confirm');
    press(element, 'keep');
    await element.updateComplete;
    expect(hasPart(element, 'restart')).to.equal(false);
    expect(getPart(element, 'confirm').getAttribute('aria-disabled')).to.equal('true');
    held.release();
    await waitForStatus(element, 'cancelled');
    expect(api.requestsFor('cancel')).to.have.length(1);
  });

  it('A cancellation is sent again if the element is moved in the meantime', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    const held = heldReply(() => successReply(undefined));
    api.handlers.cancel = held.handler;
    void element.cancel();
    await waitFor(() => api.requestsFor('cancel').length === 1);
    api.handlers.cancel = () => successReply((api.payment = paymentInState('cancelled')));
    const { parentElement } = element;
    element.remove();
    parentElement?.append(element);
    await waitForStatus(element, 'cancelled');
  });

  it('A cancellation before the lock leaves the focus where it is', async () => {
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'choosing-currency');
    api.handlers.cancel = heldReply(() => successReply(undefined)).handler;
    getPart(element, 'cancel').focus();
    press(element, 'cancel');
    await settle();
    expect(element.shadowRoot?.activeElement?.id).to.equal('cancel');
  });

  it('The Retry-After of a refused cancellation delays the polls after it', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.handlers.cancel = () => failureReply(429, 'rate_limited', { 'Retry-After': '30' });
    await element.cancel();
    const before = api.requestsFor('verify').length;
    await aTimeout(3_000);
    expect(api.requestsFor('verify')).to.have.length(before);
  });
});

describe('a changed price', () => {
  it('A price that changes back does not say that the payer has cancelled', async () => {
    const element = await mount(orderInEnglish);
    const events = recordEvents(element);
    await goToAddress(element);
    element.setAttribute('amount', '6000');
    await waitFor(() => textOf(element, 'status').includes('changed the price'));
    element.setAttribute('amount', '5000');
    await settle();
    expect(element.status).to.equal('idle');
    expect(events).not.to.include('cancelled');
    api.payment = createdPayment({ id: 'next' });
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(createBodies().at(-1)?.txRef).to.equal('order-42:2');
  });

  it('A price change that cancels a payment paid by hand shows the money when it comes', async () => {
    const element = await mount(orderInEnglish);
    await goToAddress(element);
    element.setAttribute('amount', '6000');
    await waitFor(() => textOf(element, 'status').includes('changed the price'));
    const polls = api.requestsFor('verify').length;
    await waitFor(() => api.requestsFor('verify').length > polls);
    // Nothing has come yet, so the pay button stays.
    await settle();
    expect(element.status).to.equal('idle');
    api.payment = paymentInState('cancelled_paid', { amountSeen: 3.25 });
    await waitForStatus(element, 'cancelled');
    await waitFor(() => textOf(element, 'status').includes('3.25'));
    expect(createBodies()).to.have.length(1);
  });

  it('A price change does not cancel a payment that the wallet has sent, in this tab or after a reload', async () => {
    const { end } = announceWallet();
    try {
      api.handlers.lock = () => successReply((api.payment = evmPayment()));
      const element = await mount(orderInEnglish);
      await goToAddress(element);
      await waitFor(() => textOf(element, 'action').startsWith('Pay with'));
      press(element);
      await waitFor(() => hasPart(element, 'wallet-hash'));
      element.setAttribute('amount', '6000');
      await settle();
      expect(element.status).to.equal('awaiting-funds');
      expect(getPart(element, 'card').textContent).to.contain(sentHash.slice(0, 8));
      element.remove();
      const reloaded = await mount({ ...orderInEnglish, amount: '6000' });
      await waitForStatus(reloaded, 'awaiting-funds');
      expect(api.requestsFor('cancel')).to.have.length(0);
    } finally {
      end();
    }
  });

  it('A price change to nothing payable, for a moment, cancels nothing', async () => {
    const first = await mount(orderAttributes);
    await goToAddress(first);
    first.remove();
    const held = heldReply(() => successReply(api.payment));
    api.handlers.retrieve = held.handler;
    const element = await mount(orderAttributes);
    await waitForStatus(element, 'creating');
    const { parentElement } = element;
    element.setAttribute('amount', '0');
    await element.updateComplete;
    element.remove();
    parentElement?.append(element);
    Reflect.deleteProperty(api.handlers, 'retrieve');
    held.release();
    await settle();
    element.setAttribute('amount', '5000');
    await waitForStatus(element, 'awaiting-funds');
    expect(api.requestsFor('cancel')).to.have.length(0);
  });
});

describe('a wallet', () => {
  it('A wallet that still waits for the previous payment does not keep the next one from being paid', async () => {
    const { wallet, end } = announceWallet();
    try {
      let answer: (accounts: string[]) => void = () => undefined;
      wallet.answers['eth_requestAccounts'] = () => new Promise((resolve) => (answer = resolve));
      api.payment = evmPayment();
      const element = await mount(resumeAttributes);
      await waitFor(() => textOf(element, 'action').startsWith('Pay with'));
      press(element);
      await waitFor(() => wallet.calls.length === 1);
      api.handlers.cancel = () => {
        api.payment = { ...api.payment, status: 'cancelled', state: 'cancelled' };
        return successReply(undefined);
      };
      api.handlers.create = () =>
        successReply({ payment: (api.payment = evmPayment({}, { id: 'next' })), url: '' });
      await confirm(element, 'restart');
      await waitFor(() => element.payment?.id === 'next' && textOf(element, 'action').startsWith('Pay with'));
      press(element);
      await waitFor(() => wallet.calls.length === 2);
      answer([wallet.account]);
      await waitFor(() => hasPart(element, 'wallet-hash'));
      expect(textOf(element, 'wallet-problem')).to.equal('');
    } finally {
      end();
    }
  });
});

describe('coins that do not count', () => {
  const wrong = [receiptOf({ status: 'confirmed' })];
  for (const [state, changes] of [
    ['confirming', { amountSeen: 3.25 }],
    ['settled', { amountSeen: 3.25 }],
    ['expired_partial', { amountSeen: 1 }],
    ['expired', {}],
    ['reversed', {}],
  ] as const) {
    it(`Coins that do not count are shown by name and amount: ${state}`, async () => {
      api.payment = paymentInState(state, { ...changes, receipts: wrong });
      const element = await mount(resumeAttributes);
      await waitFor(() => hasPart(element, 'wrong-asset'));
      expect(textOf(element, 'wrong-asset')).to.match(/^10\sTRX on Tron arrived/);
    });
  }

  it('Coins that do not count are shown when time is up', async () => {
    api.payment = lockedPayment({ expiresBy: Date.now() - 1_000, receipts: wrong });
    const element = await mount(resumeAttributes);
    await waitFor(() => hasPart(element, 'wrong-asset'));
    expect(hasPart(element, 'address')).to.equal(false);
  });
});

describe('the connection', () => {
  it('A late error for the previous payment is not shown for the next one', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    const late = heldReply(() => failureReply(404, 'not_found'));
    api.handlers.verify = late.handler;
    void element.refresh();
    await waitFor(() => api.requestsFor('verify').length > 0);
    Reflect.deleteProperty(api.handlers, 'verify');
    api.handlers.create = () =>
      successReply({ payment: (api.payment = lockedPayment({ id: 'next' })), url: '' });
    await confirm(element, 'restart');
    await waitFor(() => element.payment?.id === 'next');
    late.release();
    await settle();
    expect(hasPart(element, 'error')).to.equal(false);
  });
});

describe('the clock', () => {
  it('The clock never brings the address back after 0:00, however late a reply is', async () => {
    api.payment = lockedPayment({ expiresBy: Date.now() + 6_000 });
    api.handlers.verify = async () => {
      const date = new Date().toUTCString();
      await aTimeout(7_000);
      return successReply(api.payment, { date });
    };
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    await waitFor(() => hasPart(element, 'countdown') && textOf(element, 'countdown') === '0:00');
    let isBack = false;
    const end = performance.now() + 5_000;
    while (performance.now() < end) {
      await aTimeout(50);
      isBack ||= hasPart(element, 'address');
    }
    expect(isBack).to.equal(false);
  }).timeout(30_000);

  it('The clock counts the time that the device was asleep', async () => {
    api.payment = lockedPayment({ expiresBy: Date.now() + 120_000 });
    const element = await mount(resumeAttributes);
    await waitFor(() => hasPart(element, 'address'));
    api.handlers.verify = offline;
    const { now } = Date;
    // Asleep for five minutes: the device's clock keeps running, performance.now() does not.
    Date.now = () => now() + 300_000;
    try {
      document.dispatchEvent(new Event('visibilitychange'));
      await waitFor(() => !hasPart(element, 'address'));
    } finally {
      Date.now = now;
    }
  });
});

it('copying works in the modal where the clipboard is not allowed', async () => {
  const denied = { writeText: () => Promise.reject(new DOMException('Denied', 'NotAllowedError')) };
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: denied });
  const selected: (string | undefined)[] = [];
  const execCommand = () => {
    const field = element.shadowRoot?.activeElement;
    selected.push(field instanceof HTMLTextAreaElement ? field.value : undefined);
    return field instanceof HTMLTextAreaElement;
  };
  Object.defineProperty(document, 'execCommand', { configurable: true, value: execCommand });
  const parent = await fixture<HTMLElement>(html`<div></div>`);
  api.payment = lockedPayment();
  const element = createElement({ ...resumeAttributes, mode: 'modal' });
  parent.append(element);
  try {
    await waitForStatus(element, 'awaiting-funds');
    await element.open();
    await waitFor(() => hasPart(element, 'copy-address') && hasPart(element, 'time-log'));
    press(element, 'copy-address');
    await waitFor(() => selected.length > 0 && textOf(element, 'notice') !== '');
    expect(textOf(element, 'notice')).to.match(/^Address copied/);
    expect(selected).to.deep.equal([api.payment.addressInformation?.address]);
  } finally {
    Reflect.deleteProperty(navigator, 'clipboard');
    Reflect.deleteProperty(document, 'execCommand');
    element.close();
  }
});
