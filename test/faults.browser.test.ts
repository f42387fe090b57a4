/** What the checkout lives through: lost connections, refusals, nonsense, and being moved about the page. */
import { aTimeout, expect, waitUntil } from '@open-wc/testing';
import {
  copyOf,
  create,
  has,
  listen,
  order,
  part,
  payUpToAddress,
  place,
  press,
  reach,
  textOf,
  until,
} from './element.js';
import { failure, FakeApi, held, success } from './fake-api.js';
import { created, inState, locked, quoted } from './records.js';

let api: FakeApi;

beforeEach(() => {
  localStorage.clear();
  api = new FakeApi().install();
});
afterEach(() => api.remove());

const offline = () => Promise.reject(new TypeError('Failed to fetch'));
const keys = () => api.of('create').map(({ headers }) => headers.get('Idempotency-Key'));
const resuming = { 'public-key': 'pk_test_x', 'payment-id': created().id };

describe('creating', () => {
  it('tries again by itself with the same key, and is created once', async () => {
    let failures = 1;
    api.answers.create = () => {
      if (failures-- > 0) return offline();
      return success({ payment: api.payment, url: '' });
    };
    const element = await place(order);
    const events = listen(element);
    press(element);
    await reach(element, 'choosing-currency');
    expect(keys()).to.have.length(2);
    expect(new Set(keys())).to.have.length(1);
    expect(keys()[0]).to.match(/^[0-9a-f]{32}$/);
    expect(events).to.deep.equal(['created']);
  });

  it('waits as long as Retry-After says', async () => {
    const times: number[] = [];
    api.answers.create = () => {
      times.push(performance.now());
      return times.length === 1
        ? failure(429, 'rate_limited', { 'Retry-After': '3' })
        : success({ payment: api.payment, url: '' });
    };
    const element = await place(order);
    press(element);
    await reach(element, 'creating');
    // The return of the connection ends other waits, not this one.
    window.dispatchEvent(new Event('online'));
    await reach(element, 'choosing-currency');
    const [first = 0, second = 0] = times;
    expect(second - first).to.be.within(2_990, 5_000);
  });

  it('says what went wrong when it is refused, and offers a way on', async () => {
    api.answers.create = () => failure(401, 'invalid_api_key');
    const element = await place(order);
    const events = listen(element);
    press(element);
    await reach(element, 'error');
    expect(textOf(element, 'error')).to.equal(
      'The shop’s payment settings are not right. Please tell the shop. Reference for support: request-7',
    );
    expect(part(element, 'error').getAttribute('role')).to.equal('alert');
    expect(events).to.deep.equal(['error']);
    delete api.answers.create;
    press(element);
    await reach(element, 'choosing-currency');
    expect(new Set(keys())).to.have.length(1);
  });

  it('does not take nonsense for a payment', async () => {
    api.answers.create = () => Response.json({ hello: 'world' });
    const element = await place(order);
    press(element);
    await reach(element, 'error');
    expect(textOf(element, 'error')).to.contain('an answer that makes no sense');
    expect(textOf(element, 'action')).to.equal('Try again');
    expect(element.payment).to.equal(undefined);
  });

  it('takes a new reference when the order changed after a creation whose reply was lost', async () => {
    let replies = 0;
    api.answers.create = () =>
      (replies += 1) === 1
        ? failure(422, 'idempotency_mismatch')
        : success({ payment: api.payment, url: '' });
    const element = await place(order);
    press(element);
    await reach(element, 'choosing-currency');
    expect(new Set(keys())).to.have.length(2);
    expect(api.of('create')[1]?.body).to.have.property('txRef', 'order-42:2');
  });
});

describe('a step that is refused', () => {
  it('leaves the payer where it was pressed', async () => {
    api.payment = quoted();
    api.answers.lock = () => failure(503, 'rate_unavailable', { 'Retry-After': '60' });
    const element = await place(resuming);
    await reach(element, 'quoted');
    press(element);
    await until(() => has(element, 'error'));
    expect(textOf(element, 'error')).to.contain('busy');
    expect(element.status).to.equal('quoted');
    delete api.answers.lock;
    await aTimeout(0);
    press(element);
    await reach(element, 'awaiting-funds');
    expect(has(element, 'error')).to.equal(false);
  });

  it('because another tab went on shows where the payment is', async () => {
    api.payment = quoted();
    api.answers.lock = () => {
      api.payment = inState('confirming');
      return failure(409, 'invalid_state');
    };
    const element = await place(resuming);
    await reach(element, 'quoted');
    press(element);
    await reach(element, 'confirming');
  });
});

describe('polling', () => {
  it('says "reconnecting" and never an ending, and is back at once with the connection', async () => {
    api.payment = locked();
    api.answers.verify = offline;
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    expect(textOf(element, 'connection')).to.equal('');
    await element.refresh();
    await element.updateComplete;
    expect(textOf(element, 'connection')).to.equal('Reconnecting…');
    expect(element.status).to.equal('awaiting-funds');
    expect(has(element, 'address')).to.equal(true);
    delete api.answers.verify;
    const before = api.of('verify').length;
    window.dispatchEvent(new Event('online'));
    await until(() => textOf(element, 'connection') === '');
    expect(api.of('verify').length).to.equal(before + 1);
  });

  it('goes on by itself, about every 2 seconds', async () => {
    api.payment = locked();
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    const begun = performance.now();
    await waitUntil(() => api.of('verify').length === 2, 'asks twice', { timeout: 8_000 });
    expect(performance.now() - begun).to.be.within(3_500, 5_500);
    api.payment = inState('settled');
    await reach(element, 'success');
  });

  it('has one request in flight, whoever asks', async () => {
    api.payment = locked();
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    const { answer, release } = held(() => success(inState('confirming')));
    api.answers.verify = answer;
    const asked = [element.refresh(), element.refresh()];
    window.dispatchEvent(new Event('pageshow'));
    press(element);
    await aTimeout(50);
    expect(api.of('verify')).to.have.length(1);
    release();
    await Promise.all(asked);
    expect(element.status).to.equal('confirming');
  });

  it('shows a malformed reply as an error, and recovers from it', async () => {
    api.payment = locked();
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    api.answers.verify = () => success({ ...locked(), status: 'paid' });
    await element.refresh();
    await element.updateComplete;
    expect(textOf(element, 'error')).to.contain('makes no sense');
    expect(element.status).to.equal('awaiting-funds');
    delete api.answers.verify;
    await element.refresh();
    await element.updateComplete;
    expect(has(element, 'error')).to.equal(false);
  });

  it('ignores a record from before the lock that was overtaken on its way', async () => {
    api.payment = quoted();
    const element = await place(resuming);
    await reach(element, 'quoted');
    const { answer, release } = held(() => success(quoted()));
    api.answers.retrieve = answer;
    const asked = element.refresh();
    press(element);
    await reach(element, 'awaiting-funds');
    release();
    await asked;
    expect(element.status).to.equal('awaiting-funds');
  });

  it('pauses while nobody looks, and asks at once when the page is seen again', async () => {
    api.payment = locked();
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    let isHidden = true;
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
    try {
      await aTimeout(2_600);
      expect(api.of('verify')).to.have.length(0);
      isHidden = false;
      document.dispatchEvent(new Event('visibilitychange'));
      await waitUntil(() => api.of('verify').length === 1, 'asks at once', { timeout: 500 });
    } finally {
      Reflect.deleteProperty(document, 'hidden');
    }
  });
});

describe('on the page', () => {
  it('nothing outlives the element', async () => {
    api.payment = locked();
    const element = await place(resuming);
    await reach(element, 'awaiting-funds');
    const { answer } = held(() => success(locked()));
    api.answers.verify = answer;
    const asked = element.refresh();
    element.remove();
    await asked;
    expect(api.of('verify')[0]?.signal?.aborted).to.equal(true);
    window.dispatchEvent(new Event('online'));
    document.dispatchEvent(new Event('visibilitychange'));
    await aTimeout(2_600);
    expect(api.of('verify')).to.have.length(1);
  });

  it('a move in the middle of a request goes on with the same payment', async () => {
    const { answer, release } = held(() => success({ payment: api.payment, url: '' }));
    api.answers.create = answer;
    const element = await place(order);
    press(element);
    await until(() => api.of('create').length === 1);
    const home = element.parentElement;
    element.remove();
    home?.append(element);
    await until(() => api.of('create').length === 2);
    release();
    await reach(element, 'choosing-currency');
    expect(api.of('create')[0]?.signal?.aborted).to.equal(true);
    expect(new Set(keys())).to.have.length(1);
  });

  it('a reload, a copy of the tag and a second tab find the payment, and create none', async () => {
    const first = await place(order);
    await payUpToAddress(first);
    const rendered = await place(order);
    await reach(rendered, 'awaiting-funds');
    const clone = copyOf(first);
    first.replaceWith(clone);
    await until(() => clone.payment !== undefined);
    expect(clone.payment?.id).to.equal(first.payment?.id);
    expect(api.of('create')).to.have.length(1);
  });

  it('a reload in the middle of the creation asks with the same key', async () => {
    api.answers.create = held(() => success({ payment: api.payment, url: '' })).answer;
    const element = await place(order);
    press(element);
    await until(() => api.of('create').length === 1);
    element.remove();
    delete api.answers.create;
    const reloaded = await place(order);
    await reach(reloaded, 'choosing-currency');
    expect(new Set(keys())).to.have.length(1);
  });

  it('forgets the payment when it is paid', async () => {
    const element = await place(order);
    await payUpToAddress(element);
    expect(localStorage.length).to.equal(1);
    api.payment = inState('settled');
    await element.refresh();
    await reach(element, 'success');
    expect(localStorage.length).to.equal(0);
  });

  it('a payment of another amount is not taken for this order’s', async () => {
    await payUpToAddress(await place(order));
    api.payment = created();
    const changed = await place({ ...order, amount: '6000' });
    await until(() => api.of('retrieve').length > 1 && changed.status === 'idle');
    press(changed);
    await reach(changed, 'choosing-currency');
    expect(api.of('create').map(({ body }) => body)).to.deep.include({
      amount: '6000',
      baseCurrency: 'NGN',
      txRef: 'order-42:2',
    });
  });

  it('a remembered payment that the server does not know is forgotten', async () => {
    const first = await place(order);
    press(first);
    await reach(first, 'choosing-currency');
    first.remove();
    api.answers.retrieve = () => failure(404, 'not_found');
    const element = await place(order);
    await until(() => localStorage.length === 0 && element.getAttribute('status') === 'idle');
  });

  it('works without local storage', async () => {
    const setItem = Storage.prototype.setItem;
    const getItem = Storage.prototype.getItem;
    const forbid = () => {
      throw new DOMException('Forbidden', 'SecurityError');
    };
    Storage.prototype.setItem = forbid;
    Storage.prototype.getItem = forbid;
    try {
      const element = await place(order);
      await payUpToAddress(element);
      expect(api.of('create')).to.have.length(1);
    } finally {
      Storage.prototype.setItem = setItem;
      Storage.prototype.getItem = getItem;
    }
  });

  it('a tag that is given another order turns to it', async () => {
    const element = await place(order);
    await payUpToAddress(element);
    api.payment = created();
    element.setAttribute('tx-ref', 'order-43');
    await reach(element, 'idle');
    expect(element.payment).to.equal(undefined);
    press(element);
    await reach(element, 'choosing-currency');
    expect(api.of('create')[1]?.body).to.have.property('txRef', 'order-43');
  });

  it('two tags for one order show one payment', async () => {
    const [one, two] = [await place(order), await place(order)];
    press(one);
    await reach(one, 'choosing-currency');
    press(two);
    await reach(two, 'choosing-currency');
    expect(api.of('create')).to.have.length(1);
  });

  it('the script may run twice', async () => {
    const { CryptoCheckout } = await import('../src/index.js');
    // The extension as it is served: only static imports are resolved to TypeScript.
    const again: unknown = await import(new URL(`../src/index.ts?again=${Date.now()}`, import.meta.url).href);
    expect(again).to.have.property('CryptoCheckout', CryptoCheckout);
    expect(customElements.get('crypto-checkout')).to.equal(CryptoCheckout);
    expect(create(order)).to.be.instanceOf(CryptoCheckout);
  });
});
