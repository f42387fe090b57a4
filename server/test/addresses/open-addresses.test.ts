/** Which addresses have their balances read: those of open payments, and those that a reorganisation could concern. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAnyoneExpected, readOpenAddresses } from '../../src/addresses/open-addresses.js';
import { engines } from '../support/engines.js';
import { openMerchant, type MerchantFixture } from '../support/merchant-fixture.js';
import { startServer, type TestServer } from '../support/server.js';

const dayMs = 86_400_000;

describe.each(engines)('open addresses on $name', (engine) => {
  let server: TestServer;
  let merchant: MerchantFixture;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openMerchant(server);
  });
  afterAll(() => server.stop());

  const read = (currency = 'USDT', now = Date.now(), code = 'tron') =>
    readOpenAddresses(server.database.reader, { mode: 'test', code }, currency, now);

  it('are those of payments in the coin that are open or ended today, newest first', async () => {
    const first = await merchant.lock();
    const second = await merchant.lock();
    const other = await merchant.lock({ currency: 'TRX' });
    expect([...(await read())].sort()).toEqual([first.address, second.address].sort());
    expect(await read('TRX')).toEqual([other.address]);
    expect(await read('USDT', Date.now(), 'ethereum')).toEqual([]);

    await merchant.ask('PATCH', `/v1/payments/${first.id}/cancel`);
    expect(await read()).toContain(first.address);
    expect(await read('USDT', Date.now() + 2 * dayMs)).toEqual([second.address]);
  });

  it('include what a contract has paid lately, however old the payment is', async () => {
    const { id } = await merchant.fund({ amount: 20 });
    const inTwoDays = Date.now() + 2 * dayMs;
    const before = await read('USDT', inTwoDays);
    await server.database.write((transaction) =>
      transaction.updateTable('receipts').set({ output_index: -5 }).where('payment_id', '=', id).execute(),
    );
    const { address } = await server.database.reader
      .selectFrom('payments')
      .select('address')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(before).not.toContain(address);
    expect((await read('USDT', inTwoDays))[0]).toBe(address);
    await merchant.mine(100);
    await merchant.mine(100);
    await merchant.mine(100);
    expect(await read('USDT', inTwoDays)).not.toContain(address);
  });

  it('say whether anybody may be about to pay, in the mode alone', async () => {
    const reader = server.database.reader;
    expect(await isAnyoneExpected(reader, 'live')).toBe(false);
    const { id } = await merchant.lock();
    expect(await isAnyoneExpected(reader, 'test')).toBe(true);
    await server.database.write((transaction) =>
      transaction.updateTable('payments').set({ state: 'cancelled' }).where('mode', '=', 'test').execute(),
    );
    expect(await isAnyoneExpected(reader, 'test')).toBe(false);
    await server.database.write((transaction) =>
      transaction.updateTable('payments').set({ state: 'awaiting_funds' }).where('id', '=', id).execute(),
    );
    expect(await isAnyoneExpected(reader, 'test')).toBe(true);
  });
});
