/** How much the database grows with repeated requests under fresh idempotency keys, and what a replay still answers. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(engines)('On $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const kept = async () => {
    const length = sql<number>`coalesce(sum(length(reply)), 0)`.as('bytes');
    const records = await server.database.reader
      .selectFrom('idempotency')
      .select((e) => e.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    const replies = await server.database.reader
      .selectFrom('idempotency_replies')
      .select((e) => [e.fn.countAll<number>().as('count'), length])
      .executeTakeFirstOrThrow();
    return { records: records.count, replies: replies.count, bytes: replies.bytes };
  };
  const lock = (id: string, key: string) =>
    server.api('PATCH', `/v1/payments/${id}/currency/lock`, {
      key: server.publicKey,
      headers: { 'Idempotency-Key': key },
    });

  it('a lock repeated with fresh keys keeps a record of each, but the reply only once', async () => {
    const { id } = await createRecords(server).lockedPayment();
    // Whatever a repeated lock logs, it has logged by now.
    for (let index = 0; index < 3; index += 1) await lock(id, randomUUID());
    const before = await kept();
    const { transactionTimeLog } = (await lock(id, randomUUID())).body.data as {
      transactionTimeLog: unknown[];
    };
    for (let index = 0; index < 100; index += 1) expect((await lock(id, randomUUID())).status).toBe(200);
    const after = await kept();
    expect(after.records - before.records).toBe(101);
    const { transactionTimeLog: now } = (await server.api('GET', `/v1/payments/${id}`)).body.data as {
      transactionTimeLog: unknown[];
    };
    // As long as the log stands still, so does what is kept. Otherwise it grows by the same for each, not with the log.
    const grown = now.length > transactionTimeLog.length;
    expect(after.replies - before.replies).toBeLessThanOrEqual(grown ? 101 : 1);
    expect(after.bytes - before.bytes).toBeLessThanOrEqual((grown ? 101 : 1) * 3000);
  });

  it('a replay has the time log as it was then, byte for byte, although only its length is kept', async () => {
    const id = await createRecords(server).payment();
    const set = (network: string, key: string) =>
      fetch(`${server.url}/v1/payments/${id}/currency/set/USDT/${network}`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${server.publicKey}`, 'Idempotency-Key': key },
      });
    const first = await (await set('tron', 'one')).text();
    const second = await (await set('ethereum', 'two')).text();
    const locked = await lock(id, 'three');
    expect(locked.status).toBe(200);
    for (const [network, key, text] of [
      ['tron', 'one', first],
      ['ethereum', 'two', second],
    ] as const) {
      const replay = await set(network, key);
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      expect(await replay.text()).toBe(text);
    }
    const { rows } = await sql<{ reply: string }>`select reply from idempotency_replies`.execute(
      server.database.reader,
    );
    for (const { reply } of rows) expect(reply).not.toMatch(/"transactionTimeLog":\[/);
  });

  it('the replay of a creation is the first reply, byte for byte', async () => {
    const create = () =>
      fetch(`${server.url}/v1/payments/checkout`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${server.secretKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': 'created',
        },
        body: '{"amount":10,"baseCurrency":"USD"}',
      });
    const first = await (await create()).text();
    const { data } = JSON.parse(first) as { data: { payment: { id: string } } };
    expect((await server.api('PATCH', `/v1/payments/${data.payment.id}/cancel`)).status).toBe(200);
    expect(await (await create()).text()).toBe(first);
  });

  it('under /sandbox, a repeated request happens once, even if it moves the clock past the life of the key', async () => {
    const send = (path: string, body: object, key: string) =>
      server.api('POST', `/sandbox/${path}`, { body, headers: { 'Idempotency-Key': key } });
    const first = await send('blocks', { network: 'litecoin', count: 1 }, 'blocks');
    const again = await send('blocks', { network: 'litecoin', count: 1 }, 'blocks');
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await send('blocks', { network: 'litecoin', count: 2 }, 'blocks')).status).toBe(422);

    const moved = await send('clock', { advanceSeconds: 3 * 86_400 }, 'clock');
    const repeated = await send('clock', { advanceSeconds: 3 * 86_400 }, 'clock');
    expect([repeated.status, repeated.body]).toEqual([200, moved.body]);
  });
});
