/** Public reports of servers behind poolers of PostgreSQL connections, tried on a real PgBouncer in transaction mode. */
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { call } from '../support/call.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { hasPgbouncer, startPooler, type Pooler } from '../support/pgbouncer.js';
import { startServer, type TestServer } from '../support/server.js';
import { startReceiver, type Receiver } from '../webhooks/receiver.js';

interface Setting {
  readonly name: string;
  readonly setting: string;
  readonly source: string;
}

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');
const unprepared = { DATABASE_PREPARED_STATEMENTS: 'off' };
/** The settings that a pooler needed for servers that set a limit as a startup parameter. */
const lenient = { ignore_startup_parameters: 'extra_float_digits, idle_in_transaction_session_timeout' };

describe.skipIf(!hasPgbouncer || !postgres)('behind PgBouncer in transaction mode', () => {
  const toStop: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of toStop.splice(0).reverse()) await stop();
  });

  /** A new database, through a pooler of its own. */
  async function openPooler(
    settings?: Readonly<Record<string, string | number>>,
  ): Promise<{ made: TestDatabase; pooler: Pooler }> {
    if (!postgres) throw new Error('There is no PostgreSQL');
    const made = await postgres.create();
    toStop.push(() => made.dispose());
    const pooler = await startPooler(made.url, settings);
    toStop.push(() => pooler.stop());
    return { made, pooler };
  }
  async function start(url: string, env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    if (!postgres) throw new Error('There is no PostgreSQL');
    const server = await startServer({ engine: postgres, databaseUrl: url, env: { ...unprepared, ...env } });
    toStop.push(() => server.stop());
    return server;
  }
  async function ask(server: TestServer, method: string, path: string, body?: object, key?: string) {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    const answer = await server.api(method, path, { ...(body && { body }), headers });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200);
    return answer;
  }
  async function receiveFrom(server: TestServer): Promise<Receiver> {
    const receiver = await startReceiver();
    toStop.push(() => receiver.stop());
    receiver.secret =
      (await server.database.write((transaction) =>
        server.app.endpoints.set(
          transaction,
          { merchantId: server.bootstrapped.merchantId, mode: 'test' },
          receiver.url,
        ),
      )) ?? '';
    return receiver;
  }

  // logto#8065, pgbouncer#907: "unsupported startup parameter: idle_in_transaction_session_timeout"
  it('a server starts, and a payment goes its whole way to its webhook, over two servers at once', async () => {
    // Few connections, so that what is left on one of them meets somebody else.
    const { pooler } = await openPooler({ default_pool_size: 4 });
    const first = await start(pooler.url);
    const second = await start(pooler.url, {
      BOOTSTRAP_PUBLIC_KEY: first.publicKey,
      BOOTSTRAP_SECRET_KEY: first.secretKey,
    });
    const receiver = await receiveFrom(first);
    const payments = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const [here, there] = index % 2 === 0 ? [first, second] : [second, first];
        const body = { amount: 20, baseCurrency: 'USD', txRef: `order-${index}` };
        const created = await ask(here, 'POST', '/v1/payments/checkout', body, `key-${index}`);
        const again = await ask(there, 'POST', '/v1/payments/checkout', body, `key-${index}`);
        expect(again.body).toEqual(created.body);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
        const { id } = created.body.data['payment'] as { id: string };
        await ask(there, 'PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
        const { data } = (await ask(here, 'PATCH', `/v1/payments/${id}/currency/lock`)).body;
        const { address } = data['addressInformation'] as { address: string };
        const transfer = { network: 'tron', currency: 'USDT', address, amount: data['amount'] };
        await ask(there, 'POST', '/sandbox/transfers', transfer);
        return id;
      }),
    );
    await ask(first, 'POST', '/sandbox/blocks', { network: 'tron', count: 30 });
    for (const id of payments) {
      const status = async () =>
        (await ask(second, 'GET', `/v1/transactions/${id}/verify`)).body.data['status'];
      await expect.poll(status, { timeout: 20_000 }).toBe('success');
    }
    const paid = () =>
      receiver.received.filter(({ event, isVerified }) => isVerified && event.type === 'payment.success');
    await expect.poll(() => paid().length, { timeout: 20_000 }).toBe(payments.length);
    const list = await ask(first, 'GET', '/v1/transactions?status=success&skip=5&page=2');
    expect(list.body.data).toHaveLength(5);
    expect(list.body.meta).toMatchObject({ pagination: { total: payments.length } });
    for (const { url } of [first, second]) {
      await expect
        .poll(async () => (await call(url, 'GET', '/readyz')).status, { timeout: 10_000 })
        .toBe(200);
    }
  });

  // pgbouncer#907: what a client sets for its session stays on the connection for the next one.
  it('no setting of the server stays on a connection that other clients get', async () => {
    const { made, pooler } = await openPooler({ ...lenient, default_pool_size: 1 });
    const own = new pg.Client({ connectionString: made.url });
    await own.connect();
    toStop.push(() => own.end());
    const read = `select name, setting, source from pg_settings where source = 'session' or name in ('jit', 'idle_in_transaction_session_timeout') order by name`;
    const { rows: before } = await own.query<Setting>(read);
    const server = await start(pooler.url);
    await ask(server, 'POST', '/v1/payments/checkout', { amount: 20, baseCurrency: 'USD' });
    await ask(server, 'GET', '/v1/transactions');
    const other = new pg.Client({ connectionString: pooler.url });
    await other.connect();
    toStop.push(() => other.end());
    const { rows } = await other.query<Setting>(read);
    // The pooler itself keeps some of the client's own, such as its encoding.
    const ofPooler = ['application_name', 'client_encoding', 'DateStyle', 'TimeZone'];
    const kept = (list: typeof rows) => list.filter(({ name }) => !ofPooler.includes(name));
    expect(kept(rows)).toEqual(kept(before));
  });

  it('inside a transaction of the server its limits hold anyway', async () => {
    const { pooler } = await openPooler();
    const server = await start(pooler.url);
    const { rows } = await server.database.write((transaction) =>
      transaction.executeQuery<{ jit: string; idle: string }>({
        sql: `select current_setting('jit') as jit, current_setting('idle_in_transaction_session_timeout') as idle`,
        parameters: [],
        query: { kind: 'RawNode', sqlFragments: [], parameters: [] },
        queryId: { queryId: 'settings' },
      }),
    );
    expect(rows).toEqual([{ jit: 'off', idle: '30s' }]);
  });

  // logto#8065, prisma#4752, prisma#6053: "prepared statement … does not exist" and "… already exists", at random
  it('a start with prepared statements is refused, and the error says what to do', async () => {
    const { pooler } = await openPooler(lenient);
    for (const env of [{}, { DATABASE_PREPARED_STATEMENTS: 'on' }]) {
      const options = { DATABASE_PREPARED_STATEMENTS: '', ...env };
      await expect(start(pooler.url, options)).rejects.toThrow(
        /^DATABASE_URL: the database cannot be opened: a pooler .* DATABASE_PREPARED_STATEMENTS=off/,
      );
    }
    await expect(openDatabase(pooler.url)).rejects.toThrow(/DATABASE_PREPARED_STATEMENTS=off/);
  });

  it('a pooler in session mode, which gives each client a connection of its own, keeps prepared statements', async () => {
    const { pooler } = await openPooler({ pool_mode: 'session', default_pool_size: 30 });
    const server = await start(pooler.url, { DATABASE_PREPARED_STATEMENTS: 'on' });
    for (let index = 0; index < 5; index += 1) {
      await ask(server, 'POST', '/v1/payments/checkout', { amount: 20, baseCurrency: 'USD' });
    }
  });
});
