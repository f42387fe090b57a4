/** The speed and the fees of each network, as payers see them. */
import { expect, test } from 'vitest';
import { networkPresets } from '../../src/core/chains/presets.js';
import { usageOf } from '../../src/core/chains/networks.js';
import { simulatedNetworks } from '../../src/core/chains/simulated/networks.js';

test('live networks take their usual time for a block', () => {
  const live = Object.entries(networkPresets).filter(([, { mode }]) => mode === 'live');
  // An added network has a time of its own.
  expect(Object.fromEntries(live.map(([code, { blockSeconds }]) => [code, blockSeconds]))).toMatchObject({
    bitcoin: 600,
    litecoin: 150,
    ethereum: 12,
    tron: 3,
    base: 2,
    polygon: 2,
    optimism: 2,
    bsc: 1,
    arbitrum: 0.25,
  });
  for (const [code, { blockSeconds }] of live) expect(blockSeconds, code).toBeGreaterThan(0);
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
  expect(usageOf(presetOf(code), currency)).toMatchObject({ isCostly });
});

test('payers see what sending usually costs, so that the cheapest network comes first', () => {
  const fees = ['base', 'bsc', 'ethereum', 'tron'].map((code) => usageOf(presetOf(code), 'USDT').networkFee);
  expect(fees).toEqual([0.01, 0.02, 0.8, 3]);
  expect(usageOf({ blockSeconds: 2, assets: {} }, 'USDT')).toEqual({ blockSeconds: 2, isCostly: false });
});

test('simulated networks state no pace, since their blocks come at another one than those of live networks', () => {
  for (const network of simulatedNetworks) expect(usageOf(network, 'USDT').blockSeconds).toBeUndefined();
});

function presetOf(code: string): Parameters<typeof usageOf>[0] {
  const preset = networkPresets[code];
  if (!preset) throw new Error(`no preset ${code}`);
  return preset;
}
