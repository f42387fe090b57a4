/** Two servers, one database and one live network: what one of them reads, both know. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { PaymentRecord } from 'crypto-checkout/contract';
import { shippedRatesFile } from '../../src/core/money/fixed-rates.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { lastEngine, type TestDatabase } from '../support/engines.js';
import { depositKeys, unitsOf } from '../support/real-money.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const minute = 60_000;
const token = 'token-of-the-metrics';

let anvil: Anvil;
let directory: string;
let database: TestDatabase;
let now = Math.floor(Date.now() / 1000) * 1000;
let liveKey = '';
const servers: TestServer[] = [];

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.automine(false);
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  database = await lastEngine.create();
  const chain = { nodes: [anvil.url], chainId: 31_337, blockSeconds: 2 };
  const networks = { ethereum: { ...chain, assets: { USDT: false, USDC: false } } };
  await writeFile(join(directory, 'networks.json'), JSON.stringify({ networks }));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await anvil.stop();
  await database.dispose();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<TestServer> {
  const server = await startServer({
    engine: lastEngine,
    databaseUrl: database.url,
    env: {
      NETWORKS_FILE: join(directory, 'networks.json'),
      RATES_FILE: shippedRatesFile,
      METRICS_TOKEN: token,
      SANDBOX: 'off',
    },
    overrides: { realNow: () => now },
    // The one that is killed complains.
    log: pino({ level: 'silent' }),
  });
  servers.push(server);
  // It learns from the database which blocks were read, also those that another one has read.
  const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
  await expect.poll(readiness, { timeout: 20_000 }).toBe(200);
  return server;
}

/** As kill -9 does, it leaves the lease behind. */
async function kill(server: TestServer): Promise<void> {
  servers.splice(servers.indexOf(server), 1);
  await server.database.close();
  await server.stop().catch(() => {});
}

const cursor = () =>
  servers[0]?.database.reader
    .selectFrom('chain_cursors')
    .select(['height', 'lease_holder'])
    .where((e) => e.and({ mode: 'live', network: 'ethereum' }))
    .executeTakeFirst();

/** A block every two seconds, for a minute. The chain of a server that reads nothing would be overdue by then. */
async function passMinute(): Promise<void> {
  now += minute;
  await anvil.rpc('evm_setNextBlockTimestamp', [now / 1000 - 58]);
  await anvil.rpc('anvil_mine', ['0x1e', '0x2']);
  const head = Number(await anvil.rpc('eth_blockNumber'));
  await vi.waitFor(async () => expect((await cursor())?.height).toBe(head), {
    timeout: 20_000,
    interval: 50,
  });
}

async function lockAndPay(server: TestServer): Promise<string> {
  const { id, address, amount } = await openShop(server, liveKey).lock({
    currency: 'ETH',
    network: 'ethereum',
  });
  await anvil.send(address, unitsOf(amount, 'ETH'));
  return id;
}

async function metric(server: TestServer, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name}{`) && one.includes('"ethereum"'));
  return Number(line?.split(' ').at(-1));
}

it(
  'Both sell and settle for ten minutes, while one is killed and started again',
  { timeout: 120_000 },
  async () => {
    const first = await start();
    const merchantId = (await first.app.merchants.list(first.database.reader))[0]?.id ?? '';
    liveKey = await first.database.write(async (transaction) => {
      const scope = { merchantId, mode: 'live' } as const;
      const deposit = { extendedPublicKey: depositKeys.evm ?? '', script: undefined };
      await first.app.depositKeys.set(transaction, scope, 'evm', deposit);
      return (await first.app.keys.create(transaction, { ...scope, kind: 'secret' })).key;
    });
    await first.app.depositKeys.refresh();
    await vi.waitFor(async () => expect(await cursor()).toBeDefined(), { timeout: 20_000 });
    await start();
    const holders = new Set<string | null | undefined>();
    const paid: string[] = [];
    for (let passed = 1; passed <= 10; passed += 1) {
      await passMinute();
      holders.add((await cursor())?.lease_holder);
      for (const server of servers) {
        expect((await fetch(`${server.url}/readyz`)).status, `minute ${passed}`).toBe(200);
        paid.push(await lockAndPay(server));
        expect(await metric(server, 'checkout_chain_lag_seconds')).toBeLessThanOrEqual(60);
        expect(await metric(server, 'checkout_network_offered')).toBe(1);
      }
      // The one that scans.
      if (passed === 4) await kill(first);
      if (passed === 7) await start();
    }
    await passMinute();
    const reader = servers.at(-1) ?? first;
    for (const id of paid) {
      const { status } = await openShop(reader, liveKey).ask<PaymentRecord>(
        'GET',
        `/v1/transactions/${id}/verify`,
      );
      expect(status).toBe('success');
    }
    expect(paid).toHaveLength(17);
    expect(holders.size).toBeGreaterThan(1);
  },
);
