/** Kills the built server while a real node makes blocks with payments. Each transaction must be credited, and once. */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startAnvil } from '../support/anvil.js';
import { enginesOfSoak } from '../support/engines.js';
import { startProcess, type ServerProcess } from '../support/process.js';
import { roundsOf, startRound } from '../support/rounds.js';
import {
  countPaid,
  expectAllPaid,
  expectBooksInOrder,
  order,
  sendOnAnvil,
  setUp,
  type Order,
} from './orders-on-anvil.js';

/** Per engine. */
const rounds = roundsOf({ usual: 1, soak: 10 });
const streams = 3;
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;

describe.concurrent.each(enginesOfSoak)(
  'a server that is killed while it reads a real node, on $name',
  (engine) => {
    it(
      `a server that is killed misses no transaction and counts none twice, over ${rounds} rounds`,
      { timeout: 120_000 + rounds * 30_000 },
      async () => {
        const { url: databaseUrl, dispose } = await engine.create();
        const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
        const anvil = await startAnvil();
        const orders: Order[] = [];
        let server: ServerProcess | undefined;
        try {
          const token = await anvil.deploy('PlainToken', [18]);
          const file = join(directory, 'networks.json');
          const network = { nodes: [anvil.url], assets: { USDT: { contract: token, decimals: 18 } } };
          await writeFile(file, JSON.stringify({ networks: { 'evm-dev': network } }));
          const env = {
            DATABASE_URL: databaseUrl,
            NETWORKS_FILE: file,
            BOOTSTRAP_SECRET_KEY: secretKey,
            BLOCK_INTERVAL_MS: '0',
            // A machine with other work does not read the chain between two kills.
            READY_CHAIN_LAG_SECONDS: '86400',
          };
          await (await startProcess(env)).stop();
          await setUp(databaseUrl);
          for (let round = 0; round < rounds; round += 1) {
            startRound(`payments on anvil, on ${engine.name}`, round, rounds);
            server = await startProcess(env);
            const { url } = server;
            const stopped = new AbortController();
            const running = Array.from({ length: streams }, () =>
              order(url, secretKey, anvil, token, orders, stopped.signal),
            );
            const paidBefore = countPaid(orders);
            const deadline = Date.now() + 15_000;
            while (countPaid(orders) === paidBefore && Date.now() < deadline) await delay(5);
            // Now and then it lives long enough to read everything.
            await delay(rounds > 2 && randomInt(4) === 0 ? 6000 : randomInt(10, 900));
            await server.kill();
            stopped.abort();
            await Promise.all(running);
            // Payers do not wait for the server.
            for (const one of orders.filter(({ sent }) => sent.length === 0)) {
              if (randomInt(2) === 0) await sendOnAnvil(anvil, token, one, one.due);
            }
            await anvil.mine(randomInt(4) === 0 ? 70 : randomInt(1, 5));
          }
          server = await startProcess(env);
          await anvil.mine(3);
          await expectAllPaid(server.url, secretKey, orders);
          expect(await server.stop()).toBe(0);
          await expectBooksInOrder(databaseUrl, orders);
          expect(countPaid(orders)).toBeGreaterThanOrEqual(rounds);
        } finally {
          await server?.kill();
          await anvil.stop();
          await dispose();
          await rm(directory, { recursive: true, force: true });
        }
      },
    );
  },
);
