/** The order of a tag: its create request, its remembered payment and its redirect. */
import { describe, expect, it } from 'vitest';
import { createPaymentBody, matchesOrder, redirectTarget, type Order } from '../../src/checkout/order.js';
import { createdPayment } from '../support/payments.js';

const order: Order = {
  apiUrl: '',
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'order-42',
};

describe('the create request', () => {
  it('contains what the tag says, and nothing else', () => {
    expect(createPaymentBody(order, 1)).toEqual({ amount: '5000', baseCurrency: 'NGN', txRef: 'order-42' });
    const full = {
      ...order,
      customerEmail: 'ada@example.com',
      customerName: 'Ada Example',
      customerPhone: '+2340000',
      redirectUrl: 'https://shop.example/thanks',
    };
    expect(createPaymentBody(full, 1)).toEqual({
      amount: '5000',
      baseCurrency: 'NGN',
      txRef: 'order-42',
      redirectUrl: 'https://shop.example/thanks',
      customer: { email: 'ada@example.com', name: 'Ada Example', phoneNumber: '+2340000' },
    });
  });

  it('appends the attempt number to the reference, which can be used only once', () => {
    expect(createPaymentBody(order, 3).txRef).toBe('order-42:3');
    expect(createPaymentBody({ ...order, txRef: undefined }, 3).txRef).toBe(undefined);
  });

  it('takes what the tag leaves out from the previous payment', () => {
    expect(
      createPaymentBody(
        { apiUrl: '', publicKey: '', paymentId: 'x' },
        2,
        createdPayment({ redirectUrl: 'https://shop.example/' }),
      ),
    ).toEqual({
      amount: 5000,
      baseCurrency: 'NGN',
      txRef: 'order-42:2',
      redirectUrl: 'https://shop.example/',
      customer: { email: 'ada@example.com', name: 'Ada Example' },
    });
  });
});

it.each([
  ['5000', 'ngn', true],
  ['5000.00', 'NGN', true],
  ['5001', 'NGN', false],
  ['5000', 'USD', false],
])('a payment of 5000 NGN matches an order of %s %s: %s', (amount, baseCurrency, expected) => {
  expect(matchesOrder(createdPayment(), { ...order, amount, baseCurrency })).toBe(expected);
});

it('a payment that the page names always matches, whatever its amount', () => {
  expect(matchesOrder(createdPayment(), { ...order, amount: '1', paymentId: 'x' })).toBe(true);
});

it.each([
  ['https://shop.example/thanks', 'https://shop.example/thanks'],
  ['http://localhost:3000/', 'http://localhost:3000/'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['/thanks', undefined],
  ['', undefined],
])('the redirect URL %s leads to %s', (redirectUrl, expected) => {
  expect(redirectTarget({ ...order, redirectUrl }, undefined)).toBe(expected);
  expect(redirectTarget(order, createdPayment({ redirectUrl }))).toBe(expected);
});
