/** `npm run bench -- flood`: how much slower live requests become while strangers flood the same server. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { availableParallelism, constants, cpus, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { startApiServer } from '../scripts/api-server.mjs';
import { openDatabase } from '../server/dist/db/open.js';
import { runCommand } from '../server/dist/commands/run.js';
import { createDatabase } from './create-database.mjs';
import { percentile } from './load.mjs';

const help = `Usage: npm run bench -- flood [options]        (after npm run build)

Verifies a live payment at a steady rate, in alternation (A B C D A B C D …): with nothing else going on; while another
merchant floods the sandbox with its secret test key, moving transfers, blocks, reorganizations and its clock; while somebody
without a key floods the API; and while a payer with a page's public key reads a payment with 2,000 small transfers as often as
the limits allow. The server has its default rate limits. Prints the medians of the 95th percentiles and their ratios to the
quiet server. Flooders and server share the machine; the flooders' thread has the lowest priority, since strangers have
machines of their own, but a part of the ratio is still its work.

  --database sqlite|postgres   one engine (default: both)
  --rounds N                   rounds (default 5, after one that is not counted)
  --seconds N                  seconds per measurement (default 3)
  --connections N              connections of a flood (default 20)
  --help                       show this help`;

const { values: options } = parseArgs({
  options: {
    database: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
  args: process.argv.slice(3),
});
const seconds = Number(options.seconds);
const connections = Number(options.connections);
/** Of the merchant who verifies: well below the limit of a live secret key. */
const verifiesPerSecond = 50;
/** Half of them are dust, and half are parts of the price. */
const smallTransfers = 2000;

if (!isMainThread) await runFlood(workerData);
else if (options.help) console.log(help);
else {
  const [cpu] = cpus();
  console.log(`Node ${process.version} · ${availableParallelism()} × ${cpu?.model ?? 'unknown'}\n`);
  for (const engine of options.database ? [options.database] : ['sqlite', 'postgres']) await main(engine);
}

/** @typedef {{ method: string, path: string, key?: string, body?: unknown }} Call */

/** @param {string} engine */
async function main(engine) {
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'flood-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const databaseUrl = await createDatabase(engine, directory, stops);
    const server = await startApiServer({ databaseUrl, blockIntervalMs: 1000, env: { RATE_LIMIT: 'on' } });
    stops.push(server.stop);
    const verify = await livePayment(databaseUrl, server);
    const sandbox = await sandboxCalls(server);
    const keyless = [
      { method: 'GET', path: '/v1/payments' },
      { method: 'POST', path: '/v1/payments/checkout', body: { amount: 1, baseCurrency: 'USD' } },
      { method: 'GET', path: '/v1/transactions/x/verify', key: `sk_live_${'x'.repeat(43)}` },
      { method: 'GET', path: '/docs' },
      { method: 'GET', path: '/readyz' },
    ];
    const parts = await paidInSmallParts(databaseUrl, server);
    const cases = [
      { name: 'quiet', calls: /** @type {Call[]} */ ([]), from: '' },
      { name: 'sandbox flood', calls: sandbox, from: '127.0.0.2' },
      { name: 'flood without a key', calls: keyless, from: '127.0.0.3' },
      { name: 'many small transfers', calls: parts, from: '127.0.0.4', waitsForLimits: true },
    ].map((one) => ({
      ...one,
      p95: /** @type {number[]} */ ([]),
      answers: /** @type {Map<number, number>} */ (new Map()),
    }));
    for (let round = -1; round < Number(options.rounds); round += 1) {
      for (const one of cases) {
        const stop = one.calls.length > 0 ? startFlood(server.url, one) : undefined;
        await delay(500);
        const p95 = await timeVerifies(server.url, verify);
        const answers = (await stop?.()) ?? new Map();
        if (round < 0) continue;
        one.p95.push(p95);
        for (const [status, count] of answers) {
          one.answers.set(status, (one.answers.get(status) ?? 0) + count);
        }
      }
    }
    const quiet = percentile(cases[0]?.p95 ?? [], 0.5);
    for (const { name, p95, answers } of cases) {
      const median = percentile(p95, 0.5);
      const ratio = (median / quiet).toFixed(1);
      const measuredSeconds = p95.length * (seconds + 0.5);
      const rates = [...answers].map(
        ([status, count]) => `${Math.round(count / measuredSeconds)} × ${status}`,
      );
      console.log(
        `${engine.padEnd(9)} ${name.padEnd(20)} p95 ${median.toFixed(1).padStart(6)} ms  ratio ${ratio}` +
          (rates.length > 0 ? `  (answers a second: ${rates.join(', ')})` : ''),
      );
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Creates a merchant with a live key and a live payment.
 * @param {string} databaseUrl
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @returns {Promise<Call>} the call that verifies the payment
 */
async function livePayment(databaseUrl, server) {
  /** @param {string[]} args */
  const command = async (...args) => {
    const { exitCode, stdout, stderr } = await runCommand([...args, '--json'], { DATABASE_URL: databaseUrl });
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  const { id: merchantId } = await command('merchants', 'create', '--name', 'Live Shop');
  const { key } = await command(
    ...['keys', 'create', '--merchant', merchantId, '--kind', 'secret', '--mode', 'live'],
  );
  // No real network is configured, so a live payment cannot be created through the API: a test payment becomes one.
  const created = await send(server.url, {
    method: 'POST',
    path: '/v1/payments/checkout',
    key: server.secretKey,
    body: { amount: 5000, baseCurrency: 'NGN' },
  });
  const { id } = JSON.parse(created.body).data.payment;
  const database = await openDatabase(databaseUrl, { mustExist: true });
  await database.write((transaction) =>
    transaction
      .updateTable('payments')
      .set({ merchant_id: merchantId, mode: 'live' })
      .where('id', '=', id)
      .execute(),
  );
  await database.close();
  return { method: 'GET', path: `/v1/transactions/${id}/verify`, key };
}

/**
 * What the other merchant does with its secret test key.
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @returns {Promise<Call[]>}
 */
async function sandboxCalls({ url, secretKey: key }) {
  /** @param {string} method @param {string} path @param {unknown} [body] */
  const call = async (method, path, body) =>
    JSON.parse((await send(url, { method, path, key, body })).body).data;
  const { payment } = await call('POST', '/v1/payments/checkout', { amount: 5000, baseCurrency: 'NGN' });
  await call('PATCH', `/v1/payments/${payment.id}/currency/set/USDT/tron`);
  const { addressInformation } = await call('PATCH', `/v1/payments/${payment.id}/currency/lock`);
  const network = 'tron';
  const { address } = addressInformation;
  return [
    { path: '/sandbox/transfers', body: { network, currency: 'USDT', address, amount: 0.01 } },
    { path: '/sandbox/blocks', body: { network, count: 100 } },
    { path: '/sandbox/reorgs', body: { network, depth: 100, keep: true } },
    { path: '/sandbox/clock', body: { advanceSeconds: 1 } },
  ].map((one) => ({ method: 'POST', key, ...one }));
}

/**
 * Pays a payment with thousands of small transfers, and waits until the server has counted them.
 * @param {string} databaseUrl
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @returns {Promise<Call[]>} what a page reads of it, with the public key
 */
async function paidInSmallParts(databaseUrl, { url, publicKey: key }) {
  /** @param {string} method @param {string} path @param {unknown} [body] */
  const call = async (method, path, body) => {
    const reply = await send(url, { method, path, key, body });
    if (reply.status !== 200) throw new Error(`${method} ${path}: HTTP ${reply.status} ${reply.body}`);
    return JSON.parse(reply.body).data;
  };
  const { payment } = await call('POST', '/v1/payments/checkout', { amount: 500_000, baseCurrency: 'NGN' });
  await call('PATCH', `/v1/payments/checkout/${payment.id}/currency/set/USDT/tron`);
  const locked = await call('PATCH', `/v1/payments/checkout/${payment.id}/currency/lock`);
  const { address } = locked.addressInformation;
  const database = await openDatabase(databaseUrl, { mustExist: true });
  await database.write(async (transaction) => {
    const { merchant_id } = await transaction
      .selectFrom('payments')
      .select('merchant_id')
      .where('id', '=', payment.id)
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: smallTransfers }, (_value, index) => ({
      tx_hash: randomBytes(32).toString('hex'),
      ...{ merchant_id, network: 'tron', currency: 'USDT', sender: 'T' },
      ...{ address, amount: index % 2 === 0 ? '1' : '20000' },
      ...{ sent_at: Date.now(), block_height: null },
    }));
    for (let start = 0; start < rows.length; start += 500) {
      await transaction
        .insertInto('simulated_transfers')
        .values(rows.slice(start, start + 500))
        .execute();
    }
  });
  await database.close();
  const verify = `/v1/transactions/${payment.id}/verify/checkout`;
  for (const deadline = Date.now() + 60_000; ; await delay(500)) {
    const { body } = await send(url, { method: 'GET', path: verify, key });
    // A thousand times 0.02 USDT, and a thousand times the smallest unit.
    if (JSON.parse(body).data.amountReceived === 20.001) break;
    if (Date.now() > deadline) throw new Error('The small transfers were not counted within a minute');
  }
  return [
    { method: 'GET', path: verify, key },
    { method: 'GET', path: `/v1/payments/checkout/${payment.id}`, key },
  ];
}

/** @typedef {{ calls: Call[], from: string, waitsForLimits?: boolean }} Flood `waitsForLimits`: stays below the limits */

/**
 * Floods the server from a thread of its own, so that the clock of the measurement does not wait for it.
 * @param {string} url
 * @param {Flood} flood
 * @returns {() => Promise<Map<number, number>>} stops it, and resolves to the number of answers by status
 */
function startFlood(url, { calls, from, waitsForLimits }) {
  const worker = new Worker(new URL(import.meta.url), {
    argv: process.argv.slice(2),
    workerData: { url, calls, from, waitsForLimits },
  });
  return () =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve).once('error', reject);
      worker.postMessage('stop');
    });
}

/**
 * In the thread: sends calls as fast as they are answered, until it is told to stop.
 * @param {Flood & { url: string }} flood
 */
async function runFlood({ url, calls, from, waitsForLimits }) {
  // On Linux, that of this thread only.
  setPriority(constants.priority.PRIORITY_LOW);
  const agent = new Agent({ keepAlive: true, maxSockets: connections, localAddress: from });
  /** @type {Map<number, number>} */
  const answers = new Map();
  let isOver = false;
  parentPort?.once('message', () => (isOver = true));
  await Promise.all(
    Array.from({ length: connections }, async (_value, index) => {
      for (let turn = index; !isOver; turn += 1) {
        const call = calls[turn % calls.length];
        if (!call) return;
        const { status } = await send(url, call, agent);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (waitsForLimits && status === 429) await delay(200);
      }
    }),
  );
  agent.destroy();
  parentPort?.postMessage(answers);
}

/**
 * Verifies at a steady rate, whether earlier answers have come or not.
 * @param {string} url
 * @param {Call} call
 * @returns {Promise<number>} the 95th percentile of the times, in milliseconds
 */
async function timeVerifies(url, call) {
  const agent = new Agent({ keepAlive: true });
  const startedAt = performance.now();
  const times = Array.from({ length: Math.round(seconds * verifiesPerSecond) }, async (_value, index) => {
    const dueAt = startedAt + (index * 1000) / verifiesPerSecond;
    await delay(Math.max(0, dueAt - performance.now()));
    const sentAt = performance.now();
    const { status, body } = await send(url, call, agent);
    if (status !== 200) throw new Error(`The live payment could not be verified: HTTP ${status} ${body}`);
    return performance.now() - sentAt;
  });
  const p95 = percentile(await Promise.all(times), 0.95);
  agent.destroy();
  return p95;
}

/**
 * @param {string} url
 * @param {Call} call
 * @param {Agent} [agent]
 * @returns {Promise<{ status: number, body: string }>}
 */
function send(url, { method, path, key, body }, agent) {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, url),
      {
        method,
        agent,
        headers: {
          ...(key !== undefined && { Authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
