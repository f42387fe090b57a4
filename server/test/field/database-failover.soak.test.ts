/** Public reports of failovers of PostgreSQL, with a real standby that is promoted, and a primary that comes back as a standby. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { startPostgres } from '../../../scripts/find-postgres.mjs';
import { call } from '../support/call.js';
import {
  bootstrapKeys,
  expectAllThere,
  expectBooksInOrder,
  keepPaying,
  type Answered,
} from '../support/confirmed-work.js';
import { engines } from '../support/engines.js';
import { openAddress } from '../support/moving-address.js';
import { startProcess, type ServerProcess } from '../support/process.js';

const toStop: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

/** A primary, and a standby that has all that the primary has confirmed. */
async function startPair() {
  const primary = await startPostgres();
  if (!('url' in primary)) throw new Error(primary.reason);
  toStop.push(() => primary.stop());
  const { kill, returnReadOnly } = primary;
  const standby = await primary.standby?.();
  if (!standby?.promote || !kill || !returnReadOnly) {
    throw new Error('The PostgreSQL of TEST_DATABASE_URL cannot fail over');
  }
  toStop.push(() => standby.stop());
  // Only now, and so not in the copy, which would wait for a standby of its own once it is promoted.
  await ask(primary.url, "alter system set synchronous_standby_names = '*'");
  await ask(primary.url, 'select pg_reload_conf()');
  const { promote } = standby;
  return { old: { url: primary.url, kill, returnReadOnly }, next: { url: standby.url, promote } };
}

async function ask(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

interface Seen {
  readonly what: 'create' | 'ready' | 'read';
  readonly reply: string;
}

/** Calls each server again and again. `seen` has how they answered since it was last emptied. */
function watch(servers: readonly ServerProcess[], signal: AbortSignal) {
  const seen: Seen[] = [];
  const key = bootstrapKeys.BOOTSTRAP_SECRET_KEY;
  const note = async (what: Seen['what'], url: string, method: string, path: string, body?: object) => {
    const answer = await call(url, method, path, { key, ...(body && { body }) }).catch(() => undefined);
    const wait = answer?.headers.get('retry-after') ? 'with' : 'without';
    const { code } = (answer?.body as { data?: { code?: string } } | undefined)?.data ?? {};
    const failed = answer ? `${answer.status} ${code} ${wait} Retry-After` : 'no answer';
    seen.push({ what, reply: answer?.status === 200 ? '200' : failed });
  };
  const running = servers.map(async ({ url }) => {
    while (!signal.aborted) {
      const body = { amount: 10, baseCurrency: 'USD', txRef: randomUUID() };
      await note('create', url, 'POST', '/v1/payments/checkout', body);
      await note('read', url, 'GET', '/v1/transactions');
      await note('ready', url, 'GET', '/readyz');
      await delay(20);
    }
  });
  const replies = (what: Seen['what']) => [
    ...new Set(seen.filter((one) => one.what === what).map(({ reply }) => reply)),
  ];
  return { seen, replies, ended: Promise.all(running) };
}

const refused = '503 service_unavailable with Retry-After';

describe.skipIf(engines.length === 1)('after a failover', () => {
  // HikariCP#1802, lidofinance/lido-keys-api#268: "cannot execute INSERT in a read-only transaction", until a restart
  it('no request gets a 500, /readyz is right, and the server follows the address automatically', async () => {
    const { old, next } = await startPair();
    const address = await openAddress(old.url);
    toStop.push(() => address.stop());
    const env = {
      DATABASE_URL: address.url,
      BLOCK_INTERVAL_MS: '100',
      PAYMENT_PAY_SECONDS: '864000',
      ...bootstrapKeys,
    };
    const servers = [await startProcess(env), await startProcess(env)] as const;
    for (const server of servers) toStop.push(() => server.kill());
    const answered = new Map<string, Answered>();
    const stopped = new AbortController();
    const paying = servers.map(({ url }) => keepPaying(url, answered, stopped.signal));
    const { seen, replies, ended } = watch(servers, stopped.signal);
    // Before anything fails: however long a busy machine takes.
    await expect.poll(() => answered.size, { timeout: 90_000 }).toBeGreaterThan(10);

    // The name still leads to the previous primary, which comes back as a standby.
    await old.kill();
    await next.promote();
    await old.returnReadOnly();
    const isAll = (reply: string) => () => {
      const last = seen.slice(-30).filter(({ what }) => what !== 'read');
      return seen.length >= 60 && last.every((one) => one.reply === reply);
    };
    await expect.poll(isAll(refused), { timeout: 30_000 }).toBe(true);
    seen.length = 0;
    await delay(3000);
    // The previous primary is behind: a payer who was credited would read that he was not.
    expect([replies('create'), replies('ready'), replies('read')]).toEqual([[refused], [refused], [refused]]);

    address.move(next.url);
    const movedAt = Date.now();
    seen.length = 0;
    await expect.poll(isAll('200'), { timeout: 30_000 }).toBe(true);
    const seconds = (Date.now() - movedAt) / 1000;
    for (const what of ['create', 'ready', 'read'] as const) {
      expect(['200', refused], what).toEqual(expect.arrayContaining(replies(what)));
    }
    const left = await ask(
      old.url,
      "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    expect(left).toEqual([{ count: 0 }]);

    const before = answered.size;
    await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(before + 10);
    stopped.abort();
    await Promise.all([...paying, ended]);
    // The leases of jobs and scans continue: paid transfers are credited.
    await expectAllThere(servers[0].url, answered);
    for (const server of servers) expect(await server.stop()).toBe(0);
    await expectBooksInOrder(next.url, answered);
    console.log(
      `failover: ${answered.size} payments, back ${seconds.toFixed(1)} s after the address had moved; lost 0`,
    );
  }, 300_000);

  // HikariCP#1802, brianc/node-postgres#1790: connections that are open stay with a server that takes no writes any more
  it('connections that survive it are given up, even if the old server never closed them', async () => {
    const { old, next } = await startPair();
    const address = await openAddress(old.url);
    toStop.push(() => address.stop());
    const server = await startProcess({
      DATABASE_URL: address.url,
      BLOCK_INTERVAL_MS: '100',
      ...bootstrapKeys,
    });
    toStop.push(() => server.kill());
    const createPayment = () =>
      call(server.url, 'POST', '/v1/payments/checkout', {
        key: bootstrapKeys.BOOTSTRAP_SECRET_KEY,
        body: { amount: 10, baseCurrency: 'USD' },
      });
    expect((await createPayment()).status).toBe(200);
    // As services do that fence the old primary before they promote another.
    await ask(old.url, 'alter system set default_transaction_read_only = on');
    await ask(old.url, 'select pg_reload_conf()');
    await expect.poll(async () => (await createPayment()).status, { timeout: 10_000 }).toBe(503);
    // cloudnative-pg#1254, bitnami/charts#23219: the address leads to the primary now, and to a standby then
    expect((await call(server.url, 'GET', '/readyz')).body.message).toBe(
      'Not ready to serve: the database is out of service: it can only be read, as a standby',
    );
    await next.promote();
    address.move(next.url);
    await expect.poll(async () => (await createPayment()).status, { timeout: 15_000 }).toBe(200);
    const replies = new Set<string>();
    for (let turn = 0; turn < 12; turn += 1) {
      address.move(turn % 2 === 0 ? old.url : next.url);
      await ask(
        next.url,
        "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
      );
      for (const { status, headers } of await Promise.all(Array.from({ length: 8 }, createPayment))) {
        replies.add(
          status === 200 ? '200' : `${status} ${headers.has('retry-after') ? 'with' : 'without'} Retry-After`,
        );
      }
    }
    expect([...replies].sort()).toEqual(['200', '503 with Retry-After']);
    address.move(next.url);
    await expect
      .poll(async () => (await call(server.url, 'GET', '/readyz')).status, { timeout: 15_000 })
      .toBe(200);
    expect(await server.stop()).toBe(0);
  }, 300_000);

  // HikariCP#1802, gpustack#6105: the old server is gone, and nobody says so; TCP waits for a quarter of an hour
  it('requests that wait for a server that is gone get a 503, and the next ones the new server', async () => {
    const { old, next } = await startPair();
    const address = await openAddress(old.url);
    toStop.push(() => address.stop());
    const server = await startProcess({
      DATABASE_URL: address.url,
      BLOCK_INTERVAL_MS: '100',
      ...bootstrapKeys,
    });
    toStop.push(() => server.kill());
    const createPayment = () =>
      call(server.url, 'POST', '/v1/payments/checkout', {
        key: bootstrapKeys.BOOTSTRAP_SECRET_KEY,
        body: { amount: 10, baseCurrency: 'USD' },
      });
    await Promise.all(Array.from({ length: 10 }, createPayment));
    address.freeze();
    const waiting = Promise.all(Array.from({ length: 20 }, createPayment));
    await old.kill();
    await next.promote();
    address.move(next.url);
    for (const { status, headers } of await waiting) {
      if (status !== 200) expect([status, headers.has('retry-after')]).toEqual([503, true]);
    }
    await expect.poll(async () => (await createPayment()).status, { timeout: 15_000 }).toBe(200);
    await expect
      .poll(async () => (await call(server.url, 'GET', '/readyz')).status, { timeout: 15_000 })
      .toBe(200);
    expect(await server.stop()).toBe(0);
  }, 300_000);
});
