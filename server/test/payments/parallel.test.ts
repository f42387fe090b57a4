/** What changes payments at once on several connections: nobody waits in a circle, and nothing is credited twice. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/audit/check.js';
import { forUpdate } from '../../src/db/locks.js';
import type { CallOptions } from '../support/call.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const networks = ['tron', 'bsc', 'polygon', 'ethereum'];
const merchants = 5;
const rounds = 2;

/** On SQLite one transaction runs at a time. */
describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))('payments on $name', (engine) => {
  let database: TestDatabase;
  let server: TestServer;
  beforeEach(async () => {
    database = await engine.create();
    server = await startServer({ engine, databaseUrl: database.url });
  });
  afterEach(async () => {
    await server.stop();
    await database.dispose();
  });

  async function ask(method: string, path: string, options: CallOptions): Promise<Record<string, unknown>> {
    const { status, body } = await server.api(method, path, options);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  /** A payment of 10 dollars that is sent an amount, which waits for a block. Answers its id. */
  async function pay(key: string, network: string, amount: number): Promise<string> {
    const body = { amount: 10, baseCurrency: 'USD' };
    const { payment } = await ask('POST', '/v1/payments/checkout', { key, body });
    const { id } = payment as { id: string };
    await ask('PATCH', `/v1/payments/${id}/currency/set/USDT/${network}`, { key });
    const locked = await ask('PATCH', `/v1/payments/${id}/currency/lock`, { key });
    const { address } = locked['addressInformation'] as { address: string };
    await ask('POST', '/sandbox/transfers', { key, body: { network, currency: 'USDT', address, amount } });
    return id;
  }

  const mine = (network: string) => ask('POST', '/sandbox/blocks', { body: { network, count: 2 } });

  async function expectBooksInOrder(): Promise<void> {
    const checks = await server.database.snapshot((reader) => checkLedger(reader));
    expect(checks.flatMap(({ violations }) => violations)).toEqual([]);
  }

  /** Asks the engine itself, on a connection of its own. */
  async function count(query: string): Promise<number> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ count: string }>(query);
      return Number(rows[0]?.count);
    } finally {
      await client.end();
    }
  }

  it('that confirm on several networks cause no deadlock', { timeout: 120_000 }, async () => {
    const keys = await Promise.all(
      Array.from({ length: merchants }, () => server.foreignKey('secret', 'test')),
    );
    for (let round = 0; round < rounds; round += 1) {
      const paid = await Promise.all(
        networks.map(async (network, turn) => {
          const inTurn = [...keys.slice(turn), ...keys.slice(0, turn)];
          const all: { key: string; id: string }[] = [];
          for (const key of turn % 2 === 0 ? inTurn : inTurn.reverse()) {
            all.push({ key, id: await pay(key, network, 12) });
          }
          return all;
        }),
      );
      await Promise.all(networks.map(mine));
      for (const { key, id } of paid.flat()) {
        const payment = await ask('GET', `/v1/transactions/${id}/verify`, { key });
        expect(payment).toMatchObject({ status: 'success', amountReceived: 12 });
      }
    }
    await expectBooksInOrder();
    // A connection adds what it counted when it ends, at the latest.
    await server.stop();
    expect(
      await count('select deadlocks as count from pg_stat_database where datname = current_database()'),
    ).toBe(0);
    server = await startServer({ engine, databaseUrl: database.url });
  });

  it('that end while what they received leaves the chain give it back once', async () => {
    const id = await pay(server.secretKey, 'tron', 4);
    await mine('tron');
    const { merchantId } = server.bootstrapped;
    let reorg: Promise<unknown> = Promise.resolve();
    await server.database.write(async (transaction) => {
      await transaction
        .selectFrom('payments')
        .select('id')
        .where('id', '=', id)
        .$call(forUpdate(transaction))
        .execute();
      reorg = ask('POST', '/sandbox/reorgs', { body: { network: 'tron', depth: 2 } });
      const waiting = `select count(*) as count from pg_locks where not granted`;
      await expect.poll(() => count(waiting), { timeout: 10_000 }).toBeGreaterThan(0);
      await server.app.payments.cancel(transaction, { merchantId, mode: 'test' }, id);
    });
    await reorg;
    const payment = await ask('GET', `/v1/transactions/${id}/verify`, {});
    expect(payment).toMatchObject({ status: 'cancelled', amountReceived: 0 });
    await expectBooksInOrder();
  });
});
