/** Concurrent changes of payments on several connections: nothing deadlocks, and nothing is credited twice. */
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forUpdate } from '../../src/core/db/locks.js';
import { lockPayments } from '../../src/core/payments/store.js';
import type { CallOptions } from '../support/call.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';
import { expectBooksInOrder } from '../support/violations.js';

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

  async function request(
    method: string,
    path: string,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    const { status, body } = await server.api(method, path, options);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  /** Locks a payment of 10 dollars and sends it an amount, which stays pending. Returns the payment's id. */
  async function pendingPayment(key: string, network: string, amount: number): Promise<string> {
    const shop = openShop(server, key);
    const { id, address } = await shop.lock({ network });
    await shop.send(address, amount, { network });
    return id;
  }

  const mine = (network: string) => request('POST', '/sandbox/blocks', { body: { network, count: 2 } });

  async function expectLedgerConsistent(): Promise<void> {
    await expectBooksInOrder(server.database);
  }

  /** Runs a count on a separate connection to PostgreSQL. */
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

  it('Payments that confirm on several networks cause no deadlock', { timeout: 120_000 }, async () => {
    const keys = await Promise.all(
      Array.from({ length: merchants }, () => server.foreignKey('secret', 'test')),
    );
    for (let round = 0; round < rounds; round += 1) {
      const paid = await Promise.all(
        networks.map(async (network, turn) => {
          const inTurn = [...keys.slice(turn), ...keys.slice(0, turn)];
          const all: { key: string; id: string }[] = [];
          for (const key of turn % 2 === 0 ? inTurn : inTurn.reverse()) {
            all.push({ key, id: await pendingPayment(key, network, 12) });
          }
          return all;
        }),
      );
      await Promise.all(networks.map(mine));
      for (const { key, id } of paid.flat()) {
        const payment = await request('GET', `/v1/transactions/${id}/verify`, { key });
        expect(payment).toMatchObject({ status: 'success', amountReceived: 12 });
      }
    }
    await expectLedgerConsistent();
    // PostgreSQL reports a connection's statistics when it closes, at the latest.
    await server.stop();
    expect(
      await count('select deadlocks as count from pg_stat_database where datname = current_database()'),
    ).toBe(0);
    server = await startServer({ engine, databaseUrl: database.url });
  });

  it('Payments are locked in the order of their ids, whatever the order they are asked for', async () => {
    const ids = [
      await pendingPayment(server.secretKey, 'tron', 4),
      await pendingPayment(server.secretKey, 'bsc', 4),
    ].sort();
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from payments where id = $1 for update', [ids[0]]);
    const both = server.database.write((transaction) =>
      lockPayments(transaction, ids.toReversed(), (_, error) => {
        throw error;
      }),
    );
    const waiting =
      "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(() => count(waiting), { timeout: 10_000 }).toBeGreaterThan(0);
    // It waits for the first payment, so it must not hold the second yet.
    const second = `select 1 as count from payments where id = '${ids[1] ?? ''}' for update nowait`;
    expect(await count(second).finally(() => holder.end())).toBe(1);
    expect((await both).length).toBe(2);
  });

  it('Payments that are cancelled while a reorganisation removes their receipt are debited once', async () => {
    const id = await pendingPayment(server.secretKey, 'tron', 4);
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
      reorg = request('POST', '/sandbox/reorgs', { body: { network: 'tron', depth: 2 } });
      const waiting = `select count(*) as count from pg_locks where not granted`;
      await expect.poll(() => count(waiting), { timeout: 10_000 }).toBeGreaterThan(0);
      await server.app.payments.cancel(transaction, { merchantId, mode: 'test', kind: 'secret' }, id);
    });
    await reorg;
    const payment = await request('GET', `/v1/transactions/${id}/verify`, {});
    expect(payment).toMatchObject({ status: 'cancelled', amountReceived: 0 });
    await expectLedgerConsistent();
  });

  it('Payments that two servers change in turn are answered with the changes of both, and with nothing that was rolled back', async () => {
    const other = await startServer({
      engine,
      databaseUrl: database.url,
      env: { BOOTSTRAP_PUBLIC_KEY: server.publicKey, BOOTSTRAP_SECRET_KEY: server.secretKey },
      log: pino({ level: 'silent' }),
    });
    const [first, second] = [server, other].map(({ api }) => async (method: string, path: string) => {
      const { body } = await api(method, `/v1/payments/${id}${path}`, {});
      return body.data as { transactionTimeLog: { event: string }[] };
    });
    const { id } = await openShop(server).create();
    await first?.('PATCH', '/currency/set/USDT/tron');
    await second?.('PATCH', '/currency/set/USDT/bsc');
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`.execute(
      server.database.reader,
    );
    await sql`create trigger refuse before insert on log_entries for each row
      when (new.event like '%ethereum') execute function refuse()`.execute(server.database.reader);
    // The entry fails after the reply was made.
    await second?.('PATCH', '/currency/set/USDT/ethereum');
    await first?.('PATCH', '/currency/set/USDT/polygon');
    const events = [
      'Payment started',
      ...['tron', 'bsc', 'polygon'].map((network) => `Currency set to USDT on ${network}`),
      'Currency locked: 10 USDT on polygon',
    ];
    const shown = (read: { transactionTimeLog: { event: string }[] } | undefined) =>
      read?.transactionTimeLog.map(({ event }) => event);
    expect(shown(await second?.('PATCH', '/currency/lock'))).toEqual(events);
    expect(shown(await first?.('GET', ''))).toEqual(events);
    await other.stop();
  });
});
