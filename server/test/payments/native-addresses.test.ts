/** The addresses whose balances are read: those of payments that can still get native coins from a contract. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeAddresses } from '../../src/payments/native-addresses.js';
import { engines } from '../support/engines.js';
import { openMerchant } from '../support/merchant-fixture.js';
import { startServer, type TestServer } from '../support/server.js';

const hourMs = 3_600_000;
const network = { mode: 'test', network: 'ethereum' } as const;

describe.each(engines)('Native addresses on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const read = (now = Date.now()) => nativeAddresses(server.database.reader, network, 'ETH', now);

  it('are those of locked payments in the coin on the network, newest first, until an hour after their end', async () => {
    const merchant = openMerchant(server);
    const first = await merchant.lock({ currency: 'ETH', network: 'ethereum' });
    await merchant.lock({ currency: 'USDT', network: 'ethereum' });
    await merchant.lock({ currency: 'ETH', network: 'base' });
    const second = await merchant.lock({ currency: 'ETH', network: 'ethereum' });
    expect(await read()).toEqual([second.address, first.address]);
    await merchant.ask('PATCH', `/v1/payments/${second.id}/cancel`);
    expect(await read()).toEqual([second.address, first.address]);
    expect(await read(Date.now() + 3 * hourMs)).toEqual([first.address]);
  });

  it('are those that got coins from a contract in the last blocks, however long ago they ended', async () => {
    const merchant = openMerchant(server);
    const { id, address } = await merchant.lock({ currency: 'ETH', network: 'ethereum' });
    await merchant.sandbox('transfers', { network: 'ethereum', currency: 'ETH', address, amount: 0.00001 });
    await merchant.mine(2, 'ethereum');
    await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    const later = Date.now() + 3 * hourMs;
    expect(await read(later)).not.toContain(address);
    await server.database.write(async (transaction) => {
      await transaction
        .updateTable('receipts')
        .set({ output_index: -5 })
        .where('address', '=', address)
        .execute();
    });
    expect(await read(later)).toContain(address);
    await merchant.mine(100, 'ethereum');
    await merchant.mine(100, 'ethereum');
    await merchant.mine(100, 'ethereum');
    expect(await read(later)).not.toContain(address);
  });
});
