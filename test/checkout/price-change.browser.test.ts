/** The fate of a payment when the page changes the order's price. */
import { expect } from '@open-wc/testing';
import type { Order } from '../../src/checkout/order.js';
import { StartedOrder } from '../../src/checkout/price-change.js';
import type { CheckoutState } from '../../src/checkout/state.js';
import { createdPayment, lockedPayment, paymentInState } from '../support/payments.js';

const order: Order = {
  apiUrl: 'https://pay.example',
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'order-42',
};
const dearer = { ...order, amount: '6000' };
const waiting = (changes = {}): CheckoutState => ({
  name: 'awaiting-funds',
  payment: lockedPayment(changes),
  isReconnecting: false,
});
const partial: CheckoutState = {
  name: 'partially-paid',
  payment: paymentInState('partially_paid', { amountSeen: 1 }),
  isReconnecting: false,
};
const paid: CheckoutState = { name: 'success', payment: paymentInState('settled'), isReconnecting: false };

afterEach(() => localStorage.clear());

const rows: [string, CheckoutState, Order, boolean][] = [
  ['an unpaid payment at the same price', waiting(), order, true],
  ['an unpaid payment at another price', waiting(), dearer, false],
  ['a payment of which a part has come', partial, dearer, true],
  ['a paid payment', paid, dearer, true],
  ['a paid payment of an order without a reference', paid, { ...dearer, txRef: undefined }, false],
  ['a payment whose price is gone for a moment', waiting(), { ...order, amount: undefined }, true],
  ['a payment of another order', waiting(), { ...order, txRef: 'order-43' }, false],
];

for (const [what, state, next, stays] of rows)
  it(`${what} ${stays ? 'stays' : 'does not stay'}`, () => {
    expect(new StartedOrder(order).keeps(state, next)).to.equal(stays);
  });

it('a payment stays if a wallet was asked to pay it', () => {
  localStorage.setItem(`crypto-checkout:sent:${lockedPayment().id}`, '[{}]');
  expect(new StartedOrder(order).keeps(waiting(), dearer)).to.equal(true);
});

it('the open payment is the one that is shown, requested or just cancelled', () => {
  const started = new StartedOrder(order);
  const idle: CheckoutState = { name: 'idle', outdated: createdPayment({ id: 'outdated' }) };
  const creating: CheckoutState = { name: 'creating', paymentId: 'asked', preselected: {} };
  expect(started.openPayment(waiting({ id: 'shown' }), dearer)).to.equal('shown');
  expect(started.openPayment(creating, dearer)).to.equal('asked');
  expect(started.openPayment(idle, dearer)).to.equal('outdated');
  expect(started.openPayment(paid, dearer)).to.equal(undefined);
});

it('a payment that was taken over is forgotten under its previous price too', () => {
  const anonymous = { ...order, txRef: undefined };
  const previous = new StartedOrder(anonymous);
  previous.memory.write({ attempt: 1, paymentId: 'p' });
  const next = new StartedOrder({ ...anonymous, amount: '6000' });
  next.takeOver('p', previous);
  expect(next.isTakenOver('p')).to.equal(true);
  next.forget('p');
  expect(previous.memory.read()).to.deep.equal({ attempt: 2 });
  expect(next.memory.read()).to.deep.equal({ attempt: 1 });
});
