/** `npm run bench -- scan`: the time per block with few and with many open addresses, and the speed of catching up. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import pino from 'pino';
import { startApiServer } from '../scripts/api-server.mjs';
import { createDatabase } from './create-database.mjs';
import { percentile } from './load.mjs';
import { measureWebhooks } from './seen-to-webhook.mjs';
import { addressFormat } from '../server/dist/core/addresses/formats.js';
import { createWatchedAddresses } from '../server/dist/core/addresses/watched-addresses.js';
import { createEvmChain } from '../server/dist/modules/networks/evm/evm-chain.js';
import { createReconciliation } from '../server/dist/modules/reconciliation/reconciliation.js';
import { createScanner } from '../server/dist/core/scanning/scanner.js';
import { openDatabase } from '../server/dist/database.js';
import { newId } from '../server/dist/core/shared/ids.js';

const help = `Usage: npm run bench -- scan [options]        (after npm run build)

Scans blocks of 300 transactions of a node on this machine, one after the other, with 10, 1,000 and 100,000 open addresses
in the database, alternating between them (A B C A B C …), and compares their balances with the books at each block. Then the requests
that comparing 100,000 old addresses takes in an hour of the round. Then catches up 200 blocks, five times, and compares that with reading
the same blocks from the node and doing nothing with them. At last, payments on anvil to a server: the time from the block that the node reported to the webhook that says they are paid.

  --database sqlite|postgres   one engine (default: both)
  --blocks N                   blocks per size (default 100, after 10 that are not counted)
  --help                       show this help`;

const sizes = [10, 1000, 100_000];
const format = addressFormat('live', 'evm');
const aims = { ratio: 1.3, catchUp: 0.7, requests: 2 };
const token = `0x${'70'.repeat(20)}`;
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const caughtUpBlocks = 200;
const catchUpRounds = 5;
const optionTypes = /** @type {const} */ ({
  database: { type: 'string' },
  blocks: { type: 'string', default: '100' },
  help: { type: 'boolean', default: false },
});
const { values: options } = parseArgs({ options: optionTypes, args: process.argv.slice(3) });
if (options.help) console.log(help);
else await main();

async function main() {
  const engines = options.database === undefined ? ['sqlite', 'postgres'] : [options.database];
  for (const engine of engines) await measureEngine(engine);
}

/** @param {string} engine */
async function measureEngine(engine) {
  // In the project, because the system's temporary directory may be in memory.
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'scan-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const node = await startNode(stops);
    const runs = [];
    for (const size of sizes) runs.push(await prepare(engine, size, directory, node.url, stops));
    const blocks = Number(options.blocks);
    /** @type {number[][]} */
    const times = sizes.map(() => []);
    for (let height = 2; height < blocks + 12; height += 1) {
      await node.advance(height);
      for (const [index, run] of runs.entries()) {
        const startedAt = performance.now();
        await run.scan();
        await run.reconcile();
        if (height >= 12) times[index]?.push(performance.now() - startedAt);
      }
    }
    const medians = times.map((list) => percentile(list, 0.5));
    const ratio = (medians.at(-1) ?? 0) / (medians[0] ?? 1);
    for (const [index, size] of sizes.entries()) {
      console.log(`${engine}: ${(medians[index] ?? 0).toFixed(1)} ms per block with ${size} addresses`);
    }
    console.log(`${engine}: ratio ${ratio.toFixed(2)} (aim: at most ${aims.ratio})`);
    await measureRound(engine, node, runs.at(-1));
    await measureCatchUp(engine, node, runs);
    await measureWebhooks(engine, directory, stops);
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {string} engine
 * @param {Awaited<ReturnType<typeof startNode>>} node
 * @param {Awaited<ReturnType<typeof prepare>>[]} runs
 */
async function measureCatchUp(engine, node, runs) {
  const [measured, ...others] = runs;
  if (!measured) return;
  /** @type {{ bare: number[], scanned: number[] }} */
  const times = { bare: [], scanned: [] };
  for (let round = 0; round < catchUpRounds; round += 1) {
    const from = node.height() + 1;
    for (let height = from; height < from + caughtUpBlocks; height += 1) await node.advance(height);
    // The first request makes the node prepare its answers.
    for (const other of others) await other.scan();
    await readBare(node.url, from);
    times.bare.push(await readBare(node.url, from));
    const startedAt = performance.now();
    await measured.scan();
    times.scanned.push(performance.now() - startedAt);
  }
  const [bare, scanned] = [percentile(times.bare, 0.5), percentile(times.scanned, 0.5)];
  const perSecond = (/** @type {number} */ time) => Math.round((caughtUpBlocks * 1000) / time);
  console.log(
    `${engine}: catches up ${perSecond(scanned)} blocks/s, ${(bare / scanned).toFixed(2)} of the ${perSecond(bare)} blocks/s of bare calls (aim: at least ${aims.catchUp})`,
  );
  await node.advance(node.height() + 1);
  const before = measured.requests();
  await measured.readNewest();
  console.log(
    `${engine}: ${measured.requests() - before} requests for a new block, with that for the head (aim: at most ${aims.requests})`,
  );
}

/**
 * An hour of the round through all addresses, with a block every 12 seconds.
 * @param {string} engine
 * @param {Awaited<ReturnType<typeof startNode>>} node
 * @param {Awaited<ReturnType<typeof prepare>> | undefined} run
 */
async function measureRound(engine, node, run) {
  if (!run) return;
  await run.closePayments();
  const before = run.requests();
  let scanning = 0;
  for (let block = 0; block < 300; block += 1) {
    await node.advance(node.height() + 1);
    const start = run.requests();
    await run.scan();
    scanning += run.requests() - start;
    run.pass(12_000);
    await run.reconcile();
  }
  const compared = run.requests() - before - scanning;
  console.log(
    `${engine}: ${compared} requests an hour compare ${sizes.at(-1)} old addresses, in addition to ${scanning} of the scan; ${await run.position()} were compared so far`,
  );
}

/**
 * Reads blocks and logs, and discards them. Returns the time in milliseconds. @param {string} url @param {number} from
 */
async function readBare(url, from) {
  const startedAt = performance.now();
  for (let height = from; height < from + caughtUpBlocks; height += 1) {
    const block = await call(url, 'eth_getBlockByNumber', [`0x${height.toString(16)}`, true]);
    await call(url, 'eth_getLogs', [{ blockHash: block.hash, address: [token], topics: [transferTopic] }]);
  }
  return performance.now() - startedAt;
}

/** @param {string} url @param {string} method @param {unknown[]} params */
async function call(url, method, params) {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()).result;
}

/** @param {(() => Promise<void>)[]} stops */
async function startNode(stops) {
  const worker = new Worker(new URL('scan-node.mjs', import.meta.url));
  stops.push(async () => void (await worker.terminate()));
  const [{ port }] = await once(worker, 'message');
  let head = 1;
  return {
    url: `http://127.0.0.1:${port}`,
    height: () => head,
    /** @param {number} height */
    async advance(height) {
      head = height;
      worker.postMessage({ head });
      await once(worker, 'message');
    },
  };
}

/**
 * @param {string} engine
 * @param {number} size
 * @param {string} directory
 * @param {string} url
 * @param {(() => Promise<void>)[]} stops
 */
async function prepare(engine, size, directory, url, stops) {
  const databaseUrl = await createDatabase(engine, directory, stops);
  // It creates the tables and a merchant.
  const server = await startApiServer({ databaseUrl });
  await server.stop();
  const database = await openDatabase(databaseUrl);
  stops.push(() => database.close());
  await fill(database, size);
  // As a server does at its start. Autovacuum comes by only once a minute.
  await database.gatherStatistics();
  const watchedAddresses = createWatchedAddresses(database);
  const chain = createEvmChain(
    {
      mode: 'test',
      network: 'bench',
      chainId: 1,
      nodes: [url],
      assets: [
        { currency: 'ETH', decimals: 18 },
        { currency: 'USDT', decimals: 6, contract: token },
      ],
    },
    { watched: (addresses) => watchedAddresses.find('test', addresses) },
  );
  /** @type {any} */
  const sink = { apply: async () => /** @type {const} */ ('complete'), hasDue: async () => false };
  const scanner = createScanner({
    networks: [{ chain, confirmations: 12, intervalMs: 1000 }],
    database,
    clock: /** @type {any} */ ({ now: Date.now, real: Date.now }),
    sink,
    newId,
    log: pino({ level: 'silent' }),
  });
  stops.push(() => scanner.stop());
  const { signal } = new AbortController();
  let passed = 0;
  const reconciliation = createReconciliation({
    database,
    sink,
    log: pino({ level: 'silent' }),
    hooks: { onTrouble: () => Promise.resolve() },
    now: () => Date.now() + passed,
    connected: /** @type {any} */ ([
      {
        network: { mode: 'test', code: 'bench', family: 'evm', confirmations: 12, assets: {} },
        chainAssets: {
          ETH: { currency: 'ETH', decimals: 18 },
          USDT: { currency: 'USDT', decimals: 6, contract: token },
        },
        unreadable: () => new Set(),
        chain,
        balances: chain.balances,
      },
    ]),
  });
  return {
    reconcile: () => reconciliation.advance(signal),
    /** Advances the round's clock. @param {number} ms */
    pass(ms) {
      passed += ms;
    },
    async closePayments() {
      await database.write((transaction) =>
        transaction.updateTable('payments').set({ state: 'expired' }).execute(),
      );
    },
    position: async () => (await reconciliation.status()).rounds[0]?.position ?? 0,
    scan: () => scanner.scanNow({ mode: 'test', network: 'bench' }),
    requests: () => chain.status().nodes[0]?.requests ?? 0,
    async readNewest() {
      const { height } = await chain.head(signal);
      await chain.block(height, signal);
    },
  };
}

/** @param {number} index */
function addressOf(index) {
  const hex = createHash('sha256').update(`address ${index}`).digest('hex').slice(0, 40);
  return format.read(`0x${hex}`) ?? '';
}

/** A payment that waits for money. @param {string} id @param {string} merchantId @param {string} address */
function openPayment(id, merchantId, address) {
  return {
    id,
    merchant_id: merchantId,
    mode: /** @type {const} */ ('test'),
    address,
    address_id: id,
    state: /** @type {const} */ ('awaiting_funds'),
    created_by: /** @type {const} */ ('secret'),
    tx_ref: id,
    payer: '{}',
    payer_index: null,
    redirect_url: '',
    is_redirect_trusted: /** @type {const} */ (0),
    metadata: null,
    base_currency: 'USD',
    base_amount: '1000',
    fee_basis_points: 0,
    accepted_currencies: null,
    currency: 'ETH',
    network: 'bench',
    amount: '1000000000000000',
    fee: '0',
    quote: null,
    locked_at: 0,
    expires_at: 4e12,
    cancelled_at: null,
    settled_at: null,
    wallet_id: null,
    findings: 0,
    public_changes: 0,
    public_changes_since: null,
    parts_version: 0,
    created_at: 0,
    updated_at: 0,
  };
}

/** @param {import('../server/dist/core/db/database.js').Database} database @param {number} size */
async function fill(database, size) {
  const { id: merchantId } = await database.reader
    .selectFrom('merchants')
    .select('id')
    .executeTakeFirstOrThrow();
  await database.write(async (transaction) => {
    for (let start = 0; start < size; start += 500) {
      const rows = Array.from({ length: Math.min(500, size - start) }, (_, index) => ({
        id: newId(),
        mode: /** @type {const} */ ('test'),
        payment_id: null,
        wallet_id: null,
        currency: 'ETH',
        network: 'bench',
        address: addressOf(start + index),
        source_id: 'source',
        derivation_index: start + index,
        created_at: 0,
      }));
      const payments = rows.map(({ id, address }) => openPayment(id, merchantId, address));
      await transaction.insertInto('payments').values(payments).execute();
      await transaction
        .insertInto('addresses')
        .values(rows.map((row) => ({ ...row, payment_id: row.id })))
        .execute();
    }
  });
}
