/** What the network picker says of speed and cost. */
import { expect, test } from 'vitest';
import { isCostly, minutesFor } from '../../src/views/networks.js';

test.each([
  ['tron', 'USDT', true],
  ['tron', 'TRX', false],
  ['ethereum', 'USDC', true],
  ['ethereum', 'ETH', true],
  ['bitcoin', 'BTC', true],
  ['litecoin', 'LTC', false],
  ['arbitrum', 'USDT', false],
  ['optimism', 'USDC', false],
  ['bsc', 'USDT', false],
])('on %s, sending %s is costly: %s', (network, currency, isMuch) => {
  expect(isCostly(network, currency)).toBe(isMuch);
});

test('nothing is said of the speed of a test network', () => {
  expect(minutesFor('litecoin-regtest', 2)).toBeUndefined();
});

// The same table is in server/test/chains/config/block-times.test.ts: neither side may load the other.
test.each([
  ['bitcoin', 600],
  ['litecoin', 150],
  ['ethereum', 12],
  ['tron', 3],
  ['base', 2],
  ['polygon', 2],
  ['optimism', 2],
  ['bsc', 1],
  ['arbitrum', 1],
])('a block of %s takes %s seconds', (network, seconds) => {
  // Sixty blocks take as many minutes as one takes seconds.
  expect(minutesFor(network, 60)).toBe(seconds);
});
