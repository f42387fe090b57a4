/** One merchant's test clock: its deadlines, bills and retries follow it, and nobody else's. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOpen } from '../../src/core/db/payment-status.js';
import { enginesOfQuick } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)("A merchant's test clock on $name", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const newShop = async () => {
    const key = await server.foreignKey('secret', 'test');
    return { key, records: createRecords(server, key) };
  };
  const statusOf = async ({ records }: Awaited<ReturnType<typeof newShop>>, id: string) =>
    (await records.merchant.transactions.verify({ params: { transaction_id: id } })).data.status;

  it('A test clock ends the payments of its merchant, and of no other', async () => {
    const [mover, other] = [await newShop(), await newShop()];
    const [moved, stays] = [await mover.records.lockedPayment(), await other.records.lockedPayment()];
    const [movedOpen, staysOpen] = [await mover.records.payment(), await other.records.payment()];
    await mover.records.shop.advance(90_000);
    expect([await statusOf(mover, moved.id), await statusOf(mover, movedOpen)]).toEqual(['error', 'error']);
    expect([await statusOf(other, stays.id), await statusOf(other, staysOpen)]).toEqual([
      'in progress',
      'in progress',
    ]);
    const date = async ({ key }: { key: string }) =>
      Date.parse((await server.api('GET', '/v1/currencies', { key })).headers.get('date') ?? '');
    expect((await date(mover)) - (await date(other))).toBeGreaterThan(89_000_000);
  });

  it('Money that arrives in time on a moved test clock is credited, and later money is late', async () => {
    const mover = await newShop();
    await mover.records.shop.advance(5_000_000);
    const inTime = await mover.records.paidPayment();
    expect(await statusOf(mover, inTime)).toBe('success');
    const { id, address, amount } = await mover.records.lockedPayment();
    await mover.records.shop.advance(1801);
    expect(await statusOf(mover, id)).toBe('error');
    await mover.records.shop.send(address, amount / 2);
    await mover.records.shop.mine(3);
    const { data } = await mover.records.merchant.transactions.verify({ params: { transaction_id: id } });
    expect([data.status, data.state]).toEqual(['error', 'expired_late']);
  });

  it('A payment stays open if its funds were seen just before a test clock jumped over its deadline', async () => {
    const mover = await newShop();
    const { id, address, amount } = await mover.records.lockedPayment();
    await mover.records.shop.send(address, amount);
    await mover.records.shop.advance(3600);
    expect(await statusOf(mover, id)).toBe('in progress');
    await mover.records.shop.mine(3);
    expect(await statusOf(mover, id)).toBe('success');
  });

  it('A test clock bills the subscribers of its merchant, and of no other', async () => {
    const [mover, other] = [await newShop(), await newShop()];
    const [moved, stays] = [await mover.records.subscriber(), await other.records.subscriber()];
    await mover.records.shop.advance(32 * 86_400);
    const cyclesOf = async (id: string) =>
      (
        await server.database.reader
          .selectFrom('subscriber_cycles')
          .select('cycle')
          .where('subscriber_id', '=', id)
          .orderBy('cycle')
          .execute()
      ).map(({ cycle }) => cycle);
    expect([await cyclesOf(moved.id), await cyclesOf(stays.id)]).toEqual([[0, 1], [0]]);
  });

  it('A test clock leaves chains and scans on real time', async () => {
    const mover = await newShop();
    await mover.records.shop.advance(86_400);
    await mover.records.shop.mine(1, 'bsc');
    const { reader } = server.database;
    const cursors = await reader.selectFrom('chain_cursors').select('synced_at').execute();
    const blocks = await reader.selectFrom('simulated_blocks').select('time').execute();
    const latest = Math.max(...cursors.map((row) => row.synced_at), ...blocks.map((row) => row.time));
    expect(latest).toBeLessThan(Date.now() + 5000);
    expect(server.app.scanner.status().every(({ lagMs = Infinity }) => lagMs < 60_000)).toBe(true);
  });

  it('A job finds due payments and charges by index, no matter who moved a clock', async () => {
    const explain = sql.raw(server.database.engine === 'sqlite' ? 'explain query plan' : 'explain');
    const queries = [
      sql`select payments.id from test_clocks cross join payments where payments.merchant_id = test_clocks.merchant_id
         and payments.mode = 'test' and ${isOpen}
         and payments.expires_at > 5 and payments.expires_at <= test_clocks.offset_ms + 5`,
      sql`select subscribers.id from test_clocks cross join subscribers
         where subscribers.merchant_id = test_clocks.merchant_id and subscribers.mode = 'test'
         and subscribers.charge_at > 5 and subscribers.charge_at <= test_clocks.offset_ms + 5`,
    ];
    const plans = await server.database.write(async (transaction) => {
      // With a few rows, PostgreSQL would rather read the whole table.
      if (server.database.engine === 'postgres')
        await sql`set local enable_seqscan = off`.execute(transaction);
      const rows = [];
      for (const query of queries) rows.push(await sql`${explain} ${query}`.execute(transaction));
      return rows.map((plan) => JSON.stringify(plan.rows));
    });
    expect(plans[0]).toContain('payments_test_expiry');
    expect(plans[1]).toContain('subscribers_test_due');
  });
});
