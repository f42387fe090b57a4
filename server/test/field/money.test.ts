/** Public reports of money and payments that went wrong between two transactions, tried on this server. */
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import type { PaymentRecord } from 'crypto-checkout/contract';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAddressSource } from '../../src/core/addresses/address-sources.js';
import type { Network } from '../../src/core/chains/networks.js';
import type { Database } from '../../src/core/db/database.js';
import { parseDataKeys } from '../../src/core/shared/data-keys.js';
import {
  openFixture,
  recordedPending,
  scannerOn,
  testNetwork,
  type ChainFixture,
} from '../chains/fixture.js';
import { engines, sqlite, type TestDatabase } from '../support/engines.js';
import { MemoryChain } from '../support/memory-chain.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';
import { expectBooksInOrder } from '../support/violations.js';
import { startReceiver } from '../webhooks/receiver.js';
import { openWebhookShop } from '../webhooks/webhook-shop.js';

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');

describe.skipIf(!postgres)('Two changes of one balance, on PostgreSQL', () => {
  let server: TestServer;
  let merchant: Shop;
  let watcher: pg.Client;
  beforeEach(async () => {
    if (!postgres) return;
    server = await startServer({ engine: postgres });
    merchant = openShop(server);
    watcher = new pg.Client({ connectionString: server.databaseUrl });
    await watcher.connect();
  });
  afterEach(async () => {
    await watcher.end();
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  /** The number of transactions that wait for an account. */
  async function waiting(): Promise<number> {
    const { rows } = await watcher.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%ledger_accounts%'",
    );
    return rows[0]?.count ?? 0;
  }

  // ept/hermitage#12, ury-erp/ury#366: a statement that has waited for a lock keeps to the rows that it saw before
  it('a credit that waits for the reversal which makes the first debt repays that debt', async () => {
    await merchant.fund({ network: 'bsc', amount: 20 });
    const onBsc = { walletAddress: externalAddresses.evm, walletNetwork: 'bsc' };
    const { id: withdrawn } = await merchant.withdraw({ ...onBsc, amount: 19 });
    await merchant.until(withdrawn, 'success', 'bsc');
    const { id, address } = await merchant.lock();
    await merchant.pay(address, 5);

    await watcher.query(
      'create function hold() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return new; end $$',
    );
    await watcher.query(
      "create trigger hold before insert on ledger_accounts for each row when (new.id like '%/debt') execute function hold()",
    );
    await watcher.query('select pg_advisory_lock(1)');
    const reversed = merchant.sandbox('reorgs', { network: 'bsc', depth: 100 });
    await expect.poll(waiting).toBeGreaterThanOrEqual(1);
    const cancelled = merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    await expect.poll(waiting).toBeGreaterThanOrEqual(2);
    await watcher.query('select pg_advisory_unlock(1)');
    await Promise.all([reversed, cancelled]);

    // 19.05 is owed, and 4.95 of it was credited now.
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: -14.1 });
    const refused = await merchant.transfer({ amount: 1 });
    expect([refused.status, refused.body.data.code]).toEqual([400, 'insufficient_balance']);
  });
});

describe.each(engines)('A commit whose answer is lost, on $name', (engine) => {
  let made: TestDatabase;
  let fixture: ChainFixture;
  beforeEach(async () => {
    made = await engine.create();
    fixture = await openFixture(made.url);
  });
  afterEach(async () => {
    await fixture.close();
    await made.dispose();
  });

  // jruby/activerecord-jdbc-adapter#1216: the connection ends between the commit and its answer.
  // btcpayserver/btcpayserver#1371, lightningdevkit/ldk-node#1078: a payment that is replaced waits forever
  it('A transfer noted by a commit whose answer is lost waits no more once it is gone at the next scan', async () => {
    let isLost = false;
    const lossy: Database = {
      ...fixture.database,
      async write(work, isLong) {
        const result = await fixture.database.write(work, isLong);
        if (!isLost) return result;
        isLost = false;
        throw new Error('Connection terminated unexpectedly');
      },
    };
    const { scanner } = scannerOn(fixture, { database: lossy });
    await scanner.scanNow(testNetwork('tron'));
    const txHash = await fixture.send('tron', 'USDT');
    isLost = true;
    await expect(scanner.scanNow(testNetwork('tron'))).rejects.toThrow('Connection terminated');
    const { reader } = fixture.database;
    expect(await recordedPending(reader, 'tron')).toEqual([txHash]);

    await fixture.database.write((transaction) => transaction.deleteFrom('simulated_transfers').execute());
    await scanner.scanNow(testNetwork('tron'));
    expect(await recordedPending(reader, 'tron')).toEqual([]);
    await scanner.stop();
  });
});

describe('A transaction with many parts', () => {
  const network: Network = {
    mode: 'live',
    code: 'tron',
    name: 'Tron',
    family: 'tron',
    confirmations: 3,
    assets: { USDT: { minAmount: '0.01', withdrawalFee: '1' } },
  };
  let chain: MemoryChain;
  let server: TestServer;
  let key: string;
  beforeEach(async () => {
    chain = new MemoryChain();
    const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/195'/0'").publicExtendedKey;
    const live = createAddressSource('live', 'tron', xpub);
    server = await startServer({
      engine: sqlite,
      env: { SANDBOX: 'off' },
      overrides: { networks: [{ network, chain }], addressSources: { find: () => live } },
    });
    const { merchantId } = server.bootstrapped;
    ({ key } = await server.database.write((transaction) =>
      server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' }),
    ));
  });
  afterEach(async () => {
    await expectBooksInOrder(server.database);
    await server.stop();
  });

  const live = () => openShop(server, key);
  const read = (id: string) => live().ask<PaymentRecord>('GET', `/v1/payments/${id}`);
  const transfer = { txHash: 'ab'.repeat(32), currency: 'USDT', senders: [] };

  // GLEECBTC/komodo-defi-framework#1056: a server's reply about a transaction with many inputs was too large to be sent
  it('A transaction with many inputs pays like any other, and replies name a few of its senders', async () => {
    const { id, address } = await live().lock();
    const senders = Array.from({ length: 14_000 }, (_, index) => `sender-${index}`);
    chain.send({ ...transfer, outputIndex: 0, address, amount: 10_000_000n, senders });
    chain.mine(4);
    await expect.poll(async () => (await read(id)).status).toBe('success');
    const paid = await read(id);
    expect(paid.addressSentFrom).toEqual(senders.slice(0, 20));
    expect(JSON.stringify(paid).length).toBeLessThan(10_000);
  });

  // openware/peatio#1767, txbits/txbits#45: only the first output of a transaction was credited
  it('A transaction with many outputs pays each payment and each deposit, even two to one address', async () => {
    const payments = [await live().lock(), await live().lock()];
    const { addresses } = await live().ask<{ addresses: { address: string }[] }>('POST', '/v1/wallets', {
      body: { currency: 'USDT' },
    });
    const wallet = addresses[0]?.address ?? '';
    const outputs = [...payments.map((one) => [one.address, 10] as const), [wallet, 3], [wallet, 4]] as const;
    for (const [outputIndex, [address, amount]] of outputs.entries())
      chain.send({ ...transfer, outputIndex, address, amount: BigInt(amount) * 1_000_000n });
    chain.mine(4);
    for (const { id } of payments) await expect.poll(async () => (await read(id)).status).toBe('success');
    const listed = await live().ask<PaymentRecord[]>('GET', '/v1/transactions');
    expect(listed.map(({ status, amount }) => [status, amount]).sort()).toEqual([
      ...[
        ['success', 10],
        ['success', 10],
        ['success', 3],
        ['success', 4],
      ],
    ]);
    // Each has its own fee of 1 %.
    expect((await live().balance()).availableBalance).toBe(26.73);
  });
});

describe('Webhooks that no data key opens', () => {
  // hookdeck/outpost#948, preloopdev/preloop#236: one that cannot be read held up all others
  it('Webhooks that no data key opens hold up no others, and are not given up', async () => {
    const shop = await openWebhookShop({ engine: sqlite, log: pino({ level: 'silent' }) });
    const receiver = await startReceiver();
    await shop.setEndpoint(receiver);
    receiver.answer = { status: 500 };
    await shop.publish(20);
    await expect.poll(async () => (await shop.events()).flatMap((event) => event.tries)).toHaveLength(20);
    const data = parseDataKeys(randomBytes(32).toString('base64')).seal('{}', 'elsewhere');
    await shop.server.database.write((transaction) =>
      transaction.updateTable('outbox').set({ data, due_at: shop.now() }).execute(),
    );
    receiver.answer = { status: 204 };
    await shop.publish(3);
    await expect.poll(() => shop.events({ status: 'delivered' })).toHaveLength(3);
    expect(await shop.events({ status: 'pending' })).toHaveLength(20);
    await shop.server.stop();
    await receiver.stop();
  });
});
