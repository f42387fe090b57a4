/** Kills the built server at random moments while its gas key sweeps: everything is swept once, and the books agree. */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Hex } from 'viem';
import { openDatabase } from '../../src/database.js';
import { createKeystore } from '../../src/modules/treasury/key-file.js';
import { sweptTopic } from '../../src/modules/treasury/factory.js';
import { startAnvil } from '../support/anvil.js';
import { call } from '../support/call.js';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfSoak } from '../support/engines.js';
import { deployFactory, factory } from '../support/forwarders.js';
import { startServers, type Servers } from '../support/process.js';
import { roundsOf, startRound } from '../support/rounds.js';
import { expectBooksInOrder } from '../support/violations.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const keys = {
  BOOTSTRAP_PUBLIC_KEY: `pk_test_${randomBytes(32).toString('base64url')}`,
  BOOTSTRAP_SECRET_KEY: `sk_test_${randomBytes(32).toString('base64url')}`,
};

describe.concurrent.each(enginesOfSoak)('a server killed while it sweeps, on $name', (engine) => {
  it(`each payment is swept once, over ${rounds} kills`, { timeout: 60_000 + rounds * 20_000 }, async () => {
    const { url: databaseUrl, dispose } = await engine.create();
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    const anvil = await startAnvil();
    const mining = new AbortController();
    let servers: Servers | undefined;
    try {
      const token = await anvil.deploy('SilentToken');
      await deployFactory(anvil);
      const file = (name: string) => join(directory, name);
      const { keystore, address: sender } = await createKeystore('a password for tests', {
        n: 2,
        r: 1,
        p: 1,
      });
      await writeFile(file('key.json'), keystore);
      await writeFile(file('password'), 'a password for tests\n');
      await writeFile(
        file('networks.json'),
        JSON.stringify({
          networks: {
            'evm-dev': {
              nodes: [anvil.url],
              confirmations: 2,
              blockSeconds: 0.1,
              assets: { USDT: { contract: token, decimals: 6 } },
              sweeps: { minValue: '10', maxGasPriceGwei: '100', dailyBudget: '100' },
            },
          },
        }),
      );
      await anvil.rpc('anvil_setBalance', [sender, '0x56bc75e2d63100000']);
      const env = {
        DATABASE_URL: databaseUrl,
        NETWORKS_FILE: file('networks.json'),
        ...keys,
        GAS_KEY_FILE: file('key.json'),
        GAS_KEY_PASSWORD_FILE: file('password'),
      };
      void mine(anvil, mining.signal);
      servers = await startServers(engine.name, env);
      const merchants = JSON.parse(
        (await runCommandLine(databaseUrl, ['merchants', 'list', '--json'])).stdout,
      ) as { id: string }[];
      const set = [
        'deposit-keys',
        'set',
        '--merchant',
        merchants[0]?.id ?? '',
        '--mode',
        'test',
        '--family',
        'evm',
      ];
      const stored = await runCommandLine(databaseUrl, [...set, '--treasury', treasury, '--yes']);
      expect(stored.exitCode, stored.stderr).toBe(0);

      let total = 0n;
      const paid: Hex[] = [];
      for (let round = 0; round < rounds; round += 1) {
        startRound(`sweeps on ${engine.name}`, round, rounds);
        const address = await newAddress(servers.url);
        const amount = BigInt(randomInt(12_000_000, 40_000_000));
        await anvil.call('SilentToken', token, 'transfer', [address, amount]);
        total += amount;
        paid.push(address);
        // It plans every two seconds, and asks its node in between: it is killed before, within or after a sweep.
        await delay(randomInt(200, 3500));
        await servers.restartOne();
        const { exitCode, stdout } = await runCommandLine(databaseUrl, ['ledger', 'check']);
        expect(exitCode, stdout).toBe(0);
      }
      await vi.waitFor(
        async () => {
          const balance = await anvil.rpc<Hex>('eth_call', [
            { to: token, data: `0x70a08231${treasury.slice(2).toLowerCase().padStart(64, '0')}` },
            'latest',
          ]);
          expect(BigInt(balance)).toBe(total);
        },
        { timeout: 30_000, interval: 100 },
      );
      await waitUntilBooked(databaseUrl, total);
      expect(new Set(await servers.stop())).toEqual(new Set([0]));

      const logs = await anvil.rpc<{ topics: Hex[]; transactionHash: Hex }[]>('eth_getLogs', [
        { address: factory.address, fromBlock: '0x0', topics: [sweptTopic] },
      ]);
      const swept = logs.map(({ topics }) => `0x${topics[1]?.slice(26)}`).sort();
      expect(swept).toEqual(paid.map((address) => address.toLowerCase()).sort());
      // Every transaction of the key is one that moved money, and that the database knows.
      const nonce = Number(await anvil.rpc<Hex>('eth_getTransactionCount', [sender, 'latest']));
      expect(new Set(logs.map(({ transactionHash }) => transactionHash)).size).toBe(nonce);
    } finally {
      mining.abort();
      await servers?.kill();
      await anvil.stop();
      await dispose();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

async function mine(anvil: Awaited<ReturnType<typeof startAnvil>>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await anvil.mine().catch(() => undefined);
    await delay(100);
  }
}

/** A wallet's address, once the network is offered. */
function newAddress(url: string): Promise<Hex> {
  return vi.waitFor(
    async () => {
      const { status, body } = await call(url, 'POST', '/v1/wallets', {
        key: keys.BOOTSTRAP_SECRET_KEY,
        body: { currency: 'USDT', label: 'crash' },
      });
      expect(status).toBe(200);
      const { addresses } = body.data as { addresses: { network: string; address: Hex }[] };
      const found = addresses.find(({ network }) => network === 'evm-dev')?.address;
      if (!found) throw new Error('The network is not offered yet');
      return found;
    },
    { timeout: 20_000, interval: 100 },
  );
}

/** Waits until the books show everything in the treasury, and the gas of each transaction once. */
async function waitUntilBooked(databaseUrl: string, total: bigint): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    await vi.waitFor(
      async () => {
        const accounts = await database.reader
          .selectFrom('ledger_accounts')
          .select(['id', 'kind', 'balance'])
          .where('kind', 'in', ['custody', 'gas_paid'])
          .where('network', 'in', ['evm-dev'])
          .execute();
        const inTreasury = accounts.find(({ id }) => id.endsWith('/treasury'));
        expect(BigInt(inTreasury?.balance ?? 0)).toBe(total);
        const open = await database.reader
          .selectFrom('gas_transactions')
          .select('id')
          .where('status', '=', 'open')
          .execute();
        expect(open).toEqual([]);
      },
      { timeout: 30_000, interval: 200 },
    );
    await expectBooksInOrder(database);
  } finally {
    await database.close();
  }
}
