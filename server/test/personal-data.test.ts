/** Payers' data under a data key: in no value that the database keeps, and for the API and the commands as without one. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { erasure } from '../src/modules/erasure/module.js';
import { consoleModule } from '../src/modules/console/module.js';
import { runCommandLine } from './support/command-line.js';
import { invite, openBrowser } from './support/browser.js';
import { enginesOfTurn, type TestDatabase } from './support/engines.js';
import { openShop } from './support/shop.js';
import { startReceiver, type Receiver } from './webhooks/receiver.js';
import { openWebhookShop, type WebhookShop } from './webhooks/webhook-shop.js';

const newKey = () => randomBytes(32).toString('base64');

const ada = { email: 'Ada.Lovelace@Example.com', fullName: 'Ada Lovelace', phoneNumber: '+15550142' };
const grace = { email: 'grace@hopper.example', fullName: 'Grace Hopper', phoneNumber: '+15550177' };
const refundAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const account = { accountNumber: '0123456785', accountBank: '058', accountName: 'Countess Bankholder' };
const wrote = {
  redirectUrl: 'https://shop.example/thanks?token=planted-token&payer=ada.lovelace%40example.com',
  metadata: { note: 'planted-note', contact: ada.email },
};
const reason = 'planted-reason for ada.lovelace@example.com';
/** Texts that show who they are, or were written about them. */
const theirTexts = new RegExp(
  `lovelace|hopper|15550142|15550177|planted-|${refundAddress}|${account.accountNumber}|bankholder|planted-browser`,
  'i',
);

describe.each(enginesOfTurn)('payers’ data under a data key, on $name', (engine) => {
  let directory = '';
  let file = '';
  let database: TestDatabase;
  let receiver: Receiver;
  let shop: WebhookShop | undefined;
  let paymentId = '';
  const [first, second] = [newKey(), newKey()];

  const running = (): WebhookShop => {
    if (!shop) throw new Error('The server was not started');
    return shop;
  };

  async function start(keys: readonly string[]): Promise<void> {
    await shop?.server.stop();
    await writeFile(file, keys.join('\n'), { mode: 0o600 });
    const env = keys.length > 0 ? { DATA_KEY_FILE: file } : {};
    const log = pino({ level: 'silent' });
    shop = await openWebhookShop({ engine, databaseUrl: database.url, env, log });
  }

  async function ask<T>(method: string, path: string, body?: object, headers?: Record<string, string>) {
    const { status, body: reply } = await running().server.api(method, path, {
      body,
      ...(headers && { headers }),
    });
    expect(status, JSON.stringify(reply)).toBe(200);
    return reply.data as unknown as T;
  }

  const command = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommandLine(database.url, args, { DATA_KEY_FILE: file });
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };

  /** Everything that a copy of the database has. */
  async function dump(): Promise<string> {
    const { reader } = running().server.database;
    const tables = await reader.introspection.getTables();
    const rows = await Promise.all(
      tables.map(async ({ name }) => (await sql`select * from ${sql.table(name)}`.execute(reader)).rows),
    );
    return JSON.stringify(rows);
  }

  const create = { amount: 10, baseCurrency: 'USD', txRef: 'order-1', ...wrote };
  const idempotent = { 'Idempotency-Key': 'once' };
  const createPayment = (key = idempotent) =>
    ask<{ payment: { id: string } }>('POST', '/v1/payments/checkout', { ...create, customer: ada }, key);
  const found = (path: string) => ask<Record<string, unknown>[]>('GET', path);

  /** A payment from its creation to its refund, a subscriber, and customers whose data change. */
  async function live(): Promise<void> {
    paymentId = (await createPayment()).payment.id;
    const { address, amount } = await openShop(running().server).choose(paymentId);
    await openShop(running().server).pay(address, amount);
    const status = async () => (await ask<{ status: string }>('GET', `/v1/transactions/${paymentId}`)).status;
    await expect.poll(status, { timeout: 10_000 }).toBe('success');
    await ask('POST', `/v1/payments/${paymentId}/refunds`, {
      kind: 'partial',
      amount: 4,
      address: refundAddress,
      reason,
      metadata: wrote.metadata,
    });
    await ask('POST', '/v1/bank-accounts', { ...account, country: 'NG', currency: 'NGN' });
    const token = await invite(running().server, 'manager', 'Colleague@Planted.example');
    await openBrowser(running().server.url).send('POST', '/console/api/sign-in', {
      body: { token },
      headers: { 'User-Agent': 'planted-browser/1.0' },
    });
    const plan = await ask<{ id: string }>('POST', '/v1/payment-plans', {
      planName: 'Monthly',
      amount: 5,
      currency: 'USD',
      currencies: ['USDT'],
      frequency: 'monthly',
      numberOfTimesToCharge: 3,
    });
    await ask('POST', `/v1/payment-plan-subscribers/${plan.id}`, { email: grace.email });
    const [{ id } = { id: '' }] = await found(`/v1/customers?email=${grace.email}`);
    await ask('PATCH', `/v1/customers/${String(id)}`, grace);
    await running().settled();
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'personal-data-'));
    file = join(directory, 'data.key');
    database = await engine.create();
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await shop?.server.stop();
    await receiver.stop();
    await database.dispose();
    await rm(directory, { recursive: true });
  });

  it('Payers’ data is in no table in clear after the whole life of a payment, a subscriber and a refund', async () => {
    await start([first]);
    await running().setEndpoint(receiver);
    await live();
    expect(JSON.stringify(receiver.received)).toMatch(/Lovelace/);
    expect(await dump()).not.toMatch(theirTexts);
    if (engine.name !== 'SQLite') return;
    const folder = dirname(database.url.slice('sqlite:'.length));
    for (const name of await readdir(folder)) {
      expect((await readFile(join(folder, name))).toString('latin1'), name).not.toMatch(theirTexts);
    }
  });

  it('The rows of people who use the console, and of their sessions, have no personal data in clear', async () => {
    const { reader } = running().server.database;
    const people = await reader.selectFrom('people').selectAll().execute();
    const sessions = await reader.selectFrom('sessions').selectAll().execute();
    expect([people.length, sessions.length]).toEqual([2, 1]);
    expect(JSON.stringify([people, sessions])).not.toMatch(/planted|owner@shop|127\.0\.0\.1|node|undici/i);
  });

  async function expectAsWithoutKey(): Promise<void> {
    await expectFound();
    expect((await createPayment()).payment.id).toBe(paymentId);
    const other = await running().server.api('POST', '/v1/payments/checkout', {
      body: create,
      headers: idempotent,
    });
    expect(other.body.data.code).toBe('idempotency_mismatch');
  }

  async function expectFound(): Promise<void> {
    const [refund] = await found('/v1/refunds');
    expect(refund).toMatchObject({ reason, address: refundAddress, metadata: wrote.metadata });
    expect(await found('/v1/transactions?txRef=order-1')).toMatchObject([wrote]);
    const accounts = await found('/v1/bank-accounts');
    expect(accounts).toMatchObject([account]);
    const again = await running().server.api('POST', '/v1/bank-accounts', {
      body: { ...account, accountNumber: ' 0123-456785', country: 'NG', currency: 'NGN' },
    });
    expect(again.body.data.code).toBe('bank_account_exists');
    const { people } = consoleModule.rules(running().server.app);
    const { merchantId } = running().server.bootstrapped;
    const [first, second] = await people.list(merchantId);
    expect([first?.email, second?.email]).toEqual(['colleague@planted.example', 'owner@shop.example']);
    const { reader } = running().server.database;
    expect(await people.find(reader, merchantId, 'COLLEAGUE@planted.example')).toBe(first?.id);
    // Invited again, under whichever key, they are not added a second time.
    await invite(running().server, 'manager', 'colleague@planted.example');
    expect(await people.list(merchantId)).toHaveLength(2);
    const [session] = await people.sessions.list(first?.id ?? '');
    expect(session).toMatchObject({ address: '127.0.0.1', user_agent: 'planted-browser/1.0' });

    const record = { customer: ada.email, description: 'Payment from Ada Lovelace', customerDetails: ada };
    expect(await found(`/v1/transactions?customer=${ada.email.toUpperCase()}`)).toMatchObject([record]);
    expect(await found(`/v1/customers?email=${ada.email.toLowerCase()}`)).toMatchObject([ada]);
    const phone = encodeURIComponent(grace.phoneNumber);
    expect(await found(`/v1/customers?phoneNumber=${phone}`)).toMatchObject([grace]);
    const taken = await running().server.api('POST', '/v1/customers', {
      body: { email: grace.email.toUpperCase() },
    });
    expect(taken.body.data.code).toBe('customer_exists');
    const [one] = await found(`/v1/customers?email=${ada.email}`);
    const moved = await running().server.api('PATCH', `/v1/customers/${String(one?.['id'])}`, {
      body: { email: grace.email },
    });
    expect(moved.body.data.code).toBe('customer_exists');
  }

  it('Payers’ data is found, unique, exported, replayed and sent again as without a data key', async () => {
    await expectAsWithoutKey();
    const { app, bootstrapped } = running().server;
    const exported = app.paymentExport.read({ merchantId: bootstrapped.merchantId, mode: 'test' }, {});
    expect((await exported.next()).value).toMatchObject({ description: 'Payment from Ada Lovelace' });
    const sent = receiver.received.length;
    await ask('POST', `/v1/transactions/${paymentId}/webhook`);
    await expect.poll(() => JSON.stringify(receiver.received.slice(sent))).toMatch(/Lovelace/);
  });

  it('Payers’ data moves to another key, and can be found before, meanwhile and after', async () => {
    await start([second, first]);
    await expectAsWithoutKey();
    expect(await command('data-key', 'rotate')).toMatch(/[1-9]\d* values of payers' data were not before/);
    expect(await command('data-key', 'rotate')).toContain("0 values of payers' data were not before");
    const previous = await dump();
    await start([second, first]);
    await expectAsWithoutKey();
    expect(previous).not.toMatch(theirTexts);
    // The replaced key is gone, a day later: no index of a row is made with it any more.
    await start([second]);
    await expectFound();
  });

  it('Values of a row that were put into another one are not read there', async () => {
    const { database: stored } = running().server;
    const { id } = await ask<{ id: string }>('POST', '/v1/customers', { email: 'thief@example.com' });
    const [from] = await found(`/v1/customers?email=${ada.email}`);
    const theirs = sql`(select person from customers where id = ${String(from?.['id'])})`;
    await stored.write(async (transaction) => {
      await sql`update customers set person = ${theirs} where id = ${id}`.execute(transaction);
    });
    const { status, body } = await running().server.api('GET', `/v1/customers/${id}`);
    expect([status, JSON.stringify(body)]).toEqual([500, expect.not.stringMatching(theirTexts)]);
    await stored.write(async (transaction) => {
      await transaction.deleteFrom('customers').where('id', '=', id).execute();
    });
  });

  it('A customer’s data is erased under a data key too', async () => {
    await ask('POST', `/v1/refunds/${String((await found('/v1/refunds'))[0]?.['id'])}/cancel`);
    await running().settled();
    const { app, bootstrapped, database: stored } = running().server;
    await stored.write((transaction) =>
      erasure.rules(app).erase(transaction, bootstrapped.merchantId, ada.email.toUpperCase(), 'a test'),
    );
    const [record] = await found('/v1/transactions?txRef=order-1');
    expect(record).toMatchObject({ description: 'Payment from an erased customer' });
    expect(JSON.stringify(record)).not.toMatch(/lovelace|15550142/i);
    expect(record).toMatchObject({ metadata: { note: 'planted-note' } });
    expect(JSON.stringify(await found('/v1/refunds'))).not.toMatch(/lovelace|TJRab/i);
    expect(await found(`/v1/customers?email=${ada.email}`)).toEqual([]);
    for (const event of await running().events()) {
      const { body } = await ask<{ body: string }>('GET', `/v1/webhooks/${event.id}`);
      expect(body).not.toMatch(/lovelace|15550142/i);
    }
  });

  it('Values that were stored in clear are read, and encrypted by a rotation', async () => {
    const previous = database;
    database = await engine.create();
    await start([]);
    await running().setEndpoint(receiver);
    await live();
    expect(await dump()).toMatch(/planted-note/);
    await start([first]);
    await expectAsWithoutKey();
    await command('data-key', 'rotate');
    expect(await dump()).not.toMatch(theirTexts);
    await expectAsWithoutKey();
    await previous.dispose();
  });
});
