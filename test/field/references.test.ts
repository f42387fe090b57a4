/** Public reports of references that are too long once a counter is appended: each one that is accepted has room for it. */
import { expect, test } from 'vitest';
import { createPaymentBody, hasRoomForNext } from '../../src/checkout/order-payment.js';
import { findOrderProblem } from '../../src/checkout/order-problems.js';
import { payments } from '../../src/contract/payments.js';
import { createdPayment } from '../support/payments.js';

const orderOf = (length: number) => ({
  apiUrl: 'https://pay.example.com',
  publicKey: 'pk_test_x',
  amount: '5000',
  baseCurrency: 'NGN',
  txRef: 'x'.repeat(length),
});

test('PAYONE-GmbH/magento-2#293, odoo/odoo#15229: a reference of 90 characters has room for every later attempt', () => {
  const order = orderOf(90);
  expect(findOrderProblem(order)).toBe(undefined);
  expect(hasRoomForNext(order, createdPayment({ txRef: order.txRef }))).toBe(true);
  const body = createPaymentBody(order, 999_999_999);
  expect(body.txRef).toMatch(/^x{90}:999999999$/);
  expect(payments.create.body.parse(body)).toMatchObject({ txRef: body.txRef });
});

test('PAYONE-GmbH/magento-2#293, odoo/odoo#15229: a longer one is paid once, and no other payment is offered', () => {
  const order = orderOf(100);
  expect(findOrderProblem(order)).toBe(undefined);
  expect(hasRoomForNext(order, createdPayment({ txRef: order.txRef }))).toBe(false);
  expect(findOrderProblem(orderOf(101))).toMatchObject({ code: 'invalid_tx_ref' });
});

test.each([
  ['x'.repeat(90), 'own', true],
  ['x'.repeat(91), 'own', false],
  [`${'x'.repeat(90)}:999999999`, 'own', false],
  [`${'x'.repeat(90)}:999999999`, 'next', true],
  [undefined, 'own', true],
])(
  'a payment of the shop’s server with the reference %s, %s, can be followed by another: %s',
  (txRef, which, expected) => {
    const payment = createdPayment({ txRef });
    const { apiUrl, publicKey } = orderOf(1);
    const order = { apiUrl, publicKey, paymentId: which === 'own' ? payment.id : `${payment.id}1` };
    expect(hasRoomForNext(order, payment)).toBe(expected);
    const body = createPaymentBody(order, 999_999_999, payment);
    expect(payments.create.body.safeParse(body).success).toBe(expected);
  },
);
