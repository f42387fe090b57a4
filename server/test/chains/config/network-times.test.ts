/** The times that the widget shows are those of the networks that the server knows. */
import { expect, test } from 'vitest';
import { minutesFor } from '../../../../src/views/networks.js';
import { networkPresets } from '../../../src/chains/config/presets.js';

const live = Object.entries(networkPresets).filter(([, { mode }]) => mode === 'live');

test.each(live)('%s takes the time of its blocks', (code, { blockSeconds, confirmations }) => {
  for (const blocks of [1, confirmations, 100]) {
    expect(minutesFor(code, blocks)).toBe(Math.max(1, Math.ceil((blocks * blockSeconds) / 60)));
  }
});
