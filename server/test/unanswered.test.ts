/** A core that no module answers refuses what only a module can do safely. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestAddressSources } from '../src/core/addresses/address-sources.js';
import { createForwarderSource } from '../src/core/addresses/forwarders.js';
import { simulatedNetworks } from '../src/core/chains/simulated/networks.js';
import { createHooks } from '../src/core/hooks.js';
import { openMarker } from '../src/modules/restore/marker.js';
import { createRestore } from '../src/modules/restore/restore.js';
import { enginesOfQuick } from './support/engines.js';
import { startServer, type TestServer } from './support/server.js';

const scope = { merchantId: 'm1', mode: 'test' } as const;
const treasury = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';

describe('A core that no module answers', () => {
  const hooks = createHooks();

  it('A core that no module answers accepts no treasury, since nobody would sweep its addresses', async () => {
    await expect(hooks.ensureTreasury(treasury)).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('A core that no module answers offers addresses of keys, and none of a treasury', () => {
    const network = simulatedNetworks.find(({ family }) => family === 'evm');
    const key = createTestAddressSources(new Uint8Array(32)).find(scope, 'evm');
    if (!network || !key) throw new Error('There is no simulated EVM network');
    expect(hooks.isOffered(network, key)).toBe(true);
    expect(hooks.isOffered(network, createForwarderSource(scope, treasury))).toBe(false);
  });

  it('A core that no module answers links errors to no docs', () => {
    expect(hooks.docsUrl('not_found')).toBe(undefined);
  });
});

describe.each(enginesOfQuick)('A restore that nobody can hold transfers for, on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  it('A restore is confirmed only once all transfers that may have been paid have ended', async () => {
    const { app, database, bootstrapped } = server;
    const marker = openMarker(undefined, app.log);
    const { hold, forgetWallets } = createHooks();
    const rules = createRestore({ ...app, marker, hold, forgetWallets });
    await database.write(async (transaction) => {
      await transaction
        .insertInto('transfers')
        .values({
          id: 't1',
          merchant_id: bootstrapped.merchantId,
          mode: 'live',
          status: 'pending',
          executor: 'operator',
          currency: 'LTC',
          network: 'litecoin',
          amount: '1',
          fee: '0',
          address: 'ltc1q',
          wallet_address_id: null,
          refund_id: null,
          tx_hash: null,
          paid_from: null,
          network_fee: null,
          failure_reason: null,
          settled_at: null,
          reversals: 0,
          from_height: null,
          pays_again: null,
          created_at: 1,
          updated_at: 1,
        })
        .execute();
      await rules.suspect(transaction, { marker: { payouts: 1 } });
    });
    await expect(rules.confirm(undefined, 'test')).rejects.toMatchObject({
      code: 'invalid_state',
      message: expect.stringContaining('"transfers settle" or "transfers fail": t1') as string,
    });
    expect(await rules.look()).toBeDefined();
    await database.write((transaction) =>
      transaction.updateTable('transfers').set({ status: 'failed' }).where('id', '=', 't1').execute(),
    );
    expect(await rules.confirm(undefined, 'test')).toMatchObject({ held: [] });
    expect(await rules.look()).toBe(undefined);
  });
});
