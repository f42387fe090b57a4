/**
 * Freezes the leading one of two servers for 40 s while payers continue: the other one takes over, and nothing is done
 * twice.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { startAnvil } from '../support/anvil.js';
import { engines } from '../support/engines.js';
import { startProcess, type ServerProcess } from '../support/process.js';
import { roundsOf, startRound } from '../support/rounds.js';
import { countPaid, expectAllPaid, expectBooksInOrder, order, setUp, type Order } from './orders-on-anvil.js';

const rounds = roundsOf({ usual: 1, soak: 1 });
const frozenMs = 40_000;
/** PostgreSQL ends a transaction that its client left open after 30 s. */
const longestGapMs = 35_000;
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');
if (!postgres) throw new Error('Only PostgreSQL serves two servers: this soak needs one');

it(
  `Two servers of which the leading one freezes for 40 s do nothing twice, and scanning continues within 35 s, over ${rounds} rounds`,
  { timeout: 240_000 + rounds * 120_000 },
  async () => {
    const { url: databaseUrl, dispose } = await postgres.create();
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    const anvil = await startAnvil();
    const database = await openDatabase(databaseUrl);
    const orders: Order[] = [];
    const servers: ServerProcess[] = [];
    const stopped = new AbortController();
    const cursor = () =>
      database.reader
        .selectFrom('chain_cursors')
        .select(['lease_holder as holder', 'height'])
        .where('network', '=', 'evm-dev')
        .executeTakeFirstOrThrow();
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
        READY_CHAIN_LAG_SECONDS: '86400',
      };
      await (await startProcess(env)).stop();
      await setUp(databaseUrl);
      servers.push(await startProcess(env), await startProcess(env));
      const paying = servers.map(({ url }) => order(url, secretKey, anvil, token, orders, stopped.signal));
      const gaps: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        startRound('the leading server freezes', round, rounds);
        await delay(3000);
        gaps.push(await freezeLeader(servers, cursor, () => anvil.rpc<string>('eth_blockNumber', [])));
        expect(countPaid(orders)).toBeGreaterThan(round);
      }
      await delay(3000);
      stopped.abort();
      await Promise.all(paying);
      await anvil.mine(3);
      for (const { url } of servers) await expectAllPaid(url, secretKey, orders);
      for (const server of servers) expect(await server.stop()).toBe(0);
      await expectBooksInOrder(databaseUrl, orders);
      console.log(
        `${orders.length} orders, ${countPaid(orders)} paid; seconds until a block was scanned again: ${gaps
          .map((ms) => (ms / 1000).toFixed(1))
          .join(', ')}`,
      );
      expect(Math.max(...gaps)).toBeLessThan(longestGapMs);
    } finally {
      stopped.abort();
      for (const server of servers) {
        server.thaw();
        await server.kill();
      }
      await anvil.stop();
      await database.close();
      await dispose();
      await rm(directory, { recursive: true, force: true });
    }
  },
);

/**
 * Finds the leading server by its silence: the other one takes the lease.
 * @returns milliseconds from the freeze until a block was scanned that was mined during it
 */
async function freezeLeader(
  servers: readonly ServerProcess[],
  cursor: () => Promise<{ holder: string | null; height: number }>,
  headOf: () => Promise<string>,
): Promise<number> {
  const before = await cursor();
  for (const server of servers) {
    const frozenAt = performance.now();
    const frozenFor = () => performance.now() - frozenAt;
    server.freeze();
    const head = Number(await headOf());
    let gapMs: number | undefined;
    let isLeader = false;
    while (frozenFor() < frozenMs) {
      const { holder, height } = await cursor();
      isLeader ||= holder !== before.holder;
      if (isLeader && height > head) gapMs ??= frozenFor();
      await delay(100);
    }
    server.thaw();
    if (isLeader) return gapMs ?? Infinity;
  }
  throw new Error('Neither of the servers led');
}
