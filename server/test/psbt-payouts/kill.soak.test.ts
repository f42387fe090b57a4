/**
 * Kills exports and imports of PSBTs, and the servers that follow them, at random moments: every transfer is paid, and none twice.
 * After each round, the ledger is in order.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { describe, expect, it, vi } from 'vitest';
import { call } from '../support/call.js';
import { runCommandLine, runKilled } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { hasLitecoind, startLitecoin } from '../support/litecoin.js';
import { startServers, type Servers } from '../support/process.js';
import { roundsOf, startRound } from '../support/rounds.js';
import { signWith, tpub } from '../support/sign-psbt.js';
import { network } from './fixture.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
const keys = {
  BOOTSTRAP_PUBLIC_KEY: `pk_test_${randomBytes(32).toString('base64url')}`,
  BOOTSTRAP_SECRET_KEY: `sk_test_${randomBytes(32).toString('base64url')}`,
};
const key = keys.BOOTSTRAP_SECRET_KEY;

interface Transfer {
  readonly id: string;
  readonly address: string;
  readonly amount: number;
}

describe.skipIf(!hasLitecoind).each(engines)('PSBTs that are killed, on $name', (engine) => {
  it(`A killed payout pays once, over ${rounds} rounds`, { timeout: 300_000 + rounds * 60_000 }, async () => {
    const { url: databaseUrl, dispose } = await engine.create();
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    const node = await startLitecoin();
    let servers: Servers | undefined;
    try {
      const networksFile = join(directory, 'networks.json');
      await writeFile(networksFile, JSON.stringify({ networks: { [network]: { nodes: [node.url] } } }));
      const env = { DATABASE_URL: databaseUrl, NETWORKS_FILE: networksFile, ...keys };

      /** @returns the output; undefined if it failed, or was killed before it ended */
      async function run(words: string, killAfterMs?: number): Promise<string | undefined> {
        if (killAfterMs !== undefined) return runKilled(words.split(' '), env, killAfterMs);
        const { exitCode, stdout } = await runCommandLine(databaseUrl, words.split(' '), env);
        return exitCode === 0 ? stdout : undefined;
      }
      const json = async <T>(words: string) => JSON.parse((await run(`${words} --json`)) ?? 'null') as T;
      async function ask<T>(method: string, path: string, body?: object): Promise<T> {
        const answer = await call(servers?.url ?? '', method, path, { key, ...(body && { body }) });
        expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(200);
        return answer.body.data as T;
      }

      servers = await startServers(engine.name, env);
      const [{ id: merchant } = { id: '' }] = await json<{ id: string }[]>('merchants list');
      const account = HDKey.fromMasterSeed(randomBytes(32), tpub).derive("m/84'/1'/0'");
      const given = `--family litecoin --xpub ${account.publicExtendedKey} --script p2wpkh --yes`;
      expect(await run(`deposit-keys set --merchant ${merchant} --mode test ${given}`)).toBeDefined();
      const deposit = await vi.waitFor(
        async () => {
          const body = { currency: 'LTC', label: 'Till' };
          const { addresses } = await ask<{ addresses: { network: string; address: string }[] }>(
            ...(['POST', '/v1/wallets', body] as const),
          );
          const found = addresses.find((one) => one.network === network)?.address;
          if (found === undefined) throw new Error('The network is not offered yet');
          return found;
        },
        { timeout: 20_000, interval: 100 },
      );
      for (let coin = 0; coin < 8; coin += 1) await node.pay(deposit, '1.5');
      await node.mine(3);
      await vi.waitFor(
        async () => {
          const balances = await ask<{ currency: string; availableBalance: number }[]>('GET', '/v1/balances');
          expect(balances.find(({ currency }) => currency === 'LTC')?.availableBalance).toBeGreaterThan(11);
        },
        { timeout: 20_000, interval: 100 },
      );

      const transfers: Transfer[] = [];
      const line = `transfers psbt export --merchant ${merchant} --network ${network} --mode test --fee-rate 2`;
      let files = 0;
      async function sign(psbt: string, killAfterMs?: number): Promise<void> {
        const file = join(directory, `signed-${(files += 1)}`);
        await writeFile(file, signWith(account, psbt.trim()));
        await run(`transfers psbt import ${file}`, killAfterMs);
      }
      /** An operator who lost the output looks for the reserved one, and signs that. */
      async function signLost(): Promise<void> {
        const list = await json<{ id: string; state: string }[] | null>(
          `transfers psbt list --merchant ${merchant}`,
        );
        for (const { id } of (list ?? []).filter(({ state }) => state === 'open')) {
          const shown = await run(`transfers psbt show ${id}`);
          const psbt = /^cHNidP\S+$/m.exec(shown ?? '')?.[0];
          if (psbt !== undefined) await sign(psbt);
        }
      }

      for (let round = 0; round < rounds; round += 1) {
        startRound(`PSBTs on ${engine.name}`, round, rounds);
        const amount = (10 + (round % 20)) / 1000;
        const address = await node.rpc<string>('getnewaddress');
        const body = { amount, currency: 'LTC', walletAddress: address, walletNetwork: network };
        transfers.push({ ...(await ask<{ id: string }>('POST', '/v1/transfers', body)), address, amount });
        const working = run(line, randomInt(300, 2500)).then(async (output) => {
          if (output !== undefined) await sign(output, randomInt(300, 2500));
        });
        if (randomInt(2) === 0) {
          await delay(randomInt(1500));
          await servers.restartOne();
        }
        await working;
        await signLost();
        await node.mine(2);
        expect(await run('ledger check'), `round ${round}`).toContain('ok');
      }
      await vi.waitFor(
        async () => {
          await run(line);
          await signLost();
          await node.mine(2);
          const states = await Promise.all(
            transfers.map(
              async ({ id }) => (await ask<{ status: string }>('GET', `/v1/transfers/${id}`)).status,
            ),
          );
          expect(new Set(states)).toEqual(new Set(['success']));
        },
        { timeout: 180_000, interval: 500 },
      );
      for (const { address, amount } of transfers) {
        expect(await node.rpc<number>('getreceivedbyaddress', address)).toBeCloseTo(amount, 8);
      }
      expect(new Set(await servers.stop())).toEqual(new Set([0]));
      expect(await run('ledger check')).toContain('ok');
    } finally {
      await servers?.kill();
      await node.stop();
      await dispose();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
