/** Public reports of references that are too long once a counter is appended: each one that is accepted has room for it. */
import { expect, test } from 'vitest';
import { createPaymentBody } from '../../src/checkout/order-payment.js';
import { findOrderProblem } from '../../src/checkout/order-problems.js';
import { canHaveNext } from '../../src/checkout/state.js';
import { payments } from '../../src/contract/payments.js';
import { createdPayment } from '../support/payments.js';

const orderOf = (length: number) => ({
  apiUrl: 'https://pay.example.com',
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'x'.repeat(length),
});

test('PAYONE-GmbH/magento-2#293, odoo/odoo#15229: the longest reference of a tag has room for every later attempt', () => {
  expect(findOrderProblem(orderOf(90))).toBe(undefined);
  const body = createPaymentBody(orderOf(90), 999_999_999);
  expect(body.txRef).toMatch(/^x{90}:999999999$/);
  expect(payments.create.body.parse(body)).toMatchObject({ txRef: body.txRef });
});

test('PAYONE-GmbH/magento-2#293, odoo/odoo#15229: a longer one is refused before the first payment, with the remedy', () => {
  expect(findOrderProblem(orderOf(91))).toMatchObject({
    code: 'invalid_tx_ref',
    remedy: expect.stringContaining('1 to 90') as unknown,
  });
});

test.each([
  ['x'.repeat(90), true],
  [`${'x'.repeat(90)}:999999999`, true],
  ['x'.repeat(91), false],
  [undefined, true],
])(
  'a payment of the shop’s server with the reference %s can be followed by another: %s',
  (txRef, expected) => {
    expect(canHaveNext(createdPayment({ txRef }))).toBe(expected);
  },
);
