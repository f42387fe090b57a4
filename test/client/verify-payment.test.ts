/** The five rules of verifyPayment, each broken on its own. */
import { describe, expect, test } from 'vitest';
import {
  verificationRules,
  verifyPayment,
  type ExpectedPayment,
  type VerificationRule,
} from '../../src/client/verify-payment.js';
import { payment } from '../../src/contract/checkout-schemas.js';
import type { Payment } from '../../src/contract/checkout.js';
import { transactions } from '../../src/contract/transactions.js';
import { createPaymentBody } from '../../src/checkout/order-payment.js';

const paid = payment.parse(transactions.verify.sample.data);
const expected: ExpectedPayment = { txRef: 'order-42', baseAmount: 5000, baseCurrency: 'NGN' };

test('a settled payment of the order is verified', () => {
  expect(verifyPayment(paid, expected)).toEqual({ verified: true, failed: [], isOverpaid: false });
});

const { amountReceived: _received, ...unreceived } = paid;
const { txRef: _txRef, ...unreferenced } = paid;
const { mode: _mode, ...unmoded } = paid;

const failedRules = (transaction: Payment, change: Partial<ExpectedPayment> = {}) =>
  verifyPayment(transaction, { ...expected, ...change }).failed.map(({ rule }) => rule);

describe('refunds', () => {
  const { receipts: _receipts, ...unlisted } = paid;
  const [receipt] = paid.receipts ?? [];
  const more = { ...paid, amountReceived: 5, receipts: receipt ? [{ ...receipt, amount: 5 }] : [] };
  test.each([
    ['the whole price, where nothing else says so', { ...unlisted, refundedAmount: 3.2 }, false],
    ['the whole price', { ...paid, refundedAmount: 3.2 }, false],
    [
      'an excess, which the amount received does not have any more',
      { ...more, amountReceived: 3.25, refundedAmount: 1.75 },
      true,
    ],
    ['more than the excess', { ...more, amountReceived: 3.2, refundedAmount: 1.8 }, false],
    [
      'an excess, by a server that says so only in the refunded amount',
      { ...more, refundedAmount: 1.75 },
      true,
    ],
  ])('refunded money does not count as paid: %s', (_name, transaction, verified) => {
    expect(verifyPayment(transaction, expected)).toMatchObject({ verified, isOverpaid: false });
  });
});

describe('a sum that the shop took as paid', () => {
  const receipts = (paid.receipts ?? []).map((one) => ({ ...one, amount: 3.2 }));
  const short = { ...paid, receipts, amountReceived: 3.2, accepted: { amount: 3.2 } };
  test.each([
    ['is due instead of the amount', short, true],
    ['must still be there', { ...short, amountReceived: 3.19 }, false],
    ['must not be refunded', { ...short, refundedAmount: 0.01 }, false],
    ['is not enough for a payment that is not a success', { ...short, status: 'error' as const }, false],
    ['is not zero', { ...short, accepted: { amount: 0 } }, false],
  ])('a sum that the shop took as paid %s', (_name, transaction, verified) => {
    expect(verifyPayment(transaction, expected).verified).toBe(verified);
  });

  test('a sum that the shop took as paid is due instead of the order’s amount, too', () => {
    const order = { ...expected, baseAmount: 3.25, baseCurrency: 'USDT' };
    const inCoins = { ...short, baseAmount: 3.25, baseCurrency: 'USDT' };
    expect(verifyPayment(inCoins, order).verified).toBe(true);
  });
});

describe('fails', () => {
  const rows: [string, Payment, Partial<ExpectedPayment>, VerificationRule[]][] = [
    ['another order’s payment', paid, { txRef: 'order-43' }, ['reference']],
    ['a reference in another case', paid, { txRef: 'Order-42' }, ['reference']],
    ['no reference', unreferenced, {}, ['reference']],
    ['a test payment', { ...paid, mode: 'test' }, {}, ['mode']],
    ['a test payment where live is expected', { ...paid, mode: 'test' }, { mode: 'live' }, ['mode']],
    ['a payment without a mode', unmoded, {}, ['mode']],
    ['in progress', { ...paid, status: 'in progress' }, {}, ['status']],
    ['error', { ...paid, status: 'error' }, {}, ['status']],
    ['cancelled', { ...paid, status: 'cancelled' }, {}, ['status']],
    ['another base currency', { ...paid, baseCurrency: 'KES' }, {}, ['price']],
    ['another paying currency', paid, { currency: 'BTC' }, ['price']],
    ['a lower price', { ...paid, baseAmount: 50 }, {}, ['price']],
    ['a higher price', { ...paid, baseAmount: 5000.01 }, {}, ['price']],
    ['underpaid by one unit of the last digit', { ...paid, amountReceived: 3.246753 }, {}, ['amount']],
    ['nothing received', { ...paid, amountReceived: 0 }, {}, ['amount']],
    ['an unknown amount received', unreceived, {}, ['amount']],
    ['no amount set', { ...paid, amount: 0, amountReceived: 0 }, {}, ['amount']],
    ['a negative amount received', { ...paid, amountReceived: -4 }, {}, ['amount']],
    [
      'everything',
      { ...paid, txRef: 'x', mode: 'test', status: 'error', baseCurrency: 'USD', amountReceived: 1 },
      {},
      ['reference', 'mode', 'status', 'price', 'amount'],
    ],
  ];
  test.each(rows)('a payment is not verified: %s', (_name, transaction, change, failed) => {
    expect(verifyPayment(transaction, { ...expected, ...change }).verified).toBe(false);
    expect(failedRules(transaction, change)).toEqual(failed);
  });

  test('a failed verification has a message per rule, in order', () => {
    const transaction: Payment = {
      ...paid,
      txRef: 'x',
      mode: 'test',
      status: 'error',
      baseAmount: 50,
      amountReceived: 7e-7,
    };
    expect(verifyPayment(transaction, expected).failed).toEqual([
      { rule: 'reference', message: 'The reference is "x", not "order-42".' },
      {
        rule: 'mode',
        message: 'The mode is "test", not "live". To accept test payments, expect mode: "test".',
      },
      { rule: 'status', message: 'The status is "error".' },
      { rule: 'price', message: 'The price is 50 NGN, not 5000 NGN.' },
      { rule: 'amount', message: '0.0000007 USDT of 3.25 was received.' },
    ]);
    expect(verificationRules).toEqual(['reference', 'mode', 'status', 'price', 'amount']);
  });

  test.each<[Partial<Payment>, string]>([
    [{}, 'The paying currency is USDT, not BTC.'],
    [{ baseAmount: 50 }, 'The price is 50 NGN, not 5000 NGN. The paying currency is USDT, not BTC.'],
  ])('the message names a wrong paying currency, whatever the price is: %j', (changes, message) => {
    const { failed } = verifyPayment({ ...paid, ...changes }, { ...expected, currency: 'BTC' });
    expect(failed).toContainEqual({ rule: 'price', message });
  });
});

describe('the reference of a further attempt', () => {
  test.each(['order-42:2', 'order-42:3', 'order-42:10', 'order-42:123'])('%s is accepted', (txRef) => {
    expect(verifyPayment({ ...paid, txRef }, expected).verified).toBe(true);
  });

  test.each([
    ...[
      'order-42:1',
      'order-42:0',
      'order-42:02',
      'order-42:-2',
      'order-42:2.0',
      'order-42:2e1',
      'order-42:',
    ],
    ...[
      'order-42:2:3',
      'order-42:2x',
      'order-42:x',
      'order-42:٢',
      'order-42: 2',
      'order-42:2\n',
      'order-422',
    ],
    ...['order-42-2', 'order-42.2', 'xorder-42:2', 'order-4:2', 'ORDER-42:2', '', ':2'],
  ])('%j is rejected', (txRef) => {
    expect(failedRules({ ...paid, txRef })).toEqual(['reference']);
  });

  test('the reference of a further attempt is rejected with isExactReference', () => {
    const isExactReference = true;
    expect(failedRules({ ...paid, txRef: 'order-42:2' }, { isExactReference })).toEqual(['reference']);
    expect(failedRules({ ...paid, txRef: 'order-42:2' }, { txRef: 'order-42:2', isExactReference })).toEqual(
      [],
    );
  });

  test('the order’s first reference is rejected where a further attempt is expected', () => {
    expect(failedRules(paid, { txRef: 'order-42:2' })).toEqual(['reference']);
  });

  test('every reference that the checkout creates is accepted', () => {
    for (const attempt of [1, 2, 3, 11]) {
      const { txRef = '' } = createPaymentBody({ apiUrl: '', publicKey: '', txRef: 'order-42' }, attempt);
      expect(failedRules({ ...paid, txRef })).toEqual([]);
    }
  });
});

describe('passes', () => {
  const rows: [string, Payment, Partial<ExpectedPayment>][] = [
    ['a test payment, if one is expected', { ...paid, mode: 'test' }, { mode: 'test' }],
    ['the expected paying currency', paid, { currency: 'USDT' }],
    ['codes in another case', paid, { currency: 'usdt', baseCurrency: 'ngn' }],
    ['an amount as a string', paid, { baseAmount: '5000.00' }],
    ['an exponent', { ...paid, amount: 7e-7, amountReceived: 7e-7 }, {}],
    ['15 digits', { ...paid, amount: 123456789.012345, amountReceived: 123456789.012345 }, {}],
  ];
  test.each(rows)('a payment is verified: %s', (_name, transaction, change) => {
    expect(verifyPayment(transaction, { ...expected, ...change })).toEqual({
      verified: true,
      failed: [],
      isOverpaid: false,
    });
  });

  test.each([
    [3.25, 3.250001],
    [7e-7, 8e-7],
    [123456789.012345, 123456789.012346],
    [9.99, 10],
  ])('a payment is verified as overpaid: %s due, %s received', (amount, amountReceived) => {
    expect(verifyPayment({ ...paid, amount, amountReceived }, expected)).toEqual({
      verified: true,
      failed: [],
      isOverpaid: true,
    });
  });
});

test('a price in the paying currency must be covered too', () => {
  const inBitcoin = { ...paid, currency: 'BTC', baseCurrency: 'BTC', baseAmount: 0.5, amount: 0.4 };
  const order = { ...expected, baseAmount: 0.5, baseCurrency: 'BTC' };
  expect(failedRules({ ...inBitcoin, amountReceived: 0.4 }, order)).toEqual(['amount']);
  expect(verifyPayment({ ...inBitcoin, amountReceived: 0.5 }, order).verified).toBe(true);
});

test.each([
  ['no reference', { txRef: '' }],
  ['no currency', { baseCurrency: '' }],
  ['an amount of 0', { baseAmount: 0 }],
  ['an amount that is not a number', { baseAmount: Number.NaN }],
  ['an invalid amount', { baseAmount: '5 000' }],
  // As from untyped code, or from a row without the field.
  ['no amount', { baseAmount: undefined as unknown as number }],
])('an expectation with %s throws', (_name, change) => {
  expect(() => verifyPayment(paid, { ...expected, ...change })).toThrow(RangeError);
});
