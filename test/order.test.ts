/** What a tag asks for, as a request, a memory and a redirect. */
import { describe, expect, it } from 'vitest';
import { createBody, isPaymentOf, redirectTarget, type Order } from '../src/order.js';
import { created } from './records.js';

const order: Order = {
  apiUrl: '',
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'order-42',
};

describe('the request that creates a payment', () => {
  it('says what the tag says, and nothing that it does not', () => {
    expect(createBody(order, 1)).toEqual({ amount: '5000', baseCurrency: 'NGN', txRef: 'order-42' });
    const full = {
      ...order,
      customerEmail: 'ada@example.com',
      customerName: 'Ada Example',
      customerPhone: '+2340000',
      redirectUrl: 'https://shop.example/thanks',
    };
    expect(createBody(full, 1)).toEqual({
      amount: '5000',
      baseCurrency: 'NGN',
      txRef: 'order-42',
      redirectUrl: 'https://shop.example/thanks',
      customer: { email: 'ada@example.com', name: 'Ada Example', phoneNumber: '+2340000' },
    });
  });

  it('counts the attempts in the reference, since one is good for one payment only', () => {
    expect(createBody(order, 3).txRef).toBe('order-42:3');
    expect(createBody({ ...order, txRef: undefined }, 3).txRef).toBe(undefined);
  });

  it('takes from the payment it stands in for what the tag leaves out', () => {
    expect(
      createBody(
        { apiUrl: '', publicKey: '', paymentId: 'x' },
        2,
        created({ redirectUrl: 'https://shop.example/' }),
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
])('a remembered payment of 5000 NGN is one of %s %s: %s', (amount, baseCurrency, expected) => {
  expect(isPaymentOf({ ...order, amount, baseCurrency }, created())).toBe(expected);
});

it('a payment that the page names is the order’s, whatever it costs', () => {
  expect(isPaymentOf({ ...order, amount: '1', paymentId: 'x' }, created())).toBe(true);
});

it.each([
  ['https://shop.example/thanks', 'https://shop.example/thanks'],
  ['http://localhost:3000/', 'http://localhost:3000/'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['/thanks', undefined],
  ['', undefined],
])('%s leads to %s', (redirectUrl, expected) => {
  expect(redirectTarget({ ...order, redirectUrl }, undefined)).toBe(expected);
  expect(redirectTarget(order, created({ redirectUrl }))).toBe(expected);
});
