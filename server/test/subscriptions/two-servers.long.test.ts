/** Billing by two replicas on one PostgreSQL database: they share the work, and charge every cycle once. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/core/shared/ids.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { createFixture, cycleOf, type Fixture } from './fixture.js';

const hour = 3600;
const subscribers = 120;
const timeout = 180_000;

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))('two servers on one $name', (engine) => {
  const key = `sk_test_${randomBytes(32).toString('base64url')}`;
  let database: TestDatabase;
  let servers: TestServer[] = [];
  let first: Fixture;
  let second: Fixture;
  /** The ids of payments start with the letter of the server that created them. */
  const start = (letter: string) =>
    startServer({
      engine,
      databaseUrl: database.url,
      env: { BOOTSTRAP_SECRET_KEY: key, PAYMENT_CHOOSE_SECONDS: '1000000000' },
      overrides: { newId: () => letter + newId().slice(1) },
      // Broken connections are part of the test.
      log: pino({ level: 'silent' }),
    });

  beforeAll(async () => {
    database = await engine.create();
    const one = await start('A');
    const other = await start('B');
    servers = [one, other];
    first = createFixture(one, key);
    second = createFixture(other, key);
    const planId = await first.createPlan({ frequency: 'hourly', numberOfTimesToCharge: 1000 });
    for (let index = 0; index < subscribers; index += 1) {
      const answer = await first.subscribe(planId, `subscriber-${index}@example.com`);
      expect(answer.status).toBe(200);
    }
  }, timeout);
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await database.dispose();
  });

  /** The charged cycles of each subscriber, and how many cycles after 0 each server charged. */
  async function charged() {
    const bySubscriber = await first.charged();
    const letters = { A: 0, B: 0 };
    for (const payments of bySubscriber.values()) {
      for (const payment of payments) {
        if (cycleOf(payment) > 0) letters[payment.id.startsWith('A') ? 'A' : 'B'] += 1;
      }
    }
    const cycles = [...bySubscriber.values()].map((payments) => payments.map(cycleOf));
    return { cycles, letters };
  }

  it('two servers charge each cycle once, and share the work', { timeout }, async () => {
    const rounds = 2;
    for (let round = 0; round < rounds; round += 1) {
      // The second server learns the new time while the first one is already billing.
      await Promise.all([
        first.advance(hour),
        (async () => {
          for (let run = 0; run < 4; run += 1) await second.advance(1);
        })(),
      ]);
      await first.advance(0);
    }
    const { cycles, letters } = await charged();
    expect(cycles).toEqual(Array.from({ length: subscribers }, () => [0, 1, 2]));
    expect(letters.A + letters.B).toBe(subscribers * rounds);
    expect(Math.min(letters.A, letters.B)).toBeGreaterThan(0);
  });

  it('two servers charge each cycle once, even if all connections break', { timeout }, async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const count = async () => {
      const { rows } = await client.query<{ count: string }>(
        'select count(*) as count from subscriber_cycles where cycle = 3',
      );
      return Number(rows[0]?.count);
    };
    try {
      const advanced = first.advance(hour).catch(() => undefined);
      for (const charged of [1, 30, 60, 90]) {
        await expect.poll(count, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(charged);
        expect(await count()).toBeLessThan(subscribers);
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        );
      }
      await advanced;
      await expect.poll(count, { timeout: 60_000 }).toBe(subscribers);
    } finally {
      await client.end();
    }
    const { cycles } = await charged();
    expect(cycles).toEqual(Array.from({ length: subscribers }, () => [0, 1, 2, 3]));
  });
});
