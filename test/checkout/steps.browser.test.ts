/** The calls that bring a payment to its next state, one by one, against a fake API. */
import { expect } from '@open-wc/testing';
import { createCheckoutClient } from '../../src/client/checkout-client.js';
import type { Order } from '../../src/checkout/order.js';
import { Polling } from '../../src/checkout/polling.js';
import { StartedOrder } from '../../src/checkout/price-change.js';
import { reduce, type CheckoutState, type CreatingState } from '../../src/checkout/state.js';
import { Steps, type Stepping } from '../../src/checkout/steps.js';
import type { Payment } from '../../src/contract/checkout.js';
import { createdPayment, lockedPayment, quotedPayment } from '../support/payments.js';
import { failureReply, successReply, useFakeApi } from '../support/fake-api.js';

const api = useFakeApi();
const order: Order = {
  apiUrl: location.origin,
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'order-42',
};

function setUp(creating: Partial<CreatingState> = {}) {
  let state: CheckoutState = { name: 'creating', preselected: {}, ...creating };
  const { signal } = new AbortController();
  const failures: unknown[] = [];
  const published: string[] = [];
  let joined = 0;
  const checkout: Stepping = {
    get state() {
      return state;
    },
    get followed() {
      return state.payment;
    },
    connection: signal,
    order,
    dispatch: (action) => void (state = reduce(state, action)),
    report: (payment) => checkout.dispatch({ type: 'reported', payment, now: Date.now() }),
    fail: (problem) => void failures.push(problem),
    start: () => undefined,
    publish: (id) => void published.push(id),
    announceJoined: () => void (joined += 1),
    log: () => undefined,
  };
  const client = createCheckoutClient(order);
  const polling = new Polling(checkout, client);
  const started = new StartedOrder(order);
  const steps = new Steps(checkout, client, polling, started);
  const setState = (next: CheckoutState) => void (state = next);
  return {
    steps,
    checkout,
    signal,
    failures,
    published,
    memory: started.memory,
    joined: () => joined,
    setState,
  };
}

it('a new payment is created, remembered, and announced to the other tabs', async () => {
  const { steps, checkout, signal, published, memory } = setUp();
  await steps.createOrRetrieve(signal);
  const { id } = createdPayment();
  expect(checkout.state.name).to.equal('choosing-currency');
  expect(memory.read().paymentId).to.equal(id);
  expect(published).to.deep.equal([id]);
});

it('the idempotency key is stored before the request, and sent again after a failure', async () => {
  const keys: (string | null)[] = [];
  const stored: (string | undefined)[] = [];
  const { steps, signal, failures, memory } = setUp();
  api.handlers.create = ({ headers }) => {
    keys.push(headers.get('idempotency-key'));
    stored.push(memory.read().idempotencyKey);
    return failureReply(422, 'validation_error');
  };
  await steps.createOrRetrieve(signal);
  await steps.createOrRetrieve(signal);
  expect(failures).to.have.length(2);
  expect(keys[0]).to.be.a('string');
  expect(stored).to.deep.equal(keys);
  expect(keys[1]).to.equal(keys[0]);
});

it('a taken reference is followed by the next one, and then by one that nobody can guess', async () => {
  const references: unknown[] = [];
  const { steps, signal, failures } = setUp();
  api.handlers.create = ({ body }) => {
    references.push((body as { txRef: string }).txRef);
    return references.length < 3
      ? failureReply(409, 'duplicate_tx_ref')
      : successReply({ payment: createdPayment(), url: 'https://pay.example/x' });
  };
  await steps.createOrRetrieve(signal);
  expect(references.slice(0, 2)).to.deep.equal(['order-42', 'order-42:2']);
  expect(references[2]).to.match(/^order-42:[1-9]\d{8}$/);
  expect(references).to.have.length(3);
  expect(failures).to.deep.equal([]);
});

it('creation gives up after four references that are taken', async () => {
  const { steps, signal, failures } = setUp();
  api.handlers.create = () => failureReply(409, 'duplicate_tx_ref');
  await steps.createOrRetrieve(signal);
  expect(api.requestsFor('create')).to.have.length(4);
  expect(failures).to.have.length(1);
});

it('the checkout joins the payment that another tab has just created', async () => {
  const { steps, signal, memory, joined } = setUp();
  memory.write({ attempt: 1, paymentId: createdPayment().id });
  await steps.createOrRetrieve(signal);
  expect(api.requestsFor('create')).to.have.length(0);
  expect(api.requestsFor('retrieve')).to.have.length(1);
  expect(joined()).to.equal(1);
});

it('the checkout forgets a remembered payment that is gone, and waits for the payer', async () => {
  const { steps, checkout, signal, memory, failures } = setUp({ paymentId: 'gone' });
  memory.write({ attempt: 1, paymentId: 'gone' });
  api.handlers.retrieve = () => failureReply(404, 'not_found');
  await steps.createOrRetrieve(signal);
  expect(checkout.state.name).to.equal('idle');
  expect(memory.read().paymentId).to.equal(undefined);
  expect(failures).to.deep.equal([]);
});

it('an open payment with another price is cancelled, and named as outdated', async () => {
  api.payment = createdPayment({ baseAmount: 4000 });
  const { steps, checkout, signal } = setUp({ paymentId: api.payment.id });
  await steps.createOrRetrieve(signal);
  expect(api.requestsFor('cancel')).to.have.length(1);
  expect(checkout.state).to.deep.include({ name: 'idle' });
  expect((checkout.state as { outdated?: Payment }).outdated?.baseAmount).to.equal(4000);
});

it('a payment with another price that has money is kept', async () => {
  api.payment = lockedPayment({ baseAmount: 4000, amountSeen: 1 });
  const { steps, checkout, signal } = setUp({ paymentId: api.payment.id });
  await steps.createOrRetrieve(signal);
  expect(api.requestsFor('cancel')).to.have.length(0);
  expect(checkout.state.name).to.equal('awaiting-funds');
});

it('a payment that could not be cancelled because it has ended is read', async () => {
  const { steps, signal } = setUp();
  api.payment = lockedPayment({ status: 'success' });
  api.handlers.cancel = () => failureReply(409, 'invalid_state');
  expect((await steps.close(api.payment.id, signal)).status).to.equal('success');
});

it('the currency is set and locked', async () => {
  const { steps, checkout, signal, setState } = setUp();
  const choice = { currency: 'USDT', network: 'tron', query: '', isSetting: true };
  setState({ name: 'choosing-network', payment: createdPayment(), ...choice });
  await steps.setCurrency(signal);
  expect(api.requestsFor('set').map(({ path }) => path.split('/').slice(-2))).to.deep.equal([
    ['USDT', 'tron'],
  ]);
  expect(checkout.state.name).to.equal('quoted');
  await steps.lock(signal);
  expect(checkout.state.name).to.equal('awaiting-funds');
});

it('the payment’s state is fetched if a step comes too late', async () => {
  const { steps, signal, failures, setState } = setUp();
  setState({ name: 'quoted', payment: quotedPayment() });
  api.payment = lockedPayment();
  api.handlers.lock = () => failureReply(409, 'already_locked');
  await steps.lock(signal);
  expect(failures).to.have.length(1);
  expect(api.requestsFor('retrieve').length + api.requestsFor('verify').length).to.equal(1);
});
