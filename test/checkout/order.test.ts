/** The order of a tag: its create request, its remembered payment and its redirect. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createPaymentBody,
  isTrusted,
  matchesOrder,
  redirectTarget,
} from '../../src/checkout/order-payment.js';
import type { Order } from '../../src/checkout/order.js';
import { createdPayment } from '../support/payments.js';

const order: Order = {
  apiUrl: '',
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'order-42',
};

describe('the create request', () => {
  it('the create request contains only the tag’s attributes', () => {
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

  it('the create request appends the attempt number to the reference, which can be used only once', () => {
    expect(createPaymentBody(order, 3).txRef).toBe('order-42:3');
    expect(createPaymentBody({ ...order, txRef: undefined }, 3).txRef).toBe(undefined);
  });

  it('the create request takes missing attributes from the previous payment', () => {
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
      // A public key reads the payer's data abbreviated, so it must not become the next payment's customer.
      customer: undefined,
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
  for (const target of [
    redirectTarget({ ...order, redirectUrl }, createdPayment()),
    redirectTarget(order, createdPayment({ redirectUrl })),
  ]) {
    expect(target?.split('?')[0]).toBe(expected);
  }
});

it('the redirect returns to the shop with the payment’s reference, id and status', () => {
  const payment = createdPayment({
    redirectUrl: 'https://shop.example/?cart=7&status=forged',
    status: 'success',
  });
  expect(redirectTarget(order, payment)).toBe(
    `https://shop.example/?cart=7&status=success&txRef=order-42&paymentId=${payment.id}`,
  );
});

it.each([
  [{ isRedirectTrusted: true, redirectUrl: 'https://shop.example/' }, undefined, true],
  [{ isRedirectTrusted: false, redirectUrl: 'https://evil.example/' }, undefined, false],
  [{ isRedirectTrusted: undefined, redirectUrl: 'https://evil.example/' }, 'https://shop.example/', false],
  [{ isRedirectTrusted: false, redirectUrl: 'https://shop.example/' }, 'https://shop.example/', true],
])('a payment with %j may leave a page with %s automatically: %s', (changes, redirectUrl, expected) => {
  expect(isTrusted({ ...order, redirectUrl }, createdPayment(changes))).toBe(expected);
});

it('the tag’s URL is trusted as the server keeps it, also in browsers without URL.canParse', () => {
  vi.stubGlobal(
    'URL',
    class extends URL {
      static override readonly canParse = undefined as unknown as typeof URL.canParse;
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  const payment = createdPayment({ isRedirectTrusted: false, redirectUrl: 'https://shop.example/' });
  expect(isTrusted({ ...order, redirectUrl: 'https://shop.example' }, payment)).toBe(true);
  expect(isTrusted({ ...order, redirectUrl: 'thanks' }, payment)).toBe(false);
});
