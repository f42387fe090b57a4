/** The growth of the database with repeated requests under fresh idempotency keys, and the replies of replays. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIdempotency } from '../../src/core/api/idempotency.js';
import { enginesOfSoak } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';
import { plainData } from '../support/plain-data.js';

describe.each(enginesOfSoak)('On $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const change = async (id: string, path: string, key: string) => {
    const response = await fetch(`${server.url}/v1/payments/${id}/${path}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${server.publicKey}`, 'Idempotency-Key': key },
    });
    expect(response.status).toBe(200);
    return { isReplay: response.headers.get('idempotent-replayed') === 'true', text: await response.text() };
  };

  /** The bytes of the tables that a payer's changes write to, without their free space. */
  const bytesKept = async () => {
    const { reader } = server.database;
    if (engine.name === 'SQLite') {
      const pages = await sql<{ used: number }>`select (select page_count from pragma_page_count) -
        (select freelist_count from pragma_freelist_count) as used`.execute(reader);
      return (pages.rows[0]?.used ?? 0) * 4096;
    }
    let bytes = 0;
    for (const name of ['payments', 'log_entries', 'idempotency', 'idempotency_replies', 'addresses']) {
      await sql`vacuum full ${sql.table(name)}`.execute(reader);
      const { rows } = await sql<{ size: string }>`select pg_total_relation_size(${name}) as size`.execute(
        reader,
      );
      bytes += Number(rows[0]?.size);
    }
    return bytes;
  };

  it('a payer’s changes leave little in the database, and hardly more than their log entries after an hour', async () => {
    // As many as each can have in an hour.
    const [payments, perPayment] = [10, 60];
    const changes = payments * perPayment;
    const { payment } = createRecords(server);
    const ids = await Promise.all(Array.from({ length: payments }, payment));
    const before = await bytesKept();
    for (let index = 0; index < perPayment; index += 1) {
      const [currency, network] = index % 2 ? ['USDT', 'tron'] : ['BTC', 'bitcoin'];
      const key = `${'x'.repeat(200)}${index}`;
      await Promise.all(ids.map((id) => change(id, `currency/set/${currency}/${network}`, key)));
    }
    // PostgreSQL keeps deleted rows while another transaction, such as a job's of this server, may still see them.
    const perChange = async () => ((await bytesKept()) - before) / changes;
    await expect.poll(perChange, { timeout: 10_000 }).toBeLessThan(500);
    const { database } = server;
    const inAnHour = createIdempotency({
      database,
      personalData: plainData,
      now: () => Date.now() + 3_600_000,
      readPayment: () => Promise.reject(new Error('Nothing is replayed')),
    });
    await inAnHour.prune();
    await expect.poll(perChange, { timeout: 10_000 }).toBeLessThan(200);
  });

  it('the replay of a payer’s change shows the payment as it is now, and changes nothing', async () => {
    const id = await createRecords(server).payment();
    const first = await change(id, 'currency/set/USDT/tron', 'one');
    expect(await change(id, 'currency/set/USDT/tron', 'one')).toEqual({ ...first, isReplay: true });
    const second = await change(id, 'currency/set/USDT/ethereum', 'two');
    expect(await change(id, 'currency/set/USDT/tron', 'one')).toEqual({ ...second, isReplay: true });
    const locked = await change(id, 'currency/lock', 'three');
    expect(await change(id, 'currency/lock', 'three')).toEqual({ ...locked, isReplay: true });
    const cancelled = await change(id, 'cancel', 'four');
    expect(await change(id, 'cancel', 'four')).toEqual({ ...cancelled, isReplay: true });
    const { rows } = await sql<{ reply: string }>`select reply from idempotency_replies`.execute(
      server.database.reader,
    );
    expect(rows.filter(({ reply }) => reply.includes(id) && reply.includes('currencyNetwork'))).toEqual([]);
  });

  it('the replay of a creation is the first reply, byte for byte', async () => {
    const createOnce = () =>
      fetch(`${server.url}/v1/payments/checkout`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${server.secretKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': 'created',
        },
        body: '{"amount":10,"baseCurrency":"USD"}',
      });
    const first = await (await createOnce()).text();
    const { data } = JSON.parse(first) as { data: { payment: { id: string } } };
    expect((await server.api('PATCH', `/v1/payments/${data.payment.id}/cancel`)).status).toBe(200);
    expect(await (await createOnce()).text()).toBe(first);
  });

  it('under /sandbox, a repeated request happens once, even if it moves the clock past the life of the key', async () => {
    const sandboxOnce = (path: string, body: object, key: string) =>
      server.api('POST', `/sandbox/${path}`, { body, headers: { 'Idempotency-Key': key } });
    const first = await sandboxOnce('blocks', { network: 'litecoin', count: 1 }, 'blocks');
    const again = await sandboxOnce('blocks', { network: 'litecoin', count: 1 }, 'blocks');
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await sandboxOnce('blocks', { network: 'litecoin', count: 2 }, 'blocks')).status).toBe(422);

    const moved = await sandboxOnce('clock', { advanceSeconds: 3 * 86_400 }, 'clock');
    const repeated = await sandboxOnce('clock', { advanceSeconds: 3 * 86_400 }, 'clock');
    expect([repeated.status, repeated.body]).toEqual([200, moved.body]);
  });
});
