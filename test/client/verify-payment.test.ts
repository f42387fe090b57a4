/** The four rules before value is given, each broken alone. */
import { describe, expect, test } from 'vitest';
import { verifyPayment, type ExpectedPayment, type FailedCheck } from '../../src/client/verify-payment.js';
import { payment, type Payment } from '../../src/contract/checkout.js';
import { transactions } from '../../src/contract/transactions.js';

const paid = payment.parse(transactions.verify.sample.data);
const expected: ExpectedPayment = { txRef: 'order-42', baseAmount: 5000, baseCurrency: 'NGN' };

test('a settled payment of the order is verified', () => {
  expect(verifyPayment(paid, expected)).toEqual({ verified: true, failed: [], isOverpaid: false });
});

const { amountReceived: _received, ...unreceived } = paid;
const { txRef: _txRef, ...unreferenced } = paid;

describe('fails', () => {
  const rows: [string, Payment, Partial<ExpectedPayment>, FailedCheck[]][] = [
    ['another order’s payment', paid, { txRef: 'order-43' }, ['reference']],
    ['a reference in other letters', paid, { txRef: 'Order-42' }, ['reference']],
    ['no reference', unreferenced, {}, ['reference']],
    ['in progress', { ...paid, status: 'in progress' }, {}, ['status']],
    ['error', { ...paid, status: 'error' }, {}, ['status']],
    ['cancelled', { ...paid, status: 'cancelled' }, {}, ['status']],
    ['another base currency', { ...paid, baseCurrency: 'KES' }, {}, ['currency']],
    ['another paying currency', paid, { currency: 'BTC' }, ['currency']],
    ['a cheaper order', { ...paid, baseAmount: 50 }, {}, ['amount']],
    ['a dearer order', { ...paid, baseAmount: 5000.01 }, {}, ['amount']],
    ['underpaid by the last digit', { ...paid, amountReceived: 3.246753 }, {}, ['amount']],
    ['nothing received', { ...paid, amountReceived: 0 }, {}, ['amount']],
    ['received unknown', unreceived, {}, ['amount']],
    ['no amount set', { ...paid, amount: 0, amountReceived: 0 }, {}, ['amount']],
    ['a negative amount received', { ...paid, amountReceived: -4 }, {}, ['amount']],
    [
      'everything',
      { ...paid, txRef: 'x', status: 'error', baseCurrency: 'USD', amountReceived: 1 },
      {},
      ['reference', 'status', 'currency', 'amount'],
    ],
  ];
  test.each(rows)('%s', (_name, transaction, change, failed) => {
    expect(verifyPayment(transaction, { ...expected, ...change })).toMatchObject({ verified: false, failed });
  });
});

describe('passes', () => {
  const rows: [string, Payment, Partial<ExpectedPayment>][] = [
    ['the expected paying currency', paid, { currency: 'USDT' }],
    ['codes in any case', paid, { currency: 'usdt', baseCurrency: 'ngn' }],
    ['an amount kept as text', paid, { baseAmount: '5000.00' }],
    ['an exponent', { ...paid, amount: 7e-7, amountReceived: 7e-7 }, {}],
    ['15 digits', { ...paid, amount: 123456789.012345, amountReceived: 123456789.012345 }, {}],
  ];
  test.each(rows)('%s', (_name, transaction, change) => {
    expect(verifyPayment(transaction, { ...expected, ...change })).toEqual({
      verified: true,
      failed: [],
      isOverpaid: false,
    });
  });

  test.each([
    [3.246754, 3.246755],
    [7e-7, 8e-7],
    [123456789.012345, 123456789.012346],
    [9.99, 10],
  ])('overpaid, and says so: %s asked, %s received', (amount, amountReceived) => {
    expect(verifyPayment({ ...paid, amount, amountReceived }, expected)).toEqual({
      verified: true,
      failed: [],
      isOverpaid: true,
    });
  });
});

test('a price in the paying currency must be covered itself', () => {
  const inBitcoin = { ...paid, currency: 'BTC', baseCurrency: 'BTC', baseAmount: 0.5, amount: 0.4 };
  const order = { ...expected, baseAmount: 0.5, baseCurrency: 'BTC' };
  expect(verifyPayment({ ...inBitcoin, amountReceived: 0.4 }, order).failed).toEqual(['amount']);
  expect(verifyPayment({ ...inBitcoin, amountReceived: 0.5 }, order).verified).toBe(true);
});

test.each([
  ['no reference', { txRef: '' }],
  ['no currency', { baseCurrency: '' }],
  ['an amount of 0', { baseAmount: 0 }],
  ['an amount that is none', { baseAmount: Number.NaN }],
  ['an amount in words', { baseAmount: '5 000' }],
])('an expectation with %s verifies nothing and throws', (_name, change) => {
  expect(() => verifyPayment(paid, { ...expected, ...change })).toThrow(RangeError);
});
