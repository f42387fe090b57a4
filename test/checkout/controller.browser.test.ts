/** The checkout under lost connections, refusals, invalid replies, and moves around the page. */
import { aTimeout, expect, waitUntil } from '@open-wc/testing';
import type { CryptoCheckout } from '../../src/index.js';
import {
  cloneElement,
  createElement,
  hasPart,
  recordEvents,
  orderAttributes,
  getPart,
  goToAddress,
  pickOption,
  mount,
  press,
  waitForStatus,
  textOf,
  waitFor,
} from '../support/element.js';
import { failureReply, useFakeApi, heldReply, successReply } from '../support/fake-api.js';
import {
  createdPayment,
  paymentInState,
  lockedPayment,
  quotedPayment,
  receiptOf,
} from '../support/payments.js';

const api = useFakeApi();

const offline = () => Promise.reject(new TypeError('Failed to fetch'));
const keysSent = () => api.requestsFor('create').map(({ headers }) => headers.get('Idempotency-Key'));
const resumeAttributes = { 'public-key': 'pk_test_x', 'payment-id': createdPayment().id };

/** Without a reference, the price identifies it. */
const anonymousOrder = { 'public-key': 'pk_test_x', amount: '5000', 'base-currency': 'NGN' };

async function mountPartlyPaid(attributes: Parameters<typeof mount>[0]): Promise<CryptoCheckout> {
  const element = await mount(attributes);
  await goToAddress(element);
  api.payment = paymentInState('partially_paid', { amountSeen: 1 });
  await element.refresh();
  return element;
}

describe('creating', () => {
  it('a failed creation is retried with the same key, so that one payment is created', async () => {
    let failures = 1;
    api.handlers.create = () => {
      if (failures-- > 0) return offline();
      return successReply({ payment: api.payment, url: '' });
    };
    const element = await mount(orderAttributes);
    const events = recordEvents(element);
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(keysSent()).to.have.length(2);
    expect(new Set(keysSent())).to.have.length(1);
    expect(keysSent()[0]).to.match(/^[0-9a-f]{32}$/);
    expect(events).to.deep.equal(['created']);
  });

  it('the creation of a payment respects Retry-After', async () => {
    const times: number[] = [];
    api.handlers.create = () => {
      times.push(performance.now());
      return times.length === 1
        ? failureReply(429, 'rate_limited', { 'Retry-After': '3' })
        : successReply({ payment: api.payment, url: '' });
    };
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'creating');
    // Being online again ends other waits, but not this one.
    window.dispatchEvent(new Event('online'));
    await waitForStatus(element, 'choosing-currency');
    const [first = 0, second = 0] = times;
    expect(second - first).to.be.within(2_990, 5_000);
  });

  it('a refused creation shows the error, and can be retried', async () => {
    api.handlers.create = () => failureReply(401, 'invalid_api_key');
    const element = await mount(orderAttributes);
    const events = recordEvents(element);
    press(element);
    await waitForStatus(element, 'error');
    await waitFor(() => hasPart(element, 'error'));
    expect(textOf(element, 'error')).to.equal(
      'The shop’s payment settings are wrong. Please contact the shop. Refused Reference for support: request-7',
    );
    expect(getPart(element, 'error').getAttribute('role')).to.equal('alert');
    expect(events).to.deep.equal(['error']);
    delete api.handlers.create;
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(new Set(keysSent())).to.have.length(1);
  });

  it('an invalid reply to the creation is shown as an error', async () => {
    api.handlers.create = () => Response.json({ hello: 'world' });
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'error');
    await waitFor(() => hasPart(element, 'error'));
    expect(textOf(element, 'error')).to.contain('an unexpected answer');
    expect(textOf(element, 'action')).to.equal('Try again');
    expect(element.payment).to.equal(undefined);
  });

  it('an order that changed after a lost reply gets a new reference', async () => {
    let replies = 0;
    api.handlers.create = () =>
      (replies += 1) === 1
        ? failureReply(422, 'idempotency_mismatch')
        : successReply({ payment: api.payment, url: '' });
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(new Set(keysSent())).to.have.length(2);
    expect(api.requestsFor('create')[1]?.body).to.have.property('txRef', 'order-42:2');
  });

  it('an order finds a reference of its own although a stranger has taken forty', async () => {
    const taken = new Set(['order-42', ...Array.from({ length: 39 }, (_, index) => `order-42:${index + 2}`)]);
    api.handlers.create = ({ body }) =>
      taken.has(String(referenceOf(body)))
        ? failureReply(409, 'duplicate_tx_ref')
        : successReply({ payment: api.payment, url: '' });
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'choosing-currency');
    const references = api.requestsFor('create').map(({ body }) => String(referenceOf(body)));
    expect(references.slice(0, 2)).to.deep.equal(['order-42', 'order-42:2']);
    expect(references[2]).to.match(/^order-42:[1-9]\d{8}$/);
    expect(references).to.have.length(3);
    expect(new Set(keysSent())).to.have.length(3);
  });

  it('creation stops after four taken references, and continues with another one at the next press', async () => {
    api.handlers.create = () => failureReply(409, 'duplicate_tx_ref');
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'error');
    expect(api.requestsFor('create')).to.have.length(4);
    delete api.handlers.create;
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(referenceOf(api.requestsFor('create').at(-1)?.body)).to.match(/^order-42:[1-9]\d{8}$/);
  });
});

function referenceOf(body: unknown): unknown {
  return (body as { txRef?: unknown }).txRef;
}

describe('a refused step', () => {
  it('a refused step leaves the payer on the same view', async () => {
    api.payment = quotedPayment();
    api.handlers.lock = () => failureReply(503, 'rate_unavailable', { 'Retry-After': '60' });
    const element = await mount(resumeAttributes);
    await waitFor(() => hasPart(element, 'error') && textOf(element, 'error').includes('busy'));
    expect(element.status).to.equal('quoted');
    delete api.handlers.lock;
    await aTimeout(0);
    press(element);
    await waitForStatus(element, 'awaiting-funds');
    expect(hasPart(element, 'error')).to.equal(false);
  });

  it('a network that cannot be read makes the checkout offer another one, and shows the developer the cause', async () => {
    api.payment = quotedPayment({ mode: 'test' });
    api.handlers.lock = () => failureReply(503, 'chain_unavailable', { 'Retry-After': '60' });
    const element = await mount(resumeAttributes);
    await waitFor(() => hasPart(element, 'error') && textOf(element, 'error').includes('Choose another one'));
    expect(textOf(element, 'error')).to.include('Refused');
  });

  it('a refused step shows the current state if another tab has advanced the payment', async () => {
    api.payment = quotedPayment();
    api.handlers.lock = () => {
      api.payment = paymentInState('confirming');
      return failureReply(409, 'invalid_state');
    };
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'confirming');
  });
});

describe('polling', () => {
  it('a failed poll shows "reconnecting", and the next one runs at once when the page is online again', async () => {
    api.payment = lockedPayment();
    api.handlers.verify = offline;
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    expect(textOf(element, 'connection')).to.equal('');
    await element.refresh();
    await element.updateComplete;
    expect(textOf(element, 'connection')).to.equal('Reconnecting…');
    expect(element.status).to.equal('awaiting-funds');
    expect(hasPart(element, 'address')).to.equal(true);
    delete api.handlers.verify;
    const before = api.requestsFor('verify').length;
    window.dispatchEvent(new Event('online'));
    await waitFor(() => textOf(element, 'connection') === '');
    expect(api.requestsFor('verify').length).to.equal(before + 1);
  });

  it('polling repeats about every 2 seconds', async () => {
    api.payment = lockedPayment();
    const times: number[] = [];
    api.handlers.verify = () => {
      times.push(performance.now());
      return successReply(api.payment);
    };
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    await waitUntil(() => times.length === 3, 'polls three times', { timeout: 15_000 });
    const [first = 0, second = 0, third = 0] = times;
    // A busy machine delays intervals, but hardly both of them.
    expect(Math.min(second - first, third - second)).to.be.within(1_750, 3_500);
    api.payment = paymentInState('settled');
    await waitForStatus(element, 'success');
  });

  it('polling has only one request in flight', async () => {
    api.payment = lockedPayment();
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    const { handler, release } = heldReply(() => successReply(paymentInState('confirming')));
    api.handlers.verify = handler;
    const polls = [element.refresh(), element.refresh()];
    window.dispatchEvent(new Event('pageshow'));
    press(element);
    await aTimeout(50);
    expect(api.requestsFor('verify')).to.have.length(1);
    release();
    await Promise.all(polls);
    expect(element.status).to.equal('confirming');
  });

  it('polling shows an invalid reply as an error, and recovers', async () => {
    api.payment = lockedPayment();
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    api.handlers.verify = () => successReply({ ...lockedPayment(), status: 'paid' });
    await element.refresh();
    await waitFor(() => hasPart(element, 'error'));
    expect(textOf(element, 'error')).to.contain('an unexpected answer');
    expect(element.status).to.equal('awaiting-funds');
    delete api.handlers.verify;
    await element.refresh();
    await element.updateComplete;
    expect(hasPart(element, 'error')).to.equal(false);
  });

  it('polling ignores a stale reply from before the lock', async () => {
    api.payment = quotedPayment();
    const locks = heldReply(() => successReply((api.payment = lockedPayment())));
    api.handlers.lock = locks.handler;
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'locking');
    const { handler, release } = heldReply(() => successReply(quotedPayment()));
    api.handlers.retrieve = handler;
    const polls = element.refresh();
    locks.release();
    await waitForStatus(element, 'awaiting-funds');
    release();
    await polls;
    expect(element.status).to.equal('awaiting-funds');
  });

  it('polling ignores a reply from before the choice was set, and asks again', async () => {
    const branding = createdPayment().branding ?? {
      id: 'm',
      businessName: 'Nightjar Lanterns',
      name: 'Nightjar',
      logo: '',
      createdAt: createdPayment().createdAt,
      updatedAt: createdPayment().createdAt,
    };
    const stale = heldReply(() => successReply(createdPayment({ branding })));
    api.handlers.retrieve = stale.handler;
    const locks = heldReply(() => successReply((api.payment = lockedPayment())));
    api.handlers.lock = locks.handler;
    const element = await mount({ ...orderAttributes, currency: 'USDT', network: 'tron' });
    press(element);
    // The price is set and being fixed, while the reply to an older question is on its way.
    await waitForStatus(element, 'locking');
    Reflect.deleteProperty(api.handlers, 'retrieve');
    stale.release();
    await waitFor(() => api.requestsFor('retrieve').length === 2);
    await aTimeout(20);
    expect(element.status).to.equal('locking');
    locks.release();
    await waitForStatus(element, 'awaiting-funds');
    // Only the late reply had the shop's name.
    expect(element.payment?.branding?.businessName).to.equal('Nightjar Lanterns');
  });

  it('a creation that failed offline starts again with the same key once the browser is online', async () => {
    api.handlers.create = () => Promise.reject(new TypeError('Failed to fetch'));
    const element = await mount(orderAttributes);
    press(element);
    await waitForStatus(element, 'error');
    Reflect.deleteProperty(api.handlers, 'create');
    window.dispatchEvent(new Event('online'));
    await waitForStatus(element, 'choosing-currency');
    const keys = api.requestsFor('create').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys.length).to.be.at.least(2);
    expect(new Set(keys).size).to.equal(1);
  });

  it('polling waits as long as the server asks for, also when the payer presses "Check now"', async () => {
    api.payment = lockedPayment();
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    api.handlers.verify = () => failureReply(429, 'rate_limited', { 'Retry-After': '5' });
    await element.refresh();
    Reflect.deleteProperty(api.handlers, 'verify');
    const asked = api.requestsFor('verify').length;
    press(element, 'check-now');
    window.dispatchEvent(new Event('online'));
    await waitFor(() => textOf(element, 'check').includes('did not get through'));
    await aTimeout(1_500);
    expect(api.requestsFor('verify')).to.have.length(asked);
    expect(textOf(element, 'connection')).to.equal('Reconnecting…');
    await waitFor(() => api.requestsFor('verify').length > asked);
    await waitFor(() => textOf(element, 'connection') === '');
  });

  it('polling continues after a success, since the network may revert it', async () => {
    api.payment = paymentInState('settled');
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'success');
    api.payment = paymentInState('reversed');
    await aTimeout(0);
    window.dispatchEvent(new Event('pageshow'));
    await waitForStatus(element, 'error');
  });

  it('polling pauses while the page is hidden, and continues at once when the page is visible again', async () => {
    api.payment = lockedPayment();
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    let isHidden = true;
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
    try {
      await aTimeout(2_600);
      expect(api.requestsFor('verify')).to.have.length(0);
      isHidden = false;
      document.dispatchEvent(new Event('visibilitychange'));
      await waitUntil(() => api.requestsFor('verify').length === 1, 'polls at once', { timeout: 500 });
    } finally {
      Reflect.deleteProperty(document, 'hidden');
    }
  });
});

describe('on the page', () => {
  it('a removed element stops all work', async () => {
    api.payment = lockedPayment();
    const element = await mount(resumeAttributes);
    await waitForStatus(element, 'awaiting-funds');
    const { handler } = heldReply(() => successReply(lockedPayment()));
    api.handlers.verify = handler;
    const polls = element.refresh();
    element.remove();
    await polls;
    expect(api.requestsFor('verify')[0]?.signal?.aborted).to.equal(true);
    window.dispatchEvent(new Event('online'));
    document.dispatchEvent(new Event('visibilitychange'));
    await aTimeout(2_600);
    expect(api.requestsFor('verify')).to.have.length(1);
  });

  it('moving the element during a request keeps the payment', async () => {
    const { handler, release } = heldReply(() => successReply({ payment: api.payment, url: '' }));
    api.handlers.create = handler;
    const element = await mount(orderAttributes);
    press(element);
    await waitFor(() => api.requestsFor('create').length === 1);
    const parent = element.parentElement;
    element.remove();
    parent?.append(element);
    await waitFor(() => api.requestsFor('create').length === 2);
    release();
    await waitForStatus(element, 'choosing-currency');
    expect(api.requestsFor('create')[0]?.signal?.aborted).to.equal(true);
    expect(new Set(keysSent())).to.have.length(1);
  });

  it('a reload, a clone and a second tab resume the payment instead of creating one', async () => {
    const first = await mount(orderAttributes);
    await goToAddress(first);
    const second = await mount(orderAttributes);
    await waitForStatus(second, 'awaiting-funds');
    const clone = cloneElement(first);
    first.replaceWith(clone);
    await waitFor(() => clone.payment !== undefined);
    expect(clone.payment?.id).to.equal(first.payment?.id);
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('a reload during creation sends the same key', async () => {
    api.handlers.create = heldReply(() => successReply({ payment: api.payment, url: '' })).handler;
    const element = await mount(orderAttributes);
    press(element);
    await waitFor(() => api.requestsFor('create').length === 1);
    element.remove();
    delete api.handlers.create;
    const reloaded = await mount(orderAttributes);
    await waitForStatus(reloaded, 'choosing-currency');
    expect(new Set(keysSent())).to.have.length(1);
  });

  it('a paid order stays paid: its ending is shown again, and no second payment is offered', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.payment = paymentInState('settled');
    await element.refresh();
    await waitForStatus(element, 'success');
    element.remove();
    const later = await mount(orderAttributes);
    await waitForStatus(later, 'success');
    await waitFor(() => hasPart(later, 'receipt'));
    expect(hasPart(later, 'new-payment')).to.equal(false);
    await later.start();
    expect(later.status).to.equal('success');
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('an order without a reference is paid again only by a press, and forgotten after a day', async () => {
    const element = await mount(anonymousOrder);
    await goToAddress(element);
    api.payment = paymentInState('settled');
    await element.refresh();
    await waitForStatus(element, 'success');
    element.remove();
    const later = await mount(anonymousOrder);
    await waitForStatus(later, 'success');
    await waitFor(() => hasPart(later, 'new-payment'));
    later.remove();
    const name = Object.keys(localStorage).find((one) => one.includes('5000 NGN')) ?? '';
    const remembered = JSON.parse(localStorage.getItem(name) ?? '') as object;
    localStorage.setItem(name, JSON.stringify({ ...remembered, forgetAt: Date.now() - 1 }));
    const nextDay = await mount(anonymousOrder);
    await aTimeout(50);
    expect(nextDay.status).to.equal('idle');
  });

  it('a remembered payment with another amount is cancelled, and the payer is notified', async () => {
    await goToAddress(await mount(orderAttributes));
    api.payment = createdPayment();
    const changed = await mount({ ...orderAttributes, amount: '6000' });
    await waitFor(() => api.requestsFor('cancel').length === 1 && changed.status === 'idle');
    await waitFor(() => textOf(changed, 'status').includes('changed the price from'));
    api.payment = createdPayment();
    press(changed);
    await waitForStatus(changed, 'choosing-currency');
    expect(api.requestsFor('create').map(({ body }) => body)).to.deep.include({
      amount: '6000',
      baseCurrency: 'NGN',
      txRef: 'order-42:2',
    });
  });

  it('a remembered payment that the server does not know is forgotten', async () => {
    const first = await mount(orderAttributes);
    press(first);
    await waitForStatus(first, 'choosing-currency');
    first.remove();
    api.handlers.retrieve = () => failureReply(404, 'not_found');
    const element = await mount(orderAttributes);
    await waitFor(
      () =>
        Object.keys(localStorage).every((name) => !name.includes('order-42')) &&
        element.getAttribute('status') === 'idle',
    );
  });

  it('local storage is optional', async () => {
    const setItem = Storage.prototype.setItem;
    const getItem = Storage.prototype.getItem;
    const forbid = () => {
      throw new DOMException('Forbidden', 'SecurityError');
    };
    Storage.prototype.setItem = forbid;
    Storage.prototype.getItem = forbid;
    try {
      const attributes = { ...orderAttributes, 'tx-ref': 'order-without-storage' };
      const element = await mount(attributes);
      await goToAddress(element);
      element.remove();
      // A framework renders the tag again.
      await waitForStatus(await mount(attributes), 'awaiting-funds');
      expect(api.requestsFor('create')).to.have.length(1);
    } finally {
      Storage.prototype.setItem = setItem;
      Storage.prototype.getItem = getItem;
    }
  });

  it('changing the order starts over', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.payment = createdPayment();
    element.setAttribute('tx-ref', 'order-43');
    await waitForStatus(element, 'idle');
    expect(element.payment).to.equal(undefined);
    press(element);
    await waitForStatus(element, 'choosing-currency');
    expect(api.requestsFor('create')[1]?.body).to.have.property('txRef', 'order-43');
  });

  it('two tags for the same order share one payment', async () => {
    const [one, two] = [await mount(orderAttributes), await mount(orderAttributes)];
    press(one);
    await waitForStatus(one, 'choosing-currency');
    // The second one gets the message, and shows it.
    await waitForStatus(two, 'choosing-currency');
    expect(textOf(two, 'notice')).to.contain('already open in another tab');
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('two tags that are pressed at the same moment create one payment', async () => {
    const [one, two] = [await mount(orderAttributes), await mount(orderAttributes)];
    press(one);
    press(two);
    await waitForStatus(one, 'choosing-currency');
    await waitForStatus(two, 'choosing-currency');
    expect(new Set(keysSent())).to.have.length(1);
    expect(two.payment?.id).to.equal(one.payment?.id);
  });

  it('another coin cancels the payment and starts the next one, after a question', async () => {
    const element = await mount(orderAttributes);
    const events = recordEvents(element);
    await goToAddress(element);
    press(element, 'restart');
    await waitFor(() => hasPart(element, 'confirm'));
    const create = heldReply(() => successReply({ payment: createdPayment({ id: 'next' }), url: '' }));
    api.handlers.create = create.handler;
    press(element, 'confirm');
    await waitFor(() => api.requestsFor('create').length === 2);
    expect(api.requestsFor('cancel')).to.have.length(1);
    expect(referenceOf(api.requestsFor('create')[1]?.body)).to.equal('order-42:2');
    api.payment = createdPayment({ id: 'next' });
    create.release();
    await waitForStatus(element, 'choosing-currency');
    expect(element.payment?.id).to.equal('next');
    // The order continues, so the page gets no event for an ending.
    expect(events).not.to.include('cancelled');
  });

  it('another coin is refused if money has come in the meantime: the payment is shown again', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.handlers.cancel = () => {
      api.payment = paymentInState('settled');
      return failureReply(409, 'invalid_state');
    };
    press(element, 'restart');
    await waitFor(() => hasPart(element, 'confirm'));
    press(element, 'confirm');
    await waitForStatus(element, 'success');
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('a price that the page changes in the middle of a payment cancels it, and waits for a press', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    element.setAttribute('amount', '6000');
    await waitForStatus(element, 'idle');
    await waitFor(() => api.requestsFor('cancel').length === 1);
    expect(textOf(element, 'status')).to.match(/changed the price from NGN\s5,000\.00 to NGN\s6,000\.00/);
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('a price that changes after a partial payment leaves that payment unchanged', async () => {
    const element = await mountPartlyPaid(orderAttributes);
    element.setAttribute('amount', '6000');
    await aTimeout(50);
    expect(element.status).to.equal('partially-paid');
    element.remove();
    const other = await mount({ ...orderAttributes, amount: '7000' });
    await waitForStatus(other, 'partially-paid');
    expect(api.requestsFor('cancel')).to.have.length(0);
    expect(api.requestsFor('create')).to.have.length(1);
  });

  for (const [name, attributes] of [
    ['with a reference', orderAttributes],
    ['without a reference', anonymousOrder],
  ] as const) {
    it(`a price that is gone for a moment leaves a partly paid order ${name} as it is`, async () => {
      const element = await mountPartlyPaid(attributes);
      for (const amount of ['', '5000', '0', '6000', '5000']) {
        element.setAttribute('amount', amount);
        await aTimeout(30);
        expect(element.status, amount).to.equal('partially-paid');
      }
      expect(api.requestsFor('cancel')).to.have.length(0);
      expect(api.requestsFor('create')).to.have.length(1);
    });

    it(`two prices in a row cancel the payment of an order ${name} once`, async () => {
      const element = await mount(attributes);
      await goToAddress(element);
      const held = heldReply(() => successReply(api.payment));
      api.handlers.retrieve = held.handler;
      element.setAttribute('amount', '6000');
      await waitForStatus(element, 'creating');
      element.setAttribute('amount', '7000');
      await aTimeout(20);
      Reflect.deleteProperty(api.handlers, 'retrieve');
      held.release();
      await waitForStatus(element, 'idle');
      await waitFor(() => textOf(element, 'status').includes('from NGN 5,000.00 to NGN 7,000.00'));
      expect(api.requestsFor('cancel')).to.have.length(1);
      element.remove();
      // The cancelled payment is not shown as the ending of a new cart.
      const later = await mount(attributes);
      await aTimeout(50);
      expect(later.status).to.equal('idle');
    });
  }

  for (const [name, attributes] of [
    ['with a reference', orderAttributes],
    ['without a reference', anonymousOrder],
  ] as const) {
    it(`the payer of an order ${name} gets the event of a cancel that a further price has overtaken`, async () => {
      const element = await mount(attributes);
      await goToAddress(element);
      const held = heldReply(() => successReply(api.payment));
      api.handlers.verify = held.handler;
      element.setAttribute('amount', '6000');
      await waitFor(() => api.payment.status === 'cancelled');
      element.setAttribute('amount', '7000');
      Reflect.deleteProperty(api.handlers, 'verify');
      held.release();
      await waitForStatus(element, 'idle');
      await waitFor(() => textOf(element, 'status').includes('from NGN 5,000.00 to NGN 7,000.00'));
      // It stays while the price is missing for a moment.
      for (const amount of ['', '7000']) {
        element.setAttribute('amount', amount);
        await aTimeout(30);
      }
      expect(textOf(element, 'status')).to.contain('Your earlier payment is cancelled');
      expect(api.requestsFor('cancel')).to.have.length(1);
    });
  }

  it('a price that comes and goes while the previous payment is looked up loses nothing', async () => {
    const element = await mount(anonymousOrder);
    await goToAddress(element);
    const held = heldReply(() => successReply(api.payment));
    api.handlers.retrieve = held.handler;
    element.setAttribute('amount', '6000');
    await waitForStatus(element, 'creating');
    element.setAttribute('amount', '');
    await aTimeout(20);
    element.setAttribute('amount', '7000');
    Reflect.deleteProperty(api.handlers, 'retrieve');
    held.release();
    await waitFor(() => api.requestsFor('cancel').length === 1);
    await waitForStatus(element, 'idle');
    expect(textOf(element, 'status')).to.contain('Your earlier payment is cancelled');
  });

  it('a price that changes while the tag is off the page is acted on when it is back', async () => {
    const element = await mount(anonymousOrder);
    await goToAddress(element);
    const { parentElement } = element;
    element.remove();
    element.setAttribute('amount', '6000');
    await aTimeout(50);
    expect(api.requestsFor('cancel')).to.have.length(0);
    parentElement?.append(element);
    await waitFor(() => api.requestsFor('cancel').length === 1);
    await waitForStatus(element, 'idle');
    expect(textOf(element, 'status')).to.contain('Your earlier payment is cancelled');
  });

  it('a second payment after a price change belongs to the new price', async () => {
    const element = await mountPartlyPaid(anonymousOrder);
    element.setAttribute('amount', '6000');
    await aTimeout(30);
    api.payment = paymentInState('expired_partial', { amountSeen: 1 });
    await element.refresh();
    await waitForStatus(element, 'expired');
    await waitFor(() => hasPart(element, 'new-payment'));
    api.payment = createdPayment({ id: 'next', baseAmount: 6000 });
    press(element, 'new-payment');
    // The shop holds a part already.
    await waitFor(() => hasPart(element, 'confirm'));
    expect(textOf(element, 'question')).to.match(
      /^Pay the full price again\? The shop already has 1\.00\sUSDT\./,
    );
    expect(api.requestsFor('create')).to.have.length(1);
    // Focus is on the button that keeps the payment, and returns to the pressed button with it.
    const focused = () => element.shadowRoot?.activeElement?.getAttribute('part');
    await waitFor(() => focused() === 'keep');
    press(element, 'keep');
    await waitFor(() => focused() === 'new-payment');
    press(element, 'new-payment');
    await waitFor(() => hasPart(element, 'confirm'));
    press(element, 'confirm');
    await waitForStatus(element, 'choosing-currency');
    element.remove();
    const later = await mount({ ...anonymousOrder, amount: '6000' });
    await waitForStatus(later, 'choosing-currency');
    expect(later.payment?.id).to.equal('next');
    expect(api.requestsFor('create')).to.have.length(2);
    expect(api.requestsFor('cancel')).to.have.length(0);
  });

  it('another tab’s payment does not take the place of one that holds money', async () => {
    const element = await mountPartlyPaid(anonymousOrder);
    element.setAttribute('amount', '6000');
    await aTimeout(30);
    const id = element.payment?.id;
    api.handlers.retrieve = ({ path }) =>
      successReply(path.endsWith('other') ? createdPayment({ id: 'other', baseAmount: 6000 }) : api.payment);
    api.handlers.create = () =>
      successReply({ payment: createdPayment({ id: 'other', baseAmount: 6000 }), url: '' });
    const other = await mount({ ...anonymousOrder, amount: '6000' });
    press(other);
    await waitForStatus(other, 'choosing-currency');
    await aTimeout(80);
    expect(element.payment?.id).to.equal(id);
    expect(element.status).to.equal('partially-paid');
  });

  it('a tag that loses its reference shows another order, and finds its payment again with it', async () => {
    const element = await mountPartlyPaid(orderAttributes);
    element.removeAttribute('tx-ref');
    await waitForStatus(element, 'idle');
    await aTimeout(50);
    expect(element.payment).to.equal(undefined);
    element.setAttribute('tx-ref', 'order-42');
    await waitForStatus(element, 'partially-paid');
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('a cart that was paid before is not offered again after a detour over another price', async () => {
    const element = await mount(anonymousOrder);
    await goToAddress(element);
    api.payment = paymentInState('settled', { amountSeen: 3.25 });
    await element.refresh();
    await waitForStatus(element, 'success');
    const paid = api.payment;
    element.setAttribute('amount', '6000');
    await waitForStatus(element, 'idle');
    api.payment = createdPayment({ id: 'second', baseAmount: 6000 });
    press(element);
    await waitForStatus(element, 'choosing-currency');
    api.handlers.retrieve = ({ path }) =>
      successReply(path.endsWith('second') ? createdPayment({ id: 'second', baseAmount: 6000 }) : paid);
    api.handlers.verify = () => successReply({ ...createdPayment({ id: 'second' }), status: 'cancelled' });
    element.setAttribute('amount', '5000');
    await waitFor(() => api.requestsFor('cancel').length === 1);
    await waitForStatus(element, 'idle');
    element.remove();
    await waitForStatus(await mount(anonymousOrder), 'success');
  });

  it('a price that changes while money comes shows what came, instead of a new payment', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.handlers.cancel = () => {
      api.payment = paymentInState('cancelled_paid', { amountSeen: 2 });
      return successReply(undefined);
    };
    element.setAttribute('amount', '6000');
    await waitForStatus(element, 'cancelled');
    await waitFor(() => textOf(element, 'status').startsWith('2.00 USDT came'));
  });

  it('a changed price does not call the payment cancelled while the server refuses to cancel it', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.handlers.cancel = () => failureReply(400, 'validation_error');
    element.setAttribute('amount', '6000');
    await waitForStatus(element, 'error');
    expect(textOf(element, 'status')).not.to.contain('cancelled');
    Reflect.deleteProperty(api.handlers, 'cancel');
    press(element);
    await waitForStatus(element, 'idle');
    expect(textOf(element, 'status')).to.contain('Your earlier payment is cancelled');
  });

  it('without a reference, a changed price cancels the payment too', async () => {
    const element = await mount(anonymousOrder);
    await goToAddress(element);
    element.setAttribute('amount', '6000');
    await waitFor(() => api.requestsFor('cancel').length === 1);
    await waitForStatus(element, 'idle');
    expect(textOf(element, 'status')).to.contain('Your earlier payment is cancelled');
  });

  it('a paid order stays paid, whatever price the page then names', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    api.payment = paymentInState('settled', { amountSeen: 3.25 });
    await element.refresh();
    await waitForStatus(element, 'success');
    for (const amount of ['6000', '0', '']) {
      element.setAttribute('amount', amount);
      await aTimeout(30);
      expect(element.status, amount).to.equal('success');
    }
    element.remove();
    await waitForStatus(await mount({ ...orderAttributes, amount: '6000' }), 'success');
    expect(api.requestsFor('cancel')).to.have.length(0);
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('two tabs with different prices for one order do not touch each other’s payment', async () => {
    const old = await mount(orderAttributes);
    const changed = await mount({ ...orderAttributes, amount: '6000' });
    api.payment = createdPayment({ baseAmount: 6000 });
    press(changed);
    await waitForStatus(changed, 'choosing-currency');
    await waitFor(() => api.requestsFor('retrieve').length >= 2);
    await aTimeout(50);
    expect(old.status).to.equal('idle');
    await waitForStatus(old, 'idle');
    expect(getPart(old, 'card').getAttribute('aria-busy')).to.equal('false');
    expect(changed.status).to.equal('choosing-currency');
    expect(api.requestsFor('cancel')).to.have.length(0);
  });

  describe('another script of the page’s origin', () => {
    const foreign = { ...createdPayment(), id: 'F'.repeat(26), txRef: 'attackers-order' };
    const memoryName = `crypto-checkout:${location.origin}:pk_test_x:order-42`;
    const replies = (own = createdPayment()) => {
      api.handlers.retrieve = ({ path }) => successReply(path.endsWith(foreign.id) ? foreign : own);
    };

    it('another script cannot make an order show another order’s payment by the browser’s memory', async () => {
      replies();
      for (const payment of [foreign, { ...paymentInState('settled'), id: foreign.id, txRef: 'order-421' }]) {
        api.handlers.retrieve = () => successReply(payment);
        localStorage.setItem(memoryName, JSON.stringify({ attempt: 1, paymentId: foreign.id }));
        const element = await mount(orderAttributes);
        await waitFor(() => api.requestsFor('retrieve').length > 0);
        await waitForStatus(element, 'idle');
        expect(element.payment).to.equal(undefined);
        element.remove();
        api.requests.length = 0;
      }
      expect(api.requestsFor('cancel')).to.have.length(0);
    });

    it('another script cannot replace a payment that the merchant’s server created', async () => {
      replies();
      const name = `crypto-checkout:${location.origin}:pk_test_x:${createdPayment().id}`;
      localStorage.setItem(name, JSON.stringify({ attempt: 1, paymentId: foreign.id }));
      const element = await mount(resumeAttributes);
      await waitForStatus(element, 'choosing-currency');
      expect(element.payment?.id).to.equal(createdPayment().id);
    });

    it('another script cannot replace a payment by messages, and a thousand of them make a few requests', async () => {
      replies();
      const element = await mount(orderAttributes);
      press(element);
      await waitForStatus(element, 'choosing-currency');
      const before = api.requests.length;
      const channel = new BroadcastChannel(memoryName);
      for (let count = 0; count < 1000; count += 1) channel.postMessage(foreign.id);
      await waitFor(() => api.requestsFor('retrieve').some(({ path }) => path.endsWith(foreign.id)));
      await aTimeout(300);
      channel.close();
      expect(element.payment?.id).to.equal(createdPayment().id);
      // Each of five messages a second may fetch its payment and the order's own.
      expect(api.requests.length - before).to.be.at.most(10);
    });
  });

  it('a tag that was moved in the middle still exchanges messages with the other tab', async () => {
    const [one, two] = [await mount(orderAttributes), await mount(orderAttributes)];
    press(one);
    await waitForStatus(two, 'choosing-currency');
    for (const element of [one, two]) {
      const place = document.createElement('div');
      document.body.append(place);
      place.append(element);
      await element.updateComplete;
    }
    pickOption(one, 'USDT');
    await waitForStatus(one, 'choosing-network');
    pickOption(one, 'tron');
    await waitForStatus(two, 'awaiting-funds');
    [one, two].forEach((element) => element.parentElement?.remove());
  });

  it('another coin keeps money that came in the wrong one', async () => {
    const element = await mount(orderAttributes);
    await goToAddress(element);
    const receipts = [receiptOf()];
    api.payment = lockedPayment({ amountSeen: 0, receipts });
    await element.refresh();
    api.handlers.cancel = () => {
      api.payment = paymentInState('cancelled_paid', { amountSeen: 0, receipts });
      return successReply(undefined);
    };
    press(element, 'restart');
    await waitFor(() => hasPart(element, 'confirm'));
    press(element, 'confirm');
    await waitForStatus(element, 'cancelled');
    await waitFor(() => textOf(element, 'status').startsWith('10 TRX came, but the payment is cancelled.'));
    expect(api.requestsFor('create')).to.have.length(1);
  });

  it('the script can run twice', async () => {
    const { CryptoCheckout } = await import('../../src/index.js');
    // With the .ts extension: the dev server resolves .js to .ts only in static imports.
    const again: unknown = await import(
      new URL(`../../src/index.ts?again=${Date.now()}`, import.meta.url).href
    );
    expect(again).to.have.property('CryptoCheckout', CryptoCheckout);
    expect(customElements.get('crypto-checkout')).to.equal(CryptoCheckout);
    expect(createElement(orderAttributes)).to.be.instanceOf(CryptoCheckout);
  });
});
