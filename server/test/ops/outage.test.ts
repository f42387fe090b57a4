/** A disk that is full and a database that stops: honest replies, one line in the log, and recovery without help. */
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.js';
import { call } from '../support/call.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { openAddress, type Address } from '../support/moving-address.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const token = 'scrape-me-0123456789';
const lines: Record<string, unknown>[] = [];
const log = () =>
  createLog('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
const messages = () => lines.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg);
const messagesOf = (text: string) => lines.filter(({ msg }) => msg === text);

let server: TestServer | undefined;
let database: TestDatabase | undefined;
let proxy: Address | undefined;
afterEach(async () => {
  lines.length = 0;
  await server?.stop();
  await proxy?.stop();
  await database?.dispose();
  server = undefined;
  proxy = undefined;
  database = undefined;
});

const ready = async ({ url }: TestServer) => {
  const { status, body } = await call(url, 'GET', '/readyz');
  return status === 200 ? 'ready' : body.message;
};
const metric = async ({ url }: TestServer) => {
  const text = await (
    await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
  ).text();
  return /^checkout_ready (\d)$/m.exec(text)?.[1];
};

describe.each(engines)('A full disk on $name', (engine) => {
  /** SQLite may not grow. PostgreSQL, whose disk is shared with other tests, answers as it does when it is full. */
  async function fill({ database: { write } }: TestServer): Promise<void> {
    await write(async (transaction) => {
      if (engine.name === 'SQLite') return sql`pragma max_page_count = 1`.execute(transaction);
      await sql`create function refuse() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(
        transaction,
      );
      for (const table of ['payments', 'settings', 'chain_cursors']) {
        await sql`create trigger refuse before insert or update on ${sql.table(table)}
          execute function refuse()`.execute(transaction);
      }
    });
  }
  async function empty({ database: { write, engine: name } }: TestServer): Promise<void> {
    await write(async (transaction) => {
      if (name === 'sqlite') return sql`pragma max_page_count = 1000000`.execute(transaction);
      await sql`drop function refuse cascade`.execute(transaction);
    });
  }

  it('a write gets a 503 that says when to retry, until there is room', async () => {
    server = await startServer({ engine, log: log(), env: { METRICS_TOKEN: token } });
    const running = server;
    await expect.poll(() => ready(running), { timeout: 10_000 }).toBe('ready');
    lines.length = 0;
    expect(await metric(running)).toBe('1');
    await fill(running);
    // SQLite may still have free pages in its file.
    await expect
      .poll(async () => (await openShop(running).checkout()).status, { interval: 1, timeout: 10_000 })
      .toBe(503);
    for (let index = 0; index < 20; index += 1) {
      const { status, headers, body } = await openShop(running).checkout();
      expect([status, body.data.code]).toEqual([503, 'service_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      // The random id of the request may contain 53100 by chance.
      const { requestId = '' } = body.data;
      expect(requestId).not.toBe('');
      expect(JSON.stringify(body).replaceAll(requestId, '')).not.toMatch(/disk|SQLITE|53100/);
    }
    expect(await ready(running)).toBe('Not ready to serve: the database is out of service: the disk is full');
    expect(await metric(running)).toBe('0');
    // Requests that only read still work.
    expect((await running.api('GET', '/v1/transactions')).status).toBe(200);
    await empty(running);
    await expect.poll(() => ready(running), { timeout: 5000 }).toBe('ready');
    expect((await openShop(running).checkout()).status).toBe(200);

    expect(messages(), JSON.stringify(lines)).toEqual([
      'The database is out of service: the disk is full. Requests get 503 until it works again',
    ]);
    const [line] = messagesOf(messages()[0] as string);
    expect(JSON.stringify(line)).toMatch(/SQLITE_FULL|53100/);
    expect(messagesOf('The database works again')).toHaveLength(1);
  });
});

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))(
  'A database that stops: $name',
  (engine) => {
    it('a database that stops causes a 503 and no bug, and the server is back when the database is', async () => {
      database = await engine.create();
      proxy = await openAddress(database.url);
      server = await startServer({
        engine,
        databaseUrl: proxy.url,
        log: log(),
        env: { METRICS_TOKEN: token, BLOCK_INTERVAL_MS: '50' },
      });
      const running = server;
      await expect.poll(() => ready(running), { timeout: 10_000 }).toBe('ready');
      lines.length = 0;
      const underWay = Array.from({ length: 10 }, () => openShop(running).checkout());
      await proxy.cut();
      for (const { status, body } of await Promise.all(underWay)) {
        if (status !== 200) expect([status, body.data.code]).toEqual([503, 'service_unavailable']);
      }
      for (let index = 0; index < 10; index += 1) {
        const { status, headers, body } = await openShop(running).checkout();
        expect([status, body.data.code]).toEqual([503, 'service_unavailable']);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(await ready(running)).toBe(
        'Not ready to serve: the database is out of service: it cannot be reached',
      );
      expect(await metric(running)).toBe('0');
      // Jobs, scans and deliveries meet the outage too.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await proxy.mend();
      await expect.poll(() => ready(running), { timeout: 10_000 }).toBe('ready');
      expect((await openShop(running).checkout()).status).toBe(200);
      expect(messages(), JSON.stringify(lines)).toEqual([
        'The database is out of service: it cannot be reached. Requests get 503 until it works again',
      ]);
      expect(lines.filter(({ level }) => level === 50)).toEqual([]);
    });
  },
);
