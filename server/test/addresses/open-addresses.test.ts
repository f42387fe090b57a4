/** Addresses that wait for money: the order in which their balances are read, and whether there are any. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAnyoneExpected } from '../../src/core/addresses/watched-addresses.js';
import { createOpenPicker } from '../../src/modules/reconciliation/pick.js';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfTurn)('open addresses on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
  });
  afterAll(() => server.stop());

  it('open addresses take turns by merchant, so that a flood at one keeps no address of another waiting', async () => {
    const reader = server.database.reader;
    const { id, address } = await merchant.lock();
    const payment = await reader
      .selectFrom('payments')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const row = (number: number) => ({
      ...payment,
      id: `FLOOD${number}`,
      merchant_id: 'FLOODED',
      tx_ref: `flood-${number}`,
      address: `T${number}`,
    });
    await server.database.write((transaction) =>
      transaction
        .insertInto('payments')
        .values(Array.from({ length: 600 }, (_, number) => row(number)))
        .execute(),
    );
    const picker = createOpenPicker(server.database, 'test', 'tron');
    const seen = new Set<string>();
    for (let block = 0; block < 12; block += 1) {
      const picked = (await picker.next(150)).map((place) => place.address);
      expect(picked).toContain(address);
      expect(picked.length).toBeLessThanOrEqual(150);
      for (const one of picked) seen.add(one);
    }
    expect(seen.size).toBe(601);
  });

  it('open addresses say whether anybody may be about to pay, in their own mode only', async () => {
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
