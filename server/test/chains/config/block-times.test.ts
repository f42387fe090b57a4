/** The time between blocks of each live network. The widget tells payers the same, see test/views/networks.test.ts. */
import { expect, test } from 'vitest';
import { networkPresets } from '../../../src/chains/config/presets.js';

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
      ['arbitrum', 1],
    ]),
  );
});
