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
