/**
 * Public reports about plug-ins that were removed from a database in use, and put back later, tried on the core without modules. The tests of a
 * database run in their order: the whole product makes records, the core continues without any module, and the whole product returns.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreApi } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkLedger } from '../../src/core/audit/check.js';
import { readConfig } from '../../src/core/config.js';
import { createCore, type Core } from '../../src/core/core.js';
import { copyDatabase } from '../../src/core/db/copy.js';
import { openDatabase as open } from '../../src/core/db/open.js';
import { noteModules, wasAway } from '../../src/core/db/removed-modules.js';
import { withCore } from '../../src/core/db/schema.js';
import { earlierEmails } from '../../src/core/db/table.js';
import { resources, type Described } from '../../src/core/reference/resources.js';
import { coreAccess, createPermissions } from '../../src/core/shared/permissions.js';
import { coreEventTypes } from '../../src/core/webhooks/event-types.js';
import { openDatabase } from '../../src/database.js';
import { dataKeyCommands } from '../../src/modules/erasure/commands.js';
import { createErasure } from '../../src/modules/erasure/erasure.js';
import { signIn } from '../support/browser.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { press } from '../support/link-page.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';
import { externalAddresses, type LockedPayment } from '../support/shop.js';
import { violationsOf } from '../support/violations.js';
import { startReceiver, type Receiver } from '../webhooks/receiver.js';

const coreOnly = { tables: withCore({}) };
const described: Described = {
  api: coreApi,
  console: {},
  permissions: createPermissions([coreAccess]),
  resources,
  eventTypes: coreEventTypes,
  modules: [],
  settings: {},
};
/** The columns of an export that is neither released nor handed to a wallet. */
const notYet = {
  released_at: null,
  released_nonce: null,
  account: null,
  first_nonce: null,
  handed_at: null,
  handed_nonce: null,
  wallet_answer: null,
};
const ada = 'ada@removed.example';
const grace = 'grace@removed.example';
const patiently = { timeout: 30_000, interval: 50 };

describe.each(engines)('A database whose modules were removed, on $name', (engine) => {
  let directory: string;
  let keyFile: string;
  let database: TestDatabase;
  let receiver: Receiver;
  let server: TestServer | undefined;
  let records: Records;
  let core: Core;
  let isCoreOpen = false;
  let merchantId: string;
  let bootstrap: Readonly<Record<string, string>>;
  /** Expired, refunded, and still short of 0.1. */
  let short: LockedPayment;
  /** Started from a link of which there is one. */
  let linked: LockedPayment;
  let linkId: string;
  let refundId: string;
  let transferId: string;
  /** In an export for a wallet. */
  let exportedId: string;
  const stopping = new AbortController();
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

  const writeKeys = (...keys: readonly string[]) => writeFile(keyFile, keys.join('\n'), { mode: 0o600 });

  async function startCore(): Promise<void> {
    const opened = await open(database.url, coreOnly);
    core = await createCore({
      config: readConfig({ DATABASE_URL: database.url, BLOCK_INTERVAL_MS: '0', DATA_KEY_FILE: keyFile }),
      connect: undefined,
      described,
      database: opened,
      log: pino({ level: 'silent' }),
      publicUrl: 'http://127.0.0.1',
      checkoutUrl: 'http://127.0.0.1/pay',
      stopping: stopping.signal,
    }).catch(async (error: unknown) => {
      await opened.close();
      throw error;
    });
    isCoreOpen = true;
    // As the server does.
    await opened.write((transaction) => noteModules(transaction, described.modules));
  }
  async function stopCore(): Promise<void> {
    if (!isCoreOpen) return;
    isCoreOpen = false;
    await core.dispatcher.stop();
    await core.scanner.stop();
    await core.database.close();
  }
  async function startWhole(): Promise<TestServer> {
    const env = { DATA_KEY_FILE: keyFile, ...bootstrap };
    const overrides = { paidByOperator: ['bsc'] };
    server = await startServer({ engine, databaseUrl: database.url, env, overrides });
    records = createRecords(server);
    return server;
  }
  async function stopWhole(): Promise<void> {
    await server?.stop();
    server = undefined;
  }

  const approve = (id: string) =>
    records.shop.ask<{ transferId: string }>('POST', `/v1/refunds/${id}/approve`, { body: {} });
  /** A payer's transfer to a payment, on the core. */
  async function payOnCore(address: string, amount: number): Promise<void> {
    const body = { network: 'tron', currency: 'USDT', address, amount: String(amount) };
    await core.database.write((transaction) => core.sandbox.transfer(transaction, merchantId, body));
  }
  async function mine(network: string): Promise<void> {
    await core.database.write((transaction) => core.sandbox.mine(transaction, network, 1));
    await core.sandbox.syncNetwork(network);
  }
  const stateOf = async ({ id }: LockedPayment) => {
    await mine('tron');
    const payments = core.database.reader.selectFrom('payments').select('state').where('id', '=', id);
    return (await payments.executeTakeFirstOrThrow()).state;
  };
  const countPayments = () =>
    core.database.reader.selectFrom('payments').select('id').where('merchant_id', '=', merchantId).execute();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'removed-modules-'));
    keyFile = join(directory, 'data.key');
    await writeKeys(first);
    database = await engine.create();
    receiver = await startReceiver();
    receiver.answer = { status: 500 };
    bootstrap = {};
    const whole = await startWhole();
    bootstrap = { BOOTSTRAP_PUBLIC_KEY: whole.publicKey, BOOTSTRAP_SECRET_KEY: whole.secretKey };
    merchantId = whole.bootstrapped.merchantId;
    const { shop } = records;
    receiver.secret = await shop.setWebhookUrl(receiver.url);
    await signIn(whole, 'owner');
    await shop.create({ customer: { email: grace, name: 'Grace Example' } });

    await shop.fund({ amount: 100 });
    short = await shop.lock({ customer: { email: ada, name: 'Ada Example' } });
    await shop.pay(short.address, 9.9);
    await shop.advance(86_400);
    await shop.untilState(short.id, 'expired_partial');
    const unaccepted = { kind: 'unaccepted', refundFee: true, address: externalAddresses.tron };
    await shop.until((await approve((await shop.refund(short.id, unaccepted)).id)).transferId, 'success');

    const { id, slug } = await shop.createLink({ title: 'Lamp', amount: 10, baseCurrency: 'USD', stock: 1 });
    linkId = id;
    linked = await shop.choose((await press(whole, slug)).paymentId, {}, whole.publicKey);

    await records.paidPayment('bsc');
    const byHand = { amount: 0.5, walletAddress: records.evmAddress(), walletNetwork: 'bsc' };
    exportedId = (await shop.withdraw(byHand)).id;
    const exported = { id: 'E1', transfer_id: exportedId, actor: 'a test', created_at: 0 };
    await whole.database.write((transaction) =>
      transaction
        .insertInto('transfer_exports')
        .values({ ...exported, ...notYet })
        .execute(),
    );

    // One refund waits for its payer, and one is on its way.
    await records.refund();
    refundId = (await records.refund({ address: records.evmAddress() })).id;
    ({ transferId } = await approve(refundId));
    await vi.waitFor(
      async () => expect((await shop.retrieve(transferId)).status).toBe('processing'),
      patiently,
    );
    await shop.expectBooksInOrder();
    await stopWhole();
    await startCore();
  });
  afterAll(async () => {
    await stopCore();
    await stopWhole();
    await receiver.stop();
    await database.dispose();
    await rm(directory, { recursive: true });
  });

  it('wagtail/wagtail#8243: the audit log lists the actions of modules that are gone', async () => {
    const entries = await core.auditLog.list(core.database.reader, { merchantId });
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['person.invited', 'refund.created', 'refund.approved']),
    );
  });

  it('nextcloud/server#37937: events of modules that are gone are listed and delivered', async () => {
    const scope = { merchantId, mode: 'test' } as const;
    const of = { page: 1, skip: 100, subjectId: refundId };
    const { rows } = await core.webhooks.page(core.database.reader, scope, of);
    expect(rows.map(({ type }) => type)).toContain('refund.approved');
    receiver.answer = { status: 204 };
    receiver.received.length = 0;
    core.dispatcher.start();
    for (const { id } of rows)
      await core.database.write((transaction) => core.webhooks.retry(transaction, scope, id));
    await expect
      .poll(() => receiver.received.map(({ event }) => event.type), patiently)
      .toEqual(expect.arrayContaining(['refund.created', 'refund.approved']));
  });

  it('Automattic/woocommerce-payments#8058: money that was refunded does not pay for later goods', async () => {
    await payOnCore(short.address, 0.1);
    await expect.poll(() => stateOf(short), patiently).toBe('expired_late');
  });

  it('btcpayserver/btcpayserver#2879: an order of a module that is gone can still be paid', async () => {
    await payOnCore(linked.address, linked.amount);
    await expect.poll(() => stateOf(linked), patiently).toBe('settled');
  });

  it('owncloud/core#36908: the transfer of a refund ends, and the check of the ledger says what it cannot count', async () => {
    await vi.waitFor(async () => {
      await mine('ethereum');
      const transfers = core.database.reader.selectFrom('transfers').select('status');
      expect(await transfers.where('id', '=', transferId).executeTakeFirst()).toEqual({ status: 'success' });
    }, patiently);
    const checks = await core.database.snapshot((reader) => checkLedger(reader));
    const failed = checks.filter(({ violations }) => violations.length > 0);
    // The money of the refund that waits is reserved for it.
    expect(failed.map(({ invariant }) => invariant)).toContain('Reserved is the sum of the open holds');
    for (const { notes } of failed) expect(notes?.join()).toMatch(/\brefunds\b/);
  });

  it('woocommerce/woocommerce-gateway-stripe#5362: a transfer that a wallet can still pay is not given up', async () => {
    const fail = core.database.write((transaction) => core.transfers.fail(transaction, exportedId, 'Lost'));
    await expect(fail).rejects.toThrow(/does not know \(.*\btransfer_exports\b/);
  });

  it('allianceauth/allianceauth#1004: a reset is refused before it deletes anything', async () => {
    const before = await countPayments();
    await expect(core.sandboxReset(merchantId, 'a test')).rejects.toThrow(/does not know \(.*\brefunds\b/);
    expect(await countPayments()).toEqual(before);
  });

  it('gitbucket/gitbucket#1483: a copy is refused that would leave out rows', async () => {
    const target = await engine.createEmpty();
    const copy = await open(target.url, coreOnly);
    await expect(copyDatabase(core.database, copy, () => undefined)).rejects.toThrow(
      /does not know \(.*\brefunds\b/,
    );
    await copy.close();
    await target.dispose();
  });

  it('WPDevelopers/notificationx#143: a person is not erased whose data would stay in a table that is left', async () => {
    const { erase } = createErasure(core);
    const eraseAs = (email: string) =>
      core.database.write((transaction) => erase(transaction, merchantId, email, 'a test'));
    await expect(eraseAs(ada)).rejects.toThrow(/does not know \(.*\brefunds\b/);
    expect(await eraseAs(grace)).toMatchObject({ payments: 1 });
  });

  it('WPDevelopers/notificationx#143: a data key is still asked for that values in such a table are under', async () => {
    await stopCore();
    await writeKeys(second, first);
    await startCore();
    const context = {
      ...core,
      actor: 'a test',
      signal: stopping.signal,
      print: () => Promise.resolve(),
      progress: () => undefined,
    };
    const rotated = await dataKeyCommands.commands['rotate']?.parse([]).run((work) => work(context));
    expect(rotated?.text).toMatch(/Keep the other keys: .*\brefunds\b/);
    await stopCore();
    await writeKeys(second);
    await expect(startCore()).rejects.toThrow('DATA_KEY_FILE: values in the database are encrypted');
    await writeKeys(second, first);
  });

  it('owncloud/core#35589: modules that return find their records, and catch up', async () => {
    const whole = await startWhole();
    const { shop } = records;
    expect(await shop.retrieveRefund(refundId)).toMatchObject({ status: 'paid' });
    expect(await shop.ask('GET', `/v1/links/${linkId}`)).toMatchObject({ sold: 1, reserved: 0 });
    const people = whole.database.reader.selectFrom('people').select('role');
    expect(await people.execute()).toContainEqual({ role: 'owner' });
    expect(await wasAway(whole.database.reader, 'refunds')).toBe(false);
    expect(await violationsOf(whole.database)).toEqual([]);
    await whole.app.sandboxReset(merchantId, 'a test');
    expect(await violationsOf(whole.database)).toEqual([]);
    await stopWhole();
  });

  it('docmost/docmost#2152: a later release migrates a database whose removed module had migrated it', async () => {
    const used = await engine.create();
    const older = await open(used.url, coreOnly);
    await older.write(async (transaction) => {
      await sql`drop table customer_earlier_emails`.execute(transaction);
      await sql`delete from kysely_migration where name = ${earlierEmails}`.execute(transaction);
    });
    await older.close();
    const newer = await open(used.url, coreOnly);
    const rows = await newer.reader.selectFrom('customer_earlier_emails').selectAll().execute();
    expect(rows).toEqual([]);
    await newer.close();
    await used.dispose();
  });

  it('A database that was made without a module is refused to the whole product, and nothing in it changes', async () => {
    const used = await engine.createEmpty();
    const without = await open(used.url, coreOnly);
    const migrated = () => sql`select name from kysely_migration order by name`.execute(without.reader);
    const before = await migrated();
    await expect(openDatabase(used.url)).rejects.toThrow('it was made without a module that this server has');
    expect(await migrated()).toEqual(before);
    await without.close();
    await used.dispose();
  });

  it('kysely-org/kysely#472: a module is added after later migrations of the core', async () => {
    const used = await engine.create();
    const without = await open(used.url, coreOnly);
    await without.write(async (transaction) => {
      await sql`drop table link_payments`.execute(transaction);
      await sql`drop table links`.execute(transaction);
      await sql`delete from kysely_migration where name = '0007-links.additive'`.execute(transaction);
    });
    await without.close();
    const whole = await openDatabase(used.url);
    expect(await whole.reader.selectFrom('links').selectAll().execute()).toEqual([]);
    await whole.close();
    await used.dispose();
  });
});
