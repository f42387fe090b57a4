/** `npm run bench -- flood`: how much slower others' requests become while strangers flood the same server. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { availableParallelism, constants, cpus, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { startApiServer } from '../scripts/api-server.mjs';
import { openDatabase } from '../server/dist/database.js';
import { runCommand } from '../server/dist/command-line/run.js';
import { createDatabase } from './create-database.mjs';
import { percentile } from './load.mjs';

const help = `Usage: npm run bench -- flood [options]        (after npm run build)

Two others use the server at a steady rate: a merchant verifies a live payment with its secret key, and a payer reads a payment with a
page's public key. In alternation (A B C D A B C D …) they do so with no other load; while another merchant floods the sandbox
with its secret test key, moving transfers, blocks, reorganizations and its clock; while somebody without a key floods the API; while a
payer reads a payment with 2,000 small transfers; and for each public surface while one address uses it as often as the limits allow,
and while fifty addresses do, each within its limits, 600 requests a second together where the limits let them.
The server has its default rate limits. Prints the medians of the 95th percentiles, their ratios to the quiet server, and for each
surface the server's processor time of a request without other load. Flooders and server share the machine; the flooders'
thread has a lower priority, since strangers have machines of their own, but a part of the ratio is still its work.

  --database sqlite|postgres   one engine (default: both)
  --only TEXT                  only cases with this in their name, and the quiet server
  --rounds N                   rounds (default 5, after one that is not counted)
  --seconds N                  seconds per measurement (default 3)
  --connections N              connections of a flood from one address (default 20)
  --help                       show this help`;

const { values: options } = parseArgs({
  options: {
    database: { type: 'string' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
  args: process.argv.slice(3),
});
const seconds = Number(options.seconds);
const connections = Number(options.connections);
/** The rate of each of the two others: well below the limits of a live secret key, and of one address with a public test key. */
const readsPerSecond = 25;
/** Half of them are dust, and half are parts of the price. */
const smallTransfers = 2000;
const manyAddresses = 50;
const manyPerSecond = 600;
/** An address with several connections waits until some of these are answered. */
const mostUnanswered = 20;
/** Number of measurements of a request's processor time. */
const processorBatches = 15;

if (!isMainThread) await runFlood(workerData);
else if (options.help) console.log(help);
else {
  const [cpu] = cpus();
  console.log(`Node ${process.version} · ${availableParallelism()} × ${cpu?.model ?? 'unknown'}\n`);
  for (const engine of options.database ? [options.database] : ['sqlite', 'postgres']) await main(engine);
}

/** @typedef {{ method: string, path: string, key?: string, body?: unknown, headers?: Record<string, string> }} Call */

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
    const payment = await lockedPayment(server);
    const read = { method: 'GET', path: `/v1/payments/checkout/${payment}`, key: server.publicKey };
    const surfaces = publicSurfaces(server, payment);
    const keyless = [
      { method: 'GET', path: '/v1/payments' },
      { method: 'POST', path: '/v1/payments/checkout', body: { amount: 1, baseCurrency: 'USD' } },
      { method: 'GET', path: '/v1/transactions/x/verify', key: `sk_live_${'x'.repeat(43)}` },
      { method: 'GET', path: '/docs' },
      { method: 'GET', path: '/readyz' },
    ];
    const parts = 'small'.includes(options.only) ? await paidInSmallParts(databaseUrl, server) : [];
    /** @type {(Flood & { name: string })[]} */
    const floods = [
      { name: 'sandbox flood', calls: await sandboxCalls(server), from: ['127.0.0.2'] },
      { name: 'flood without a key', calls: keyless, from: ['127.0.0.3'] },
      { name: 'small transfers', calls: parts, from: ['127.0.0.4'], waitsForLimits: true },
      ...surfaces.map(({ name, calls }) => ({
        name: `${name}, one address`,
        calls,
        from: ['127.0.0.5'],
        waitsForLimits: true,
      })),
      ...surfaces.map(({ name, calls, perMinute }) => ({
        name: `${name}, fifty`,
        calls,
        from: addresses(1, manyAddresses),
        perSecond: Math.min(manyPerSecond, (manyAddresses * perMinute) / 60),
      })),
    ].filter(({ name }) => name.includes(options.only));
    const cases = [{ name: 'quiet', calls: [], from: [] }, ...floods].map((one) => ({
      ...one,
      secret: /** @type {number[]} */ ([]),
      payer: /** @type {number[]} */ ([]),
      answers: /** @type {Map<number, number>} */ (new Map()),
    }));
    for (let round = -1; round < Number(options.rounds); round += 1) {
      for (const one of cases) {
        const stop = one.calls.length > 0 ? await startFlood(server.url, one) : undefined;
        await delay(500);
        const [secret, payer] = await Promise.all([
          timeReads(server.url, verify, '127.0.0.1'),
          timeReads(server.url, read, '127.0.0.9'),
        ]);
        const answers = (await stop?.()) ?? new Map();
        if (round < 0) continue;
        one.secret.push(secret);
        one.payer.push(payer);
        for (const [status, count] of answers) {
          one.answers.set(status, (one.answers.get(status) ?? 0) + count);
        }
      }
    }
    const [quiet] = cases;
    for (const { name, secret, payer, answers } of cases) {
      const measuredSeconds = secret.length * (seconds + 0.5);
      const rates = [...answers].map(
        ([status, count]) => `${Math.round(count / measuredSeconds)} × ${status}`,
      );
      console.log(
        `${engine.padEnd(9)} ${name.padEnd(32)} secret key ${ratioOf(secret, quiet?.secret)}   payer ${ratioOf(payer, quiet?.payer)}` +
          (rates.length > 0 ? `   (answers a second: ${rates.join(', ')})` : ''),
      );
    }
    const named = surfaces.filter(({ name }) => cases.some((one) => one.name.startsWith(name)));
    const times = await processorMs(
      server,
      named.flatMap(({ calls }) => calls),
    );
    for (const { name, calls } of named) {
      const each = times.splice(0, calls.length).map((ms) => ms.toFixed(2));
      console.log(`${engine.padEnd(9)} ${name.padEnd(32)} processor ${each.join(' / ')} ms a request`);
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {readonly number[]} times
 * @param {readonly number[]} [quiet]
 */
function ratioOf(times, quiet = []) {
  const median = percentile(times, 0.5);
  return `p95 ${median.toFixed(1).padStart(7)} ms  ×${(median / percentile(quiet, 0.5)).toFixed(1).padStart(5)}`;
}

/** @param {number} net @param {number} count @returns addresses of loopback */
function addresses(net, count) {
  return Array.from({ length: count }, (_value, index) => `127.0.${net}.${index + 1}`);
}

/**
 * The processor time that the server takes for a request of each of these calls without other load, in milliseconds,
 * from addresses that are all within their limits: the least of several batches, since other programs on the
 * machine only add to it.
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @param {Call[]} calls
 * @returns {Promise<number[]>}
 */
async function processorMs({ url, processor }, calls) {
  const batches = calls.map(() => /** @type {number[]} */ ([]));
  for (let batch = 0; batch < processorBatches; batch += 1) {
    const agents = addresses(2 + batch, 100).map(
      (localAddress) => new Agent({ keepAlive: true, localAddress }),
    );
    /** @param {Call} call */
    const sendAll = (call) => Promise.all(agents.map((agent) => send(url, call, agent)));
    await sendAll({ method: 'GET', path: '/healthz' });
    for (const [index, call] of calls.entries()) {
      const before = processor();
      await sendAll(call);
      batches[index]?.push((processor() - before) / agents.length);
    }
    for (const agent of agents) agent.destroy();
  }
  return batches.map((times) => Math.min(...times));
}

/**
 * The public requests, and each one's limit of an address in a minute.
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @param {string} payment
 * @returns {{ name: string, calls: Call[], perMinute: number }[]}
 */
function publicSurfaces({ publicKey: key }, payment) {
  const body = { amount: 5000, baseCurrency: 'NGN' };
  const token = 'x'.repeat(43);
  const own = { 'Sec-Fetch-Site': 'same-origin' };
  const often = (60 * manyPerSecond) / manyAddresses;
  /** @param {string} path */
  const get = (path) => ({ method: 'GET', path });
  return [
    // Number of requests of any kind.
    { name: 'floor', calls: [get('/healthz')], perMinute: often },
    { name: 'create', calls: [{ method: 'POST', path: '/v1/payments/checkout', key, body }], perMinute: 100 },
    {
      name: 'verify/checkout',
      calls: [{ ...get(`/v1/transactions/${payment}/verify/checkout`), key }],
      perMinute: often,
    },
    { name: 'hosted page', calls: [get(`/pay/${payment}`)], perMinute: often },
    { name: 'receipt', calls: [get(`/receipt/${payment}`)], perMinute: often },
    { name: 'demo shop', calls: [get('/'), get('/demo-api/config')], perMinute: often },
    {
      name: 'files',
      calls: [get('/crypto-checkout.js'), get('/docs'), get('/pay/page.css')],
      perMinute: often,
    },
    {
      name: 'claims',
      calls: [{ method: 'POST', path: '/v1/refund-claims/retrieve', body: { token } }],
      perMinute: 10,
    },
    {
      name: 'console sign-in',
      calls: [{ method: 'POST', path: '/console/api/sign-in', body: { token }, headers: own }],
      perMinute: 10,
    },
  ];
}

/**
 * @param {import('../scripts/api-server.mjs').ApiServer} server
 * @returns {Promise<string>} the id of a payment that waits for its money
 */
async function lockedPayment({ url, secretKey: key }) {
  const body = { amount: 5000, baseCurrency: 'NGN' };
  const created = await send(url, { method: 'POST', path: '/v1/payments/checkout', key, body });
  const { id } = JSON.parse(created.body).data.payment;
  await send(url, { method: 'PATCH', path: `/v1/payments/${id}/currency/set/USDT/tron`, key });
  await send(url, { method: 'PATCH', path: `/v1/payments/${id}/currency/lock`, key });
  return id;
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
  const database = await openDatabase(databaseUrl, { mustExist: 'at this release' });
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
 * The other merchant's calls with its secret test key.
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
 * @returns {Promise<Call[]>} a page's reads of it, with the public key
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
  const database = await openDatabase(databaseUrl, { mustExist: 'at this release' });
  await database.write(async (transaction) => {
    const { merchant_id } = await transaction
      .selectFrom('payments')
      .select('merchant_id')
      .where('id', '=', payment.id)
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: smallTransfers }, (_value, index) => ({
      tx_hash: randomBytes(32).toString('hex'),
      merchant_id,
      network: 'tron',
      currency: 'USDT',
      sender: 'T',
      address,
      amount: index % 2 === 0 ? '1' : '20000',
      sent_at: Date.now(),
      block_height: null,
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

/**
 * @typedef {object} Flood
 * @property {Call[]} calls
 * @property {string[]} from addresses of loopback
 * @property {boolean} [waitsForLimits] stays below the limits
 * @property {number} [perSecond] of all addresses together, whether earlier answers have come or not; as fast as they are answered if it is absent
 */

/**
 * Floods the server from a thread of its own, so that the clock of the measurement does not wait for it.
 * @param {string} url
 * @param {Flood} flood
 * @returns {Promise<() => Promise<Map<number, number>>>} resolves when it floods; stops it, and resolves to the number of answers by status
 */
async function startFlood(url, { calls, from, waitsForLimits, perSecond }) {
  const worker = new Worker(new URL(import.meta.url), {
    argv: process.argv.slice(2),
    workerData: { url, calls, from, waitsForLimits, perSecond },
  });
  await once(worker, 'message');
  return () =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve).once('error', reject);
      worker.postMessage('stop');
    });
}

/**
 * In the thread: sends calls until it is stopped.
 * @param {Flood & { url: string }} flood
 */
async function runFlood({ url, calls, from, waitsForLimits, perSecond }) {
  // On Linux, that of this thread only.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  /** @type {Map<number, number>} */
  const answers = new Map();
  let isOver = false;
  parentPort?.once('message', () => (isOver = true));
  parentPort?.postMessage('started');
  const agents = from.map(
    (localAddress) => new Agent({ keepAlive: true, localAddress, maxSockets: mostUnanswered }),
  );
  /** @param {Agent | undefined} agent @param {number} turn */
  const ask = async (agent, turn) => {
    const call = calls[turn % calls.length];
    if (!call) throw new Error('A flood has calls');
    // Requests that are pending when it is over are cut off.
    const { status } = await send(url, call, agent).catch(() => ({ status: 0 }));
    if (status !== 0) answers.set(status, (answers.get(status) ?? 0) + 1);
    if (waitsForLimits && status === 429) await delay(200);
  };
  if (perSecond === undefined) {
    const lines = Array.from({ length: connections }, async (_value, index) => {
      for (let turn = index; !isOver; turn += 1) await ask(agents[0], turn);
    });
    await Promise.all(lines);
  } else {
    const running = agents.map(() => 0);
    let turn = 0;
    for (let since = performance.now(); !isOver; await delay(5)) {
      const now = performance.now();
      // Late calls are not caught up.
      for (let due = Math.min(((now - since) * perSecond) / 1000, agents.length); due >= 1; due -= 1) {
        since += 1000 / perSecond;
        const place = turn % agents.length;
        turn += 1;
        if ((running[place] ?? 0) >= mostUnanswered) continue;
        running[place] = (running[place] ?? 0) + 1;
        void ask(agents[place], Math.floor(turn / agents.length)).then(() => {
          running[place] = (running[place] ?? 0) - 1;
        });
      }
      since = Math.max(since, now - 1000);
    }
  }
  for (const agent of agents) agent.destroy();
  parentPort?.postMessage(answers);
}

/**
 * Reads at a steady rate, whether earlier answers have come or not.
 * @param {string} url
 * @param {Call} call
 * @param {string} localAddress
 * @returns {Promise<number>} the 95th percentile of the times, in milliseconds
 */
async function timeReads(url, call, localAddress) {
  const agent = new Agent({ keepAlive: true, localAddress });
  const startedAt = performance.now();
  const times = Array.from({ length: Math.round(seconds * readsPerSecond) }, async (_value, index) => {
    const dueAt = startedAt + (index * 1000) / readsPerSecond;
    await delay(Math.max(0, dueAt - performance.now()));
    const sentAt = performance.now();
    const { status, body } = await send(url, call, agent);
    if (status !== 200) throw new Error(`${call.path} could not be read: HTTP ${status} ${body}`);
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
function send(url, { method, path, key, body, headers }, agent) {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, url),
      {
        method,
        agent,
        headers: {
          ...headers,
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
