/** One time for all replicas: a server whose own clock is wrong uses the database's, says so, and is not ready. */
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createServerTime } from '../../src/core/db/server-time.js';
import { openDatabase } from '../../src/database.js';
import { call } from '../support/call.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const twoHours = 7_200_000;

/** A log whose entries can be read. */
function recordingLog() {
  const entries: { level: number; msg: string; skewMs?: number }[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void entries.push(JSON.parse(line) as never) },
  );
  return { log, about: (text: string) => entries.filter(({ msg }) => msg.includes(text)) };
}

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))('The time on $name', (engine) => {
  const disposals: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const dispose of disposals.splice(0).reverse()) await dispose();
  });

  async function newDatabase(): Promise<TestDatabase> {
    const database = await engine.create();
    disposals.push(() => database.dispose());
    return database;
  }

  it("Server time is the database's, whatever the machine's clock says, and never goes back", async () => {
    const database = await openDatabase((await newDatabase()).url);
    disposals.push(() => database.close());
    const { log, about } = recordingLog();
    let ahead = twoHours;
    const time = await createServerTime(database, log, () => Date.now() + ahead);
    expect(Math.abs(time.now() - Date.now())).toBeLessThan(1000);
    expect(Math.abs(time.skewMs() - twoHours)).toBeLessThan(1000);
    let last = time.now();
    for (let measured = 0; measured < 20; measured += 1) {
      await time.measure();
      expect(time.now()).toBeGreaterThanOrEqual(last);
      last = time.now();
    }
    expect(about('7200 s ahead of the database'), 'logged once').toHaveLength(1);
    ahead = 0;
    await time.measure();
    expect(Math.abs(time.skewMs())).toBeLessThan(1000);
    expect(about('agrees with the database')).toHaveLength(1);
  });

  it('Server time is right even if the first query waited two seconds for a connection', async () => {
    const database = await openDatabase((await newDatabase()).url);
    disposals.push(() => database.close());
    // All connections of the pool.
    const sleeping = Array.from({ length: 10 }, () => sql`select pg_sleep(2)`.execute(database.reader));
    const { log } = recordingLog();
    const time = await createServerTime(database, log);
    const off = time.now() - Date.now();
    await Promise.all(sleeping);
    expect(Math.abs(off)).toBeLessThan(300);
  });

  it('a replica two hours ahead ends no payment, and is not ready; the other one is', async () => {
    const { url } = await newDatabase();
    const right = await startServer({ engine, databaseUrl: url });
    disposals.push(() => right.stop());
    const records = createRecords(right);
    const { id } = await records.lockedPayment();
    const { log, about } = recordingLog();
    const wrong: TestServer = await startServer({
      engine,
      databaseUrl: url,
      env: { BOOTSTRAP_SECRET_KEY: right.secretKey, BOOTSTRAP_PUBLIC_KEY: right.publicKey },
      overrides: { localNow: () => Date.now() + twoHours },
      log,
    });
    disposals.push(() => wrong.stop());
    const ready = async (server: TestServer) => call(server.url, 'GET', '/readyz');
    const refused = await ready(wrong);
    expect([refused.status, refused.body.message]).toEqual([
      503,
      expect.stringMatching(/this server's clock is 7200 s ahead of the database's/),
    ]);
    await expect.poll(async () => (await ready(right)).status, { timeout: 15_000 }).toBe(200);
    expect(about('7200 s ahead')).toHaveLength(1);

    await wrong.app.payments.expireOverdue(new AbortController().signal);
    await wrong.app.scanner.scanNow({ mode: 'test', network: 'tron' });
    await wrong.app.payments.expireOverdue(new AbortController().signal);
    const answer = await wrong.api('GET', `/v1/transactions/${id}/verify`);
    expect(answer.body.data['status']).toBe('in progress');
    expect(Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now())).toBeLessThan(5000);

    // Its blocks are of the right time too, so that the others do not wait two hours for the next one.
    await openShop(wrong, right.secretKey).mine(1);
    const { time } = await right.database.reader
      .selectFrom('simulated_blocks')
      .select((e) => e.fn.max('time').as('time'))
      .executeTakeFirstOrThrow();
    expect(time).toBeLessThan(Date.now() + 5000);
  });
});

describe.each(engines)('Simulated blocks on $name', (engine) => {
  let server: TestServer | undefined;
  afterEach(() => server?.stop());

  it('Simulated blocks that stop coming are a lag, which /readyz names', async () => {
    let skew = 0;
    server = await startServer({
      engine,
      env: { BLOCK_INTERVAL_MS: '1000000', READY_CHAIN_LAG_SECONDS: '60' },
      overrides: { realNow: () => Date.now() + skew },
    });
    const { app, url } = server;
    const scan = () => app.scanner.scanNow({ mode: 'test', network: 'tron' });
    const lag = () => app.scanner.status().find(({ network }) => network === 'tron')?.lagMs ?? -1;
    await scan();
    expect(lag()).toBeLessThan(10_000);
    skew = 1_200_000;
    // Scanning works, but there is nothing new to scan.
    await Promise.all(
      app.scanner.status().map(({ mode, network }) => app.scanner.scanNow({ mode, network })),
    );
    expect(lag()).toBeGreaterThan(190_000);
    const answer = await call(url, 'GET', '/readyz');
    expect([answer.status, answer.body.message]).toEqual([503, expect.stringMatching(/is \d+ s behind/)]);
    await app.simulatedChains.mineDue();
    await scan();
    expect(lag()).toBeLessThan(10_000);
  });
});
