/** Texts that count as a key. The texts of the mistakes are tested in the browser. */
import { expect, test } from 'vitest';
import { findOrderProblem } from '../../src/checkout/order-problems.js';

const order = { apiUrl: 'https://pay.example.com', amount: '5000', baseCurrency: 'NGN' };
const findCode = (publicKey: string) => findOrderProblem({ ...order, publicKey })?.code;

test.each(['pk_test_x', 'pk_live_-aB3_k-9Z', `pk_test_${'-'.repeat(43)}`])(
  '%s can be a public key',
  (key) => {
    expect(findCode(key)).toBe(undefined);
  },
);

test.each(['', 'pk_test_', 'pk_test_…', 'pk_demo_x', 'pk_test_a b', ' pk_test_x'])(
  '"%s" cannot be a public key, and no request is made with it',
  (key) => {
    expect(findCode(key)).toBe('invalid_public_key');
  },
);
