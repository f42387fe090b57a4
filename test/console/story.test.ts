/** The sentence at the top of a payment: its sums are exact, and are written as all amounts are. */
import { expect, it } from 'vitest';
import { sentenceOf } from '../../console/pages/story-parts.js';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { samplePayment } from '../../src/contract/payments.js';

const credit = (currency: string, amount: number) => ({ currency, amount, fee: 0, net: amount });

function sentence(more: Partial<PaymentRecord>): string | undefined {
  return sentenceOf({ ...samplePayment, ...more })?.replaceAll('\u00a0', ' ');
}

it.each([
  ['USDT', 20, 30.1, '10.10 USDT'],
  ['BTC', 0.1, 0.3, '0.2 BTC'],
  ['ETH', 0.5, 0.500000000001, '0.000000000001 ETH'],
])('the excess in %s, of %d and %d, is %s', (currency, due, came, excess) => {
  const credited = [credit(currency, came), credit('TRX', 5)];
  const text = sentence({ state: 'settled_over', currency, amount: due, credited });
  expect(text?.split(' more than the price came')[0]).toBe(excess);
});

it.each([
  [0.5, /^0\.5 ETH came 1 minute late/],
  [0.499999999999, /^0\.499999999999 ETH of 0\.5 ETH came 1 minute late/],
])('late money of %d ETH is compared with 0.5 ETH to the last unit', (came, text) => {
  const credited = [credit('ETH', came)];
  expect(sentence({ state: 'expired_late', currency: 'ETH', amount: 0.5, credited })).toMatch(text);
});
