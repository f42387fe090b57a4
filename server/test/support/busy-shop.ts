/**
 * A server whose database holds as many payments as a shop makes in two years, with all that belongs to them. One record of each
 * kind is made through the API, and copied by the database itself.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { connect, copyOf, type Sql } from '../../../bench/fill-lists.mjs';
import { addressFormat } from '../../src/core/addresses/formats.js';
import { extendCheckpoints } from '../../src/core/db/list-checkpoints.js';
import { openDatabase } from '../../src/database.js';
import { startReceiver, type Receiver } from '../webhooks/receiver.js';
import { coinShare, fillCoins, makeCoinTemplates, type CoinTemplates } from './busy-coins.js';
import { commandContext, runWith } from './command-context.js';
import type { TestDatabase, TestEngine } from './engines.js';
import { addressFrom, EvmModel, sweepTx, token, walletTx } from './evm-model.js';
import { startLyingNode } from './lying-node.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from './litecoin.js';
import { createRecords, type Records } from './records.js';
import { startServer, type TestServer } from './server.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const { signal } = new AbortController();
export const evm = { mode: 'test', network: 'evm-dev' } as const;
const canonical = (hex: string): string => addressFormat('live', 'evm').read(hex) ?? hex;
const day = 86_400_000;
const oldBlocks = 200;

export interface BusyShop {
  readonly databaseUrl: string;
  readonly model: EvmModel;
  /** The node for payments in Litecoin; undefined if there is no Litecoin Core here. */
  readonly litecoin: LitecoinNode | undefined;
  readonly receiver: Receiver;
  /** Gathers the statistics that plans are made from. SQLite has none before, and PostgreSQL those of an almost empty database. */
  analyze(): Promise<void>;
  /** The number of rows of each table. */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** @param env more than it needs */
  start(databaseUrl?: string, env?: Readonly<Record<string, string>>): Promise<OpenShop>;
  close(): Promise<void>;
}

export interface OpenShop {
  readonly server: TestServer;
  readonly records: Records;
  /** Makes blocks of the EVM network, and has the server read them. */
  mine(blocks: number): Promise<void>;
  /** Pays addresses of the EVM network, all in one transaction's block. Amounts are as the chain counts. */
  pay(payments: readonly { readonly address: string; readonly amount: bigint }[]): void;
  /** As a scan does that cannot process a payment of the EVM network. It will be tried again at once. */
  setAside(paymentId: string): Promise<void>;
  command(line: string, ...words: string[]): Promise<unknown>;
  /** The lines that the commands printed while they worked. */
  readonly progress: readonly string[];
}

/** @param payments their number in the end */
export async function openBusyShop(engine: TestEngine, payments: number): Promise<BusyShop> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const networksFile = join(directory, 'networks.json');
  const model = new EvmModel(Math.floor(Date.now() / 1000) - 3600);
  // The sweeps of old payments are older than the blocks that are read again.
  model.mine(oldBlocks, Math.floor(Date.now() / 1000) - 3600);
  const node = startLyingNode(model);
  const litecoin = hasLitecoind ? await startLitecoin() : undefined;
  await writeFile(
    networksFile,
    JSON.stringify({
      networks: {
        [evm.network]: {
          nodes: [node.url],
          confirmations: 2,
          assets: { USDT: { contract: canonical(token), decimals: 6 } },
        },
        ...(litecoin && { [litecoinRegtest.network]: { nodes: [litecoin.url] } }),
      },
    }),
  );
  const receiver = await startReceiver();
  const made: TestDatabase = await engine.create();
  const secretKey = `sk_test_${'k'.repeat(43)}`;
  let sent = 0;

  async function start(
    databaseUrl = made.url,
    env: Readonly<Record<string, string>> = {},
  ): Promise<OpenShop> {
    const server = await startServer({
      engine,
      databaseUrl,
      env: {
        BOOTSTRAP_SECRET_KEY: secretKey,
        NETWORKS_FILE: networksFile,
        WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
        ...env,
      },
    });
    const progress: string[] = [];
    return {
      server,
      records: createRecords(server),
      async mine(blocks) {
        if (blocks > 0) model.mine(blocks, Math.floor(Date.now() / 1000));
        await server.app.scanner.scanNow(evm);
      },
      pay(list) {
        for (const { address, amount } of list) {
          sent += 1;
          model.send(walletTx({ name: `payer ${sent}` }, { address, currency: 'USDT', amount }));
        }
      },
      command: async (line, ...words) =>
        (await runWith(commandContext(server, progress), line, ...words)).json,
      progress,
      async setAside(paymentId) {
        const failed = {
          transfer: null,
          reason: 'It could not be processed',
          tries: 1,
          failed_at: 1,
          retry_at: 1,
        };
        await server.database.write((transaction) =>
          transaction
            .insertInto('quarantine')
            .values({ ...evm, id: paymentId, payment_id: paymentId, ...failed })
            .executeTakeFirst(),
        );
      },
    };
  }

  const shop = await start();
  receiver.secret = await shop.records.shop.setWebhookUrl(receiver.url);
  const templates = await makeTemplates(shop, model);
  const coins = litecoin && (await makeCoinTemplates(shop, litecoin));
  await shop.server.stop();
  const sql = await connect(made.url);
  // PostgreSQL plans by the statistics from when there was almost nothing. SQLite has learned nothing.
  if (engine.name === 'PostgreSQL') await sql.run('analyze');
  await withoutIndexes(sql, engine, () => fill(sql, payments, templates, coins));
  const database = await openDatabase(made.url);
  await extendCheckpoints(database, signal);
  await database.close();
  // Days that a server's jobs have kept in two years.
  await sql.run(`update test_clocks set moved_at = 0`);
  const before = await start();
  for (const { name, run } of before.server.jobs) if (name === 'book-days') await run(signal);
  await before.server.stop();

  return {
    databaseUrl: made.url,
    model,
    litecoin,
    receiver,
    start,
    async analyze() {
      await sql.run('analyze');
    },
    async sizes() {
      const names =
        engine.name === 'PostgreSQL'
          ? `select tablename as name from pg_tables where schemaname = current_schema()`
          : `select name from sqlite_master where type = 'table' and name not like 'sqlite%'`;
      const sizes = new Map<string, number>();
      for (const { name } of await sql.run(names)) {
        const [row] = await sql.run(`select count(*) as rows from ${String(name)}`);
        sizes.set(String(name), Number(row?.['rows']));
      }
      return sizes;
    },
    async close() {
      await sql.close();
      node.close();
      await litecoin?.stop();
      await receiver.stop();
      await made.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Making an index of all rows is several times faster than adding each row to it. */
async function withoutIndexes(sql: Sql, engine: TestEngine, work: () => Promise<void>): Promise<void> {
  const indexes = await sql.run(
    engine.name === 'PostgreSQL'
      ? `select indexname as name, indexdef as sql from pg_indexes
         where schemaname = current_schema() and indexname not in (select conname from pg_constraint)`
      : `select name, sql from sqlite_master where type = 'index' and sql is not null`,
  );
  for (const { name } of indexes) await sql.run(`drop index ${String(name)}`);
  await work();
  for (const index of indexes) await sql.run(String(index['sql']));
}

type Templates = Readonly<
  Record<
    | 'merchant'
    | 'paid'
    | 'paidThere'
    | 'expired'
    | 'cancelled'
    | 'customer'
    | 'refund'
    | 'plan'
    | 'subscriber'
    | 'transfer'
    | 'payout'
    | 'wallet'
    | 'walletAddress'
    | 'bankAccount',
    string
  >
>;

async function makeTemplates(shop: OpenShop, model: EvmModel): Promise<Templates> {
  const { records, server } = shop;
  const { merchantId } = server.bootstrapped;
  const treasury = canonical(addressFrom('treasury'));
  await server.database.write((transaction) =>
    server.app.depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', { treasury }, true),
  );
  await server.app.depositKeys.refresh();
  await shop.mine(3);
  await treasuryModule.rules(server.app).forwarderChecks.refresh(signal);

  const paid = await records.paidPayment('tron');
  const { id: paidThere, address, amount } = await records.lockedPayment(evm.network);
  shop.pay([{ address, amount: BigInt(Math.round(amount * 1e6)) }]);
  await shop.mine(3);
  const { transactions } = (await shop.command('sweeps export --network evm-dev --format json --all')) as {
    transactions: { data: string }[];
  };
  for (const { data } of transactions) model.send(sweepTx({ name: 'sweep' }, data));
  await shop.mine(4);
  await treasuryModule.rules(server.app).watcher.advance(signal);

  const customer = await records.customer();
  const refund = await records.refund();
  const { id: payout, transferId: transfer, walletAddressId: walletAddress } = await records.payout();
  const subscriber = await records.subscriber();
  const wallet = await records.wallet();
  const bankAccount = await records.bankAccount();
  const cancelled = await records.setPayment('tron');
  await records.merchant.payments.cancel({ params: { payment_id: cancelled } });
  const expired = (await records.lockedPayment('tron')).id;
  await records.shop.advance(7200);
  await records.shop.mine(2);
  await vi.waitFor(
    async () => {
      const { data } = await records.merchant.payments.retrieve({ params: { payment_id: expired } });
      if (data.status !== 'error') throw new Error('It has not expired yet');
      const pending = await server.database.reader
        .selectFrom('outbox')
        .select('id')
        .where('status', '=', 'pending')
        .execute();
      if (pending.length > 0) throw new Error('Webhooks are still pending');
    },
    { timeout: 20_000 },
  );
  return {
    merchant: merchantId,
    paid,
    paidThere,
    expired,
    cancelled,
    customer: customer.id,
    refund: refund.id,
    plan: subscriber.planId,
    subscriber: subscriber.id,
    transfer,
    payout,
    wallet,
    walletAddress,
    bankAccount,
  };
}

/** Of ten payments, four are paid on a simulated network, two in coins, two on an EVM network, one expires, and one is cancelled. */
const shares = {
  paid: 's.i % 10 < 4',
  paidCoins: coinShare,
  paidThere: 's.i % 10 in (6, 7)',
  expired: 's.i % 10 = 8',
  cancelled: 's.i % 10 = 9',
} as const;

const prefixes = {
  paid: 'T',
  paidThere: '0x',
  expired: 'T',
  cancelled: 'T',
  paidCoins: 'rltc1q',
} as const;

async function fill(
  sql: Sql,
  payments: number,
  templates: Templates,
  coins: CoinTemplates | undefined,
): Promise<void> {
  const now = Date.now();
  const id = sql.id('s.i');
  const at = (from: number) =>
    `${now - from} + cast(s.i as bigint) * ${Math.floor((from - day / 8) / payments)}`;
  const createdAt = at(730 * day);
  const series = sql.series(payments);
  // The first block is that of the templates.
  const height = `1 + s.i % 3`;
  const digits = (prefix: string, length: number) =>
    `'${prefix}${'0'.repeat(length - 26)}' || ${sql.id('s.i')}`;
  const hash = (prefix: string) => `${sql.id('s.i')} || '${'0'.repeat(38 - prefix.length)}${prefix}'`;

  const kinds = { ...templates, paidCoins: coins?.payment };
  for (const kind of ['paid', 'paidCoins', 'paidThere', 'expired', 'cancelled'] as const) {
    const share = shares[kind];
    const template = kinds[kind];
    if (template === undefined) continue;
    const address = digits(prefixes[kind], 40);
    const of = (table: string, column: string) =>
      `${series} join ${table} t on t.${column} = '${template}' where ${share} order by s.i`;
    await copyOf(sql, 'payments', of('payments', 'id'), {
      id,
      created_at: createdAt,
      updated_at: createdAt,
      locked_at: `case when t.locked_at is null then null else ${createdAt} end`,
      settled_at: `case when t.settled_at is null then null else 60000 + ${createdAt} end`,
      cancelled_at: `case when t.cancelled_at is null then null else 60000 + ${createdAt} end`,
      expires_at: `3600000 + ${createdAt}`,
      tx_ref: `'order-' || s.i`,
      address: `case when t.address is null then null else ${address} end`,
      address_id: `case when t.address_id is null then null else ${id} end`,
      payer_index: `'customer-' || (s.i % ${Math.ceil(payments / 10)}) || '@example.com'`,
    });
    await copyOf(sql, 'addresses', of('addresses', 'payment_id'), {
      id,
      payment_id: id,
      address,
      derivation_index: '1000 + s.i',
      created_at: createdAt,
    });
    const entries = ['time', 'type', 'event', 'code', 'entry_values'];
    await sql.run(
      `insert into log_entries (payment_id, ${entries.join(', ')})
       select ${id}, ${entries.map((name) => `t.${name}`).join(', ')}
       from ${series} join log_entries t on t.payment_id = '${template}' where ${share} order by s.i, t.id`,
    );
    await copyOf(sql, 'receipts', of('receipts', 'payment_id'), {
      id,
      payment_id: id,
      tx_hash: hash('a'),
      address,
      ...(kind === 'paidCoins' && { amount: `'' || (1000 + s.i)` }),
      first_seen_at: createdAt,
      confirmed_at: createdAt,
      block_height: height,
    });
    const key = `replace(t.key, '${template}', '') || ':' || s.i`;
    await copyOf(sql, 'ledger_postings', of('ledger_postings', 'payment_id'), {
      id: key,
      key,
      payment_id: id,
      created_at: createdAt,
    });
    await sql.run(
      `insert into ledger_entries (posting_id, account_id, debit, credit)
       select ${key}, e.account_id, e.debit, e.credit
       from ${series} join ledger_postings t on t.payment_id = '${template}'
         join ledger_entries e on e.posting_id = t.id
       where ${share} order by s.i`,
    );
    await copyOf(sql, 'outbox', of('outbox', 'subject_id'), {
      id: `${id} || t.id`,
      subject_id: id,
      data: `'{"id":"' || ${id} || '","mode":"test"}'`,
      created_at: at(29 * day),
    });
  }
  await copyOf(
    sql,
    'webhook_tries',
    `outbox o join (select * from webhook_tries limit 1) t on true where o.subject_id < 'A' and o.id not in (select event_id from webhook_tries)`,
    { event_id: 'o.id', tried_at: 'o.created_at' },
  );
  await copyOf(
    sql,
    'sweeps',
    `${series} join (select * from sweeps limit 1) t on true where ${shares.paidThere} order by s.i`,
    { tx_hash: hash('b'), address: digits('0x', 40), block_height: '1 + s.i % 50' },
  );
  await copyOf(
    sql,
    'simulated_transfers',
    `${series} join (select * from simulated_transfers where network = 'tron' limit 1) t on true where ${shares.paid} order by s.i`,
    { tx_hash: hash('a'), address: digits('T', 40), sent_at: createdAt, block_height: height },
  );
  if (coins) await fillCoins(sql, payments, coins, { at: createdAt, hash: hash('a') });
  await sql.run(`update derivations set next_index = ${payments + 10_000}`);

  const copies = async (table: string, one: number, template: string, changes: Record<string, string>) => {
    const count = Math.ceil(payments / one);
    const columns = await sql.columns(table);
    await copyOf(sql, table, `${sql.series(count)} join ${table} t on t.id = '${template}' order by s.i`, {
      id,
      ...(columns.includes('created_at') && {
        created_at: `${now - 700 * day} + cast(s.i as bigint) * ${Math.floor((699 * day) / count)}`,
      }),
      ...changes,
    });
  };
  await copies('customers', 10, templates.customer, {
    person: `'{"email":"customer-' || s.i || '@example.com","phoneNumber":"+234' || (8000000000 + s.i) || '"}'`,
    email_index: `'customer-' || s.i || '@example.com'`,
    phone_index: `'+234' || (8000000000 + s.i)`,
  });
  await copies('refunds', 10, templates.refund, {
    payment_id: sql.id('s.i * 5'),
    token_digest: `'digest-' || s.i`,
    status: `'paid'`,
  });
  await copies('payment_plans', 2000, templates.plan, {});
  await copies('subscribers', 10, templates.subscriber, {
    plan_id: sql.id(`s.i % ${Math.ceil(payments / 2000)}`),
    customer_id: sql.id('s.i'),
    charge_at: `${now + 10 * day}`,
  });
  await copies('wallet_addresses', 1000, templates.walletAddress, { address: digits('0x', 40) });
  await copies('bank_accounts', 5000, templates.bankAccount, {
    account_number: `'00' || (10000000 + s.i)`,
    number_index: `'00' || (10000000 + s.i)`,
  });
  await copies('transfers', 100, templates.transfer, { refund_id: 'null' });
  await copies('payouts', 100, templates.payout, { transfer_id: id });
  await copies('wallets', 200, templates.wallet, { label: `'label-' || s.i` });
  await sql.run(
    `insert into balance_differences (mode, network, address, currency, state, difference, balance, height, hash, node, above, spent, sent, found_at)
     select 'test', 'evm-dev', ${digits('0x', 40)}, 'USDT', 'spent', '0', '0', 1, '0x1', 'node 1', 0, '5', 1, ${now}
     from ${series} where ${shares.paidThere}`,
  );
  await copyOf(
    sql,
    'audit_log',
    `${sql.series(Math.ceil(payments / 10))} join (select * from audit_log order by id limit 1) t on true`,
    { id: '1000000 + s.i', time: `${now - 700 * day} + cast(s.i as bigint)` },
  );
  await copyOf(
    sql,
    'idempotency',
    `${sql.series(Math.ceil(payments / 20))} join (select * from idempotency limit 1) t on true`,
    { request: hash('c'), reply_hash: hash('c'), expires_at: `${now + day} - s.i` },
  );
  await copyOf(
    sql,
    'idempotency_replies',
    `${sql.series(Math.ceil(payments / 20))} join (select * from idempotency_replies limit 1) t on true`,
    { hash: hash('c'), created_at: `${now} - s.i` },
  );
}
