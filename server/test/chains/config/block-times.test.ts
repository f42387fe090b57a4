/** What payers are told of the speed and the fees of each network. */
import { expect, test } from 'vitest';
import { networkPresets } from '../../../src/chains/config/presets.js';
import { usageOf } from '../../../src/chains/networks.js';
import { simulatedNetworks } from '../../../src/chains/simulated/networks.js';

test('live networks take their usual time for a block', () => {
  const live = Object.entries(networkPresets).filter(([, { mode }]) => mode === 'live');
  expect(new Map(live.map(([code, { blockSeconds }]) => [code, blockSeconds]))).toEqual(
    new Map([
      ['bitcoin', 600],
      ['litecoin', 150],
      ['ethereum', 12],
      ['tron', 3],
      ['base', 2],
      ['polygon', 2],
      ['optimism', 2],
      ['bsc', 1],
      ['arbitrum', 0.25],
    ]),
  );
});

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
])('on %s, sending %s is costly: %s', (code, currency, isCostly) => {
  expect(usageOf(networkPresets[code] ?? {}, currency)).toMatchObject({ isCostly });
});

test('simulated networks have the pace and the fees of the live ones', () => {
  for (const network of simulatedNetworks) {
    const { blockSeconds } = networkPresets[network.code] ?? {};
    expect(usageOf(network, 'USDT')).toMatchObject({ blockSeconds });
  }
});
