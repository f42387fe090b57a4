/** Two servers on one PostgreSQL under load, with one of them killed repeatedly: nothing is lost or done twice. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { decimalOf, fromUnits, type Payment } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database } from '../src/core/db/database.js';
import { call } from './support/call.js';
import { engines, type TestDatabase } from './support/engines.js';
import { startProcess, type ServerProcess } from './support/process.js';
import { roundsOf, startRound } from './support/rounds.js';
import { openDatabase } from '../src/database.js';
import { violationsOf } from './support/violations.js';

const rounds = roundsOf({ usual: 2, soak: 4 });
const streams = 6;
const paySeconds = 5;
const publicKey = `pk_test_${randomBytes(32).toString('base64url')}`;
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;
const names = ['first', 'second'] as const;
type Name = (typeof names)[number];

/** The steps of a payment, and its final status. */
const plans = {
  paid: 'success',
  'paid in two parts': 'success',
  'paid in part': 'error',
  'not paid': 'error',
  cancelled: 'cancelled',
} as const satisfies Record<string, Payment['status']>;
type Plan = keyof typeof plans;

interface Answered {
  readonly id: string;
  readonly txRef: string;
  readonly plan: Plan;
  readonly amount: number;
  readonly address: string;
  /** The hashes of confirmed transfers. A transfer that a dying server did not confirm is sent again. */
  readonly sent: string[];
}

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');

describe.skipIf(!postgres)('two servers on one PostgreSQL', () => {
  let made: TestDatabase;
  let database: Database;
  const running = new Map<Name, ServerProcess>();
  const answered: Answered[] = [];

  async function start(name: Name): Promise<void> {
    const env = {
      DATABASE_URL: made.url,
      BOOTSTRAP_PUBLIC_KEY: publicKey,
      BOOTSTRAP_SECRET_KEY: secretKey,
      BLOCK_INTERVAL_MS: '100',
      PAYMENT_PAY_SECONDS: String(paySeconds),
      // PostgreSQL records it as `application_name`, so that we can see which server did what.
      PGAPPNAME: name,
    };
    running.set(name, await startProcess(env));
  }

  async function kill(name: Name): Promise<void> {
    const server = running.get(name);
    running.delete(name);
    await server?.kill();
  }

  beforeAll(async () => {
    if (!postgres) return;
    made = await postgres.createEmpty();
    // Start both at once, on an empty database.
    await Promise.all(names.map(start));
    database = await openDatabase(made.url);
    await recordWork(database);
  });

  afterAll(async () => {
    await Promise.all([...running.values()].map((server) => server.kill()));
    await database.close();
    await made.dispose();
  });

  /** Sends a request to one server, and retries it on the other if that one is gone, like a load balancer's client. */
  async function sendToEither(
    method: string,
    path: string,
    body?: object,
    at: Name | undefined = names[randomInt(2)],
  ): Promise<Record<string, unknown>> {
    const headers = { 'Idempotency-Key': randomUUID() };
    const deadline = Date.now() + 20_000;
    for (let turn = at === 'second' ? 1 : 0; Date.now() < deadline; turn += 1) {
      const server = running.get(names[turn % 2] ?? 'first');
      const answer =
        server &&
        (await call(server.url, method, path, { key: secretKey, body, headers }).catch(() => undefined));
      if (answer?.status === 200) return answer.body.data;
      // While a server is being killed, its database connections may fail first, and it replies 503.
      if (answer && answer.status !== 503 && answer.body.data.code !== 'idempotency_in_progress') {
        throw new Error(`${method} ${path} returned HTTP ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      await delay(10);
    }
    throw new Error(`${method} ${path} got no reply`);
  }

  async function lock(plan: Plan): Promise<Answered> {
    const txRef = `order-${randomBytes(8).toString('hex')}`;
    const created = await sendToEither('POST', '/v1/payments/checkout', {
      amount: 5000,
      baseCurrency: 'NGN',
      txRef,
    });
    const { id } = created['payment'] as Payment;
    await sendToEither('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
    const locked = (await sendToEither('PATCH', `/v1/payments/${id}/currency/lock`)) as unknown as Payment;
    const { amount = 0, addressInformation } = locked;
    const payment = { id, txRef, plan, amount, address: addressInformation?.address ?? '', sent: [] };
    answered.push(payment);
    return payment;
  }

  async function transfer({ address, sent }: Answered, amount: number, at?: Name): Promise<void> {
    const body = { network: 'tron', currency: 'USDT', address, amount };
    sent.push(String((await sendToEither('POST', '/sandbox/transfers', body, at))['txHash']));
  }

  /** Runs payments one after the other, each by a random plan, until the signal is aborted. */
  async function payUntil(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const all = Object.keys(plans) as Plan[];
      const payment = await lock(all[randomInt(all.length)] ?? 'paid');
      const { id, plan, amount } = payment;
      if (plan === 'cancelled') await sendToEither('PATCH', `/v1/payments/${id}/cancel`);
      if (plan === 'paid') await transfer(payment, amount);
      if (plan === 'paid in part' || plan === 'paid in two parts') await transfer(payment, 1);
      if (plan === 'paid in two parts') await transfer(payment, amount);
    }
  }

  const leaseHolder = async () =>
    (
      await database.reader
        .selectFrom('chain_cursors')
        .select('lease_holder')
        .where('network', '=', 'tron')
        .executeTakeFirstOrThrow()
    ).lease_holder;

  /** Waits until every payment has the final status of its plan, and checks what it received against the chain. */
  async function expectOutcomes(payments: readonly Answered[]): Promise<void> {
    for (const { id, txRef, plan, amount, address, sent } of payments) {
      const read = async () =>
        (await sendToEither('GET', `/v1/transactions/${id}/verify`)) as unknown as Payment;
      await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe(plans[plan]);
      const payment = await read();
      const log = JSON.stringify(payment.transactionTimeLog);
      expect(payment, log).toMatchObject({ txRef, amount });
      const transfers = await database.reader
        .selectFrom('simulated_transfers')
        .select(['tx_hash', 'amount'])
        .where('address', '=', address)
        .execute();
      expect(transfers.map(({ tx_hash }) => tx_hash)).toEqual(expect.arrayContaining(sent));
      const received = transfers.reduce((sum, transfer) => sum + BigInt(transfer.amount), 0n);
      // A transfer that was sent again is confirmed after the success.
      await expect
        .poll(async () => decimalOf((await read()).amountReceived ?? 0), { timeout: 30_000, message: log })
        .toBe(fromUnits(received, 6));
    }
  }

  async function expectBooksInOrder(): Promise<void> {
    const { reader } = database;
    expect(await violationsOf(database)).toEqual([]);

    const payments = await reader.selectFrom('payments').select(['id', 'settled_at']).execute();
    expect(payments.map(({ id }) => id).sort()).toEqual(answered.map(({ id }) => id).sort());
    const settled = payments.filter(({ settled_at }) => settled_at !== null);
    expect(settled).toHaveLength(answered.filter(({ plan }) => plans[plan] === 'success').length);
    const postings = await reader.selectFrom('ledger_postings').select('key').execute();
    const ofKind = (kind: string) => postings.filter(({ key }) => key.startsWith(`${kind}:`));
    expect(ofKind('settlement')).toHaveLength(settled.length);

    const transfers = await reader.selectFrom('simulated_transfers').select('tx_hash').execute();
    const hashes = transfers.map(({ tx_hash }) => tx_hash).sort();
    const receipts = await reader.selectFrom('receipts').select(['tx_hash', 'status', 'amount']).execute();
    expect(receipts.map(({ tx_hash }) => tx_hash).sort()).toEqual(hashes);
    expect(receipts.filter(({ status }) => status !== 'confirmed')).toEqual([]);
    expect(ofKind('receipt')).toHaveLength(hashes.length);

    // Everything that arrived belongs to the merchant or is the fee.
    const accounts = await reader.selectFrom('ledger_accounts').select(['kind', 'balance']).execute();
    const balance = (...kinds: string[]) =>
      accounts
        .filter(({ kind }) => kinds.includes(kind))
        .reduce((sum, account) => sum + BigInt(account.balance), 0n);
    const arrived = receipts.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    expect([balance('custody'), balance('available', 'fee_income')]).toEqual([arrived, arrived]);
  }

  it(
    `two servers lose nothing and do nothing twice when one is killed under load, ${rounds} times`,
    { timeout: 60_000 + rounds * 45_000 },
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        startRound('two servers', round, rounds);
        const [victim = 'first', survivor = 'second'] = round % 2 === 0 ? names : [...names].reverse();
        const done = answered.length;
        const stopped = new AbortController();
        const load = Array.from({ length: streams }, () => payUntil(stopped.signal));
        await delay(randomInt(500, 1500));
        if (round < rounds / 2) {
          await kill(victim);
          await delay(randomInt(500, 1000));
          stopped.abort();
          await Promise.all(load);
        } else {
          // The victim is killed right after it confirmed a transfer. Without further requests, the survivor must find it.
          stopped.abort();
          await Promise.all(load);
          const last = await lock('paid');
          await transfer(last, last.amount, victim);
          const holder = await leaseHolder();
          await kill(victim);
          await expect.poll(leaseHolder, { timeout: 20_000 }).not.toBe(holder);
        }
        expect(answered.length).toBeGreaterThanOrEqual(done + streams);
        expect([...running.keys()]).toEqual([survivor]);
        await expectOutcomes(answered.slice(done));
        await expectBooksInOrder();
        await start(victim);
      }
    },
  );

  it(
    'two servers share the work: both create payments, add blocks and expire payments',
    { timeout: 120_000 },
    async () => {
      const workers = async (work: string) => {
        const { rows } = await sql<{ name: string }>`
        select distinct name from replica_work where work = ${work} order by name`.execute(database.reader);
        return rows.map(({ name }) => name);
      };
      await Promise.all(names.filter((name) => !running.has(name)).map(start));
      await sql`delete from replica_work`.execute(database.reader);
      const done = answered.length;
      const deadline = Date.now() + 60_000;
      const shared = ['payment', 'block', 'expiry'];
      const areAllShared = async () =>
        (await Promise.all(shared.map(workers))).every((found) => found.length === names.length);
      while (Date.now() < deadline && !(await areAllShared())) {
        await Promise.all(Array.from({ length: 10 }, () => lock('not paid')));
      }
      for (const work of shared) expect(await workers(work), work).toEqual(names);
      await expectOutcomes(answered.slice(done));
      await expectBooksInOrder();
      const exits = await Promise.all([...running.values()].map((server) => server.stop()));
      running.clear();
      expect(exits).toEqual([0, 0]);
    },
  );
});

/** Lets database triggers record which server created payments and blocks, and which one expired payments. */
async function recordWork({ reader }: Database): Promise<void> {
  await sql`create table replica_work (name text not null, work text not null)`.execute(reader);
  await sql`
    create function record_work() returns trigger language plpgsql as $$
    begin
      insert into replica_work values (current_setting('application_name'), tg_argv[0]);
      return null;
    end $$`.execute(reader);
  await sql`
    create trigger work_payment after insert on payments
    for each row execute function record_work('payment')`.execute(reader);
  await sql`
    create trigger work_block after insert on simulated_blocks
    for each row execute function record_work('block')`.execute(reader);
  await sql`
    create trigger work_expiry after update on payments for each row
    when (old.state <> new.state and new.state = 'expired')
    execute function record_work('expiry')`.execute(reader);
}
