/** The first contact with a network: once per process, and again until it answers. */
import { expect, it } from 'vitest';
import { createFirstContact } from '../../src/modules/networks/connect.js';

it('Each network is asked until it has answered once', async () => {
  const asked: string[] = [];
  const networks = ['polygon', 'bitcoin'].map((network) => ({
    chain: {
      mode: 'live' as const,
      network,
      head() {
        asked.push(network);
        const isDown = network === 'bitcoin' && asked.length < 4;
        return isDown ? Promise.reject(new Error('Down')) : Promise.resolve({ height: 1, hash: 'a' });
      },
      block: () => Promise.resolve(undefined),
      pending: () => Promise.resolve([]),
    },
  }));
  const contact = createFirstContact(networks);
  const { signal } = new AbortController();
  for (let round = 0; round < 4; round += 1) await contact(signal);
  expect(asked).toEqual(['polygon', 'bitcoin', 'bitcoin', 'bitcoin']);
});
