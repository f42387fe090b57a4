/**
 * Kills exports of payouts and of sweeps, and the servers that follow both, at random moments: every transfer is paid, and none
 * twice; every address is swept once. After each round the ledger is in order, and at the end the books are the chain's.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Hex } from 'viem';
import { openDatabase } from '../../src/database.js';
import { transferTopic } from '../../src/modules/networks/evm/token.js';
import { sweptTopic } from '../../src/modules/treasury/factory.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { call } from '../support/call.js';
import { runCommandLine, runKilled } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { deployFactory, factory, transact } from '../support/forwarders.js';
import { startServers, type Servers } from '../support/process.js';
import { roundsOf, startRound } from '../support/rounds.js';
import { violationsOf } from '../support/violations.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const keys = {
  BOOTSTRAP_PUBLIC_KEY: `pk_test_${randomBytes(32).toString('base64url')}`,
  BOOTSTRAP_SECRET_KEY: `sk_test_${randomBytes(32).toString('base64url')}`,
};
const key = keys.BOOTSTRAP_SECRET_KEY;

interface Exported {
  readonly export: string | null;
  readonly transfers: readonly { readonly to: string; readonly data: string }[];
}

describe.concurrent.each(engines)('exports that are killed, on $name', (engine) => {
  it(
    `exports that are killed pay each transfer and sweep each address once, over ${rounds} rounds`,
    { timeout: 180_000 + rounds * 30_000 },
    async () => {
      const { url: databaseUrl, dispose } = await engine.create();
      const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
      const anvil = await startAnvil();
      const mining = new AbortController();
      let servers: Servers | undefined;
      try {
        const token = await anvil.deploy('SilentToken');
        await deployFactory(anvil);
        const networksFile = join(directory, 'networks.json');
        const assets = { USDT: { contract: token, decimals: 6 } };
        const network = { nodes: [anvil.url], confirmations: 2, blockSeconds: 0.1, assets };
        await writeFile(networksFile, JSON.stringify({ networks: { 'evm-dev': network } }));
        const env = { DATABASE_URL: databaseUrl, NETWORKS_FILE: networksFile, ...keys };

        /** @returns the output; undefined if it failed, or was killed before it ended */
        async function run(words: string, killAfterMs?: number): Promise<string | undefined> {
          if (killAfterMs !== undefined) return runKilled(words.split(' '), env, killAfterMs);
          const { exitCode, stdout } = await runCommandLine(databaseUrl, words.split(' '), env);
          return exitCode === 0 ? stdout : undefined;
        }
        const json = async <T>(words: string) => JSON.parse((await run(words)) ?? 'null') as T;
        const sent = new Set<string>();
        async function broadcast({ export: id, transfers }: Exported): Promise<void> {
          if (id === null || sent.has(id)) return;
          sent.add(id);
          for (const { to, data } of transfers) await transact(anvil, to, data, treasury);
        }

        void mine(anvil, mining.signal);
        servers = await startServers(engine.name, env);
        const [{ id: merchant } = { id: '' }] = await json<{ id: string }[]>('merchants list --json');
        await run(`deposit-keys set --merchant ${merchant} --family evm --treasury ${treasury} --yes`);
        const paidAddresses: Hex[] = [];
        let received = 0n;
        async function payIn(amount: bigint): Promise<void> {
          const address = await newAddress(servers?.url ?? '');
          await anvil.call('SilentToken', token, 'transfer', [address, amount]);
          paidAddresses.push(address);
          received += amount;
        }
        const sweep = 'sweeps export --network evm-dev --format json';
        async function sendSweep(output: string | undefined): Promise<void> {
          const { transactions } = JSON.parse(output ?? '{"transactions":[]}') as {
            transactions: { to: string; data: string }[];
          };
          for (const { to, data } of transactions) await transact(anvil, to, data);
        }
        await payIn(5_000_000_000n);
        await balanceIs(servers.url, (available) => available > 1000);
        await sendSweep(await run(sweep));

        const line = `transfers export --network evm-dev --merchant ${merchant} --format json`;
        /** An operator who lost the output looks for the reserved one, and writes it once more. */
        async function sendLost(): Promise<void> {
          const reserved = await json<{ exportId: string }[] | null>('transfers exported --json');
          for (const { exportId } of reserved ?? []) {
            if (sent.has(exportId)) continue;
            const again = await json<Exported | null>(`${line} --again ${exportId}`);
            if (again) await broadcast(again);
          }
        }
        const ids: string[] = [];
        for (let round = 0; round < rounds; round += 1) {
          startRound(`exports on ${engine.name}`, round, rounds);
          for (const part of [1, 2]) {
            const amount = (round * 2 + part) / 100;
            ids.push(await createTransfer(servers.url, amount));
          }
          await payIn(BigInt(randomInt(12_000_000, 40_000_000)));
          const exporting = run(line, randomInt(300, 2000));
          const sweeping = run(sweep, randomInt(300, 2000));
          if (randomInt(2) === 0) {
            await delay(randomInt(1500));
            await servers.restartOne();
          }
          const output = await exporting;
          if (output !== undefined) await broadcast(JSON.parse(output) as Exported);
          await sendSweep(await sweeping);
          await sendLost();
          expect(await run('ledger check'), `round ${round}`).toContain('ok');
        }
        await vi.waitFor(
          async () => {
            // Refused for a moment after the server was away: the watcher is behind.
            const output = await run(line);
            if (output !== undefined) await broadcast(JSON.parse(output) as Exported);
            await sendSweep(await run(sweep));
            // PostgreSQL can commit what a client asked for that was killed meanwhile.
            await sendLost();
            const states = await Promise.all(
              ids.map(async (id) => {
                const { body } = await call(servers?.url ?? '', 'GET', `/v1/transfers/${id}`, { key });
                return body.data['status'];
              }),
            );
            expect(new Set(states)).toEqual(new Set(['success']));
          },
          { timeout: 60_000, interval: 200 },
        );
        const logs = await anvil.rpc<{ topics: Hex[]; data: Hex }[]>('eth_getLogs', [
          {
            address: token,
            fromBlock: '0x0',
            topics: [transferTopic, topicOf(treasury), topicOf(destination)],
          },
        ]);
        const paid = logs.map(({ data }) => Number(BigInt(data)) / 10_000).sort((a, b) => a - b);
        expect(paid).toEqual(ids.map((_, index) => index + 1));
        const swept = await anvil.rpc<{ topics: Hex[] }[]>('eth_getLogs', [
          { address: factory.address, fromBlock: '0x0', topics: [sweptTopic] },
        ]);
        const addresses = swept.map(({ topics }) => `0x${topics[1]?.slice(26)}`).sort();
        expect(addresses).toEqual(paidAddresses.map((address) => address.toLowerCase()).sort());
        const left = paid.reduce((sum, amount) => sum - BigInt(amount) * 10_000n, received);
        await vi.waitFor(async () => expect(await readCustody(databaseUrl)).toEqual([0n, left]), {
          timeout: 30_000,
          interval: 200,
        });
        expect(await run('ledger check --chain')).toContain('ok');
        expect(new Set(await servers.stop())).toEqual(new Set([0]));
        const database = await openDatabase(databaseUrl);
        const violations = await violationsOf(database);
        await database.close();
        expect(violations).toEqual([]);
      } finally {
        mining.abort();
        await servers?.kill();
        await anvil.stop();
        await dispose();
        await rm(directory, { recursive: true, force: true });
      }
    },
  );
});

/** The amounts of the token at addresses and at the treasury, by the books. */
async function readCustody(databaseUrl: string): Promise<bigint[]> {
  const database = await openDatabase(databaseUrl);
  try {
    const accounts = await database.reader
      .selectFrom('ledger_accounts')
      .select(['id', 'balance'])
      .where((e) => e.and({ kind: 'custody', network: 'evm-dev', currency: 'USDT' }))
      .execute();
    return [false, true].map((isTreasury) =>
      accounts
        .filter(({ id }) => id.endsWith('/treasury') === isTreasury)
        .reduce((sum, { balance }) => sum + BigInt(balance), 0n),
    );
  } finally {
    await database.close();
  }
}

const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

async function mine(anvil: Anvil, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await anvil.mine().catch(() => undefined);
    await delay(100);
  }
}

async function createTransfer(url: string, amount: number): Promise<string> {
  const body = { amount, currency: 'USDT', walletAddress: destination, walletNetwork: 'evm-dev' };
  const answer = await call(url, 'POST', '/v1/transfers', { key, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return String(answer.body.data['id']);
}

/** A wallet's address, once the network is offered. */
function newAddress(url: string): Promise<Hex> {
  return vi.waitFor(
    async () => {
      const { body } = await call(url, 'POST', '/v1/wallets', {
        key,
        body: { currency: 'USDT', label: 'x' },
      });
      const { addresses } = body.data as { addresses: { network: string; address: Hex }[] };
      const found = addresses.find(({ network }) => network === 'evm-dev')?.address;
      if (!found) throw new Error('The network is not offered yet');
      return found;
    },
    { timeout: 20_000, interval: 100 },
  );
}

function balanceIs(url: string, isRight: (available: number) => boolean): Promise<void> {
  return vi.waitFor(
    async () => {
      const { body } = await call(url, 'GET', '/v1/balances', { key });
      const balances = body.data as unknown as { currency: string; availableBalance: number }[];
      const usdt = balances.find(({ currency }) => currency === 'USDT');
      expect(isRight(usdt?.availableBalance ?? 0)).toBe(true);
    },
    { timeout: 20_000, interval: 100 },
  );
}
