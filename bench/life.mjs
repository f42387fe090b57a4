/**
 * `npm run bench -- life`: what a whole payment costs, among few and among many. A life is create, set, lock, a transfer that
 * is seen, confirmed and settled, and the webhook that was delivered.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as dial, createServer as createProxy } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startApiServer } from '../scripts/api-server.mjs';
import { createDatabase } from './create-database.mjs';
import { connect, copyOf, makeCheckpoints } from './fill-lists.mjs';
import { measureFloor } from './life-floor.mjs';
import { profiling, readProfiles, watchSessions } from './life-profile.mjs';
import {
  countOnPostgres,
  countOnSqlite,
  countingFlags,
  countingSettings,
  countsFile,
  tableOfStatements,
} from './life-statements.mjs';
import { percentile } from './load.mjs';

const help = `Usage: npm run bench -- life [options]        (after npm run build)

Measures a whole payment on the built server: create, set, lock, the transfer seen, confirmed and settled, the webhook delivered.
First the processor time of a life, of the server and of PostgreSQL, less what they take when idle, with so many payments in
the database before. Then, at a rate of payments, what payers wait for each request (p50 and p99), and the time from a commit
to its webhook (p95). Last, the longest waits of others while blocks confirm many payments at once: of a request that needs no
database, so that it shows how long the process stops, and of a new payment. The transfers and blocks are simulated: their
requests and statements are part of a life.

  --database sqlite|postgres   one engine (default: both)
  --payments N,N               payments before (default 0,100000,1000000)
  --lives N                    lives in a round (default 100), of which there are --rounds
  --rounds N                   rounds, of which the median counts (default 5)
  --warm N                     lives before, while V8 still compiles what runs often (default 2000): their cost is shown apart
  --rates N,N                  payments a second (default 25,50,100; 0 leaves this part out)
  --seconds N                  at each rate (default 20)
  --blocks N,N                 payments that the same blocks confirm (default 30,300; 0 leaves this part out)
  --servers N                  servers on the same database, which take requests in turn (default 1; more on PostgreSQL only);
                               so many times as many lives run at once, and all servers' processor time is counted
  --database-delay MS          added to each round trip between servers and PostgreSQL (default 0)
  --profile                    also print which parts of the server take its time, and what PostgreSQL's sessions wait for; this
                               costs time itself
  --statements                 also print the statements of a life: how often each runs, its time and its plan; this costs time
                               itself, and on PostgreSQL it needs the extension pg_stat_statements
  --floor                      also measure a floor: bare Express that runs the recorded statements of 1,000 lives again on a copy of the
                               database, and sends as many webhooks. One server only
  --json FILE                  also write all measurements as JSON
  --help                       show this help`;

const run = promisify(execFile);
const cli = fileURLToPath(new URL('../server/dist/cli.js', import.meta.url));
/** Lives at the same time for each server. Each of these groups ends with the blocks that confirm it. */
const togetherPerServer = 20;
const confirmations = 3;

const optionTypes = /** @type {const} */ ({
  database: { type: 'string' },
  payments: { type: 'string', default: '0,100000,1000000' },
  lives: { type: 'string', default: '100' },
  rounds: { type: 'string', default: '5' },
  warm: { type: 'string', default: '2000' },
  rates: { type: 'string', default: '25,50,100' },
  seconds: { type: 'string', default: '20' },
  blocks: { type: 'string', default: '30,300' },
  servers: { type: 'string', default: '1' },
  'database-delay': { type: 'string', default: '0' },
  profile: { type: 'boolean', default: false },
  statements: { type: 'boolean', default: false },
  floor: { type: 'boolean', default: false },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
});
const { values: options } = parseArgs({ options: optionTypes, args: process.argv.slice(3) });
if (options.help) console.log(help);
else await main();

async function main() {
  const engines = options.database === undefined ? ['sqlite', 'postgres'] : [options.database];
  if (engines.includes('sqlite') && (options.servers !== '1' || options['database-delay'] !== '0'))
    throw new Error('--servers and --database-delay need --database postgres');
  if (options.floor && (options.servers !== '1' || options['database-delay'] !== '0'))
    throw new Error('--floor measures one server, without a delay');
  /** @type {Awaited<ReturnType<typeof measureSize>>[]} */
  const results = [];
  for (const engine of engines) {
    for (const before of numbers('payments')) results.push(await measureSize(engine, before));
  }
  const first = (/** @type {string} */ engine) =>
    results.find((one) => one.engine === engine)?.serverMs ?? NaN;
  console.table(
    Object.fromEntries(
      results.map(({ engine, before, readyMs, coldMs, serverMs, databaseMs, idleMs, eachMs, floor }) => [
        `${engine} ${before}`,
        {
          'start to /readyz ms': readyMs.toFixed(0),
          'just started ms': coldMs?.toFixed(1),
          'server ms': serverMs.toFixed(1),
          'database ms': databaseMs.toFixed(1),
          'to the first': (serverMs / first(engine)).toFixed(2),
          'idle ms/s': idleMs.toFixed(0),
          ...(floor && {
            'floor ms': floor.floorMs.toFixed(1),
            'database ms of the floor': floor.databaseMs.toFixed(1),
            'floor to server': (floor.floorMs / serverMs).toFixed(2),
          }),
          ...(eachMs.length > 1 && { 'of each server': eachMs.map((ms) => ms.toFixed(1)).join(' + ') }),
        },
      ]),
    ),
  );
  const atRates = results.flatMap(({ engine, before, rates }) => {
    return rates.map(({ rate, requests, webhooks, reached, busy }) => [
      `${engine} ${before} at ${rate}/s`,
      {
        reached: reached.toFixed(1),
        'p50 ms': percentile(requests, 0.5).toFixed(1),
        'p99 ms': percentile(requests, 0.99).toFixed(1),
        'webhook p95 ms': percentile(webhooks, 0.95).toFixed(0),
        'of a core': busy.toFixed(2),
      },
    ]);
  });
  if (atRates.length > 0) console.table(Object.fromEntries(atRates));
  const atBlocks = results.flatMap(({ engine, before, blocks }) => {
    return blocks.map(({ count, stops, creates, took }) => [
      `${engine} ${before}, ${count} confirmed`,
      {
        'longest stop ms': percentile(stops, 1).toFixed(0),
        'create p50 ms': percentile(creates, 0.5).toFixed(1),
        'longest ms': percentile(creates, 1).toFixed(0),
        'all confirmed ms': took.toFixed(0),
      },
    ]);
  });
  if (atBlocks.length > 0) console.table(Object.fromEntries(atBlocks));
  for (const { engine, before, serverMs, profile, statements, sessions } of results) {
    if (statements) {
      console.log(`Statements of a life, ${engine} ${before}:`);
      console.table(statements);
    }
    if (profile) {
      console.log(`Parts of the server, ${engine} ${before}:`);
      console.table(
        Object.fromEntries(
          profile.map(([part, share]) => [
            part,
            { share: share.toFixed(3), 'ms a payment': (share * serverMs).toFixed(2) },
          ]),
        ),
      );
    }
    if (!sessions) continue;
    console.log(
      `Sessions of PostgreSQL at the same time, ${before} payments, by what they wait for and by statement:`,
    );
    for (const means of [sessions.waits, sessions.statements])
      console.table(Object.fromEntries(means.map(([name, mean]) => [name, { sessions: mean.toFixed(2) }])));
  }
  if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
}

/** @param {string} engine @param {number} before */
async function measureSize(engine, before) {
  // In the project, because the system's temporary directory may be in memory, where nothing is durable.
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'bench-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const isCounting = options.statements;
    const direct = await createDatabase(engine, directory, stops, isCounting ? countingSettings : []);
    const [roundTripMs = 0] = numbers('database-delay');
    const databaseUrl = roundTripMs > 0 ? await slower(direct, roundTripMs, stops) : direct;
    const hooks = await startReceiver(stops);
    const nodeFlags = [
      ...(options.profile ? profiling(directory) : []),
      ...(isCounting && engine === 'sqlite' ? countingFlags : []),
    ];
    const env = { COUNTED_STATEMENTS: countsFile(directory) };
    const server = await startApiServer({ databaseUrl, nodeFlags, env });
    stops.push(server.stop);
    const servers = [server];
    const processor = () => servers.reduce((sum, one) => sum + one.processor(), 0);
    const command = { env: { ...process.env, DATABASE_URL: direct } };
    const { stdout } = await run(process.execPath, [cli, 'merchants', 'list', '--json'], command);
    const [{ id }] = JSON.parse(stdout);
    await run(process.execPath, [cli, 'merchants', 'update', id, '--webhook-url', hooks.url], command);
    const shop = openShop(servers, hooks);
    const [wanted = 1] = numbers('servers');
    const together = togetherPerServer * wanted;
    await shop.live(together);
    if (before > 0) {
      const [template = ''] = await shop.live(1);
      await server.restart(() => fill(direct, before, template));
    }
    process.stderr.write(`${engine}: ${before} payments are there\n`);
    while (servers.length < wanted) {
      const keys = { BOOTSTRAP_PUBLIC_KEY: server.publicKey, BOOTSTRAP_SECRET_KEY: server.secretKey };
      const next = await startApiServer({ databaseUrl, env: keys, nodeFlags });
      stops.push(next.stop);
      servers.push(next);
    }
    await shop.live(together);
    const spent = () => ({ server: processor(), database: engine === 'postgres' ? postgresMs() : 0 });
    const idleFrom = spent();
    await delay(3000);
    const idleTo = spent();
    const idle = {
      server: (idleTo.server - idleFrom.server) / 3000,
      database: (idleTo.database - idleFrom.database) / 3000,
    };
    /** @param {string} wanted */
    const costOf = async (wanted) => {
      const lives = Math.ceil(Number(wanted) / together) * together;
      const [from, started] = [spent(), performance.now()];
      for (let count = 0; count < lives; count += together) await shop.live(together);
      const [to, ms] = [spent(), performance.now() - started];
      return {
        server: (to.server - from.server - idle.server * ms) / lives,
        database: (to.database - from.database - idle.database * ms) / lives,
      };
    };
    const cold = Number(options.warm) > 0 ? await costOf(options.warm) : undefined;
    /** @type {{ server: number, database: number }[]} */
    const rounds = [];
    const watched = options.profile && engine === 'postgres' ? await watchSessions(direct) : undefined;
    const counted = isCounting
      ? await (engine === 'postgres' ? countOnPostgres(direct) : countOnSqlite(server, directory))
      : undefined;
    const eachFrom = servers.map((one) => one.processor());
    for (let round = 0; round < Number(options.rounds); round += 1) rounds.push(await costOf(options.lives));
    const sessions = await watched?.();
    const statements = await counted?.();
    const lives = Number(options.rounds) * Math.ceil(Number(options.lives) / together) * together;
    // The idle time of each is in it. The server that has a network's lease takes more than the others.
    const eachMs = servers.map((one, index) => (one.processor() - (eachFrom[index] ?? 0)) / lives);
    const rates = [];
    for (const rate of numbers('rates').filter((one) => one > 0)) {
      rates.push(await measureRate(shop, processor, hooks, rate));
    }
    const blocks = [];
    for (const count of numbers('blocks').filter((one) => one > 0)) {
      blocks.push(await measureBlocks(shop, server, hooks, count));
    }
    const floor = options.floor
      ? await measureFloor({
          databaseUrl: direct,
          directory,
          webhookUrl: hooks.url,
          server,
          async live(recorded, count) {
            const shop = openShop([recorded], hooks);
            for (let done = 0; done < count; done += together) await shop.live(together);
            // Those of each payer, and a block for each confirmation of those who pay together.
            return 5 * count + (confirmations * count) / together;
          },
          databaseMs: engine === 'postgres' ? postgresMs : () => 0,
          idleShare: idle.database,
          stops,
        })
      : undefined;
    // Each writes its profile when it ends.
    if (options.profile) await Promise.all(servers.map((one) => one.stop()));
    return {
      engine,
      before,
      readyMs: server.readyMs(),
      rates,
      blocks,
      floor,
      coldMs: cold?.server,
      serverMs: percentile(
        rounds.map((one) => one.server),
        0.5,
      ),
      databaseMs: percentile(
        rounds.map((one) => one.database),
        0.5,
      ),
      idleMs: idle.server * 1000,
      eachMs,
      profile: options.profile ? readProfiles(directory) : undefined,
      statements: statements && tableOfStatements(statements, lives),
      sessions,
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Payers come at their times, whether the server keeps up or not. @param {ReturnType<typeof openShop>} shop
 * @param {() => number} processor of all servers, in milliseconds
 * @param {Awaited<ReturnType<typeof startReceiver>>} hooks @param {number} rate
 */
async function measureRate(shop, processor, hooks, rate) {
  const seconds = Number(options.seconds);
  /** @type {number[]} */
  const requests = [];
  let isOver = false;
  const mining = (async () => {
    while (!isOver) {
      await shop.mine();
      await delay(1000);
    }
  })();
  hooks.lags.length = 0;
  const [busyFrom, started] = [processor(), performance.now()];
  /** @type {Promise<string>[]} */
  const payers = [];
  for (let next = 0; next < rate * seconds; next += 1) {
    await delay(Math.max(0, started + (next * 1000) / rate - performance.now()));
    payers.push(shop.pay((ms) => requests.push(ms)));
  }
  const ids = await Promise.all(payers);
  const ms = performance.now() - started;
  const busy = (processor() - busyFrom) / ms;
  isOver = true;
  await mining;
  for (let count = 0; count < confirmations; count += 1) await shop.mine();
  await hooks.until(ids);
  return { rate, requests, webhooks: [...hooks.lags], reached: (ids.length * 1000) / ms, busy };
}

/**
 * The waits of others while blocks confirm many payments. @param {ReturnType<typeof openShop>} shop
 * @param {import('../scripts/api-server.mjs').ApiServer} server @param {Awaited<ReturnType<typeof startReceiver>>} hooks
 * @param {number} count
 */
async function measureBlocks(shop, server, hooks, count) {
  /** @type {string[]} */
  const ids = [];
  while (ids.length < count) {
    const next = Math.min(togetherPerServer, count - ids.length);
    ids.push(...(await Promise.all(Array.from({ length: next }, () => shop.pay()))));
  }
  let isOver = false;
  /** @param {() => Promise<unknown>} work @param {number} pauseMs */
  const repeat = async (work, pauseMs) => {
    /** @type {number[]} */
    const waits = [];
    while (!isOver) {
      const from = performance.now();
      await work();
      waits.push(performance.now() - from);
      await delay(pauseMs);
    }
    return waits;
  };
  const stopping = repeat(async () => (await fetch(`${server.url}/healthz`)).text(), 2);
  const creating = repeat(shop.create, 10);
  const started = performance.now();
  for (let block = 0; block < confirmations; block += 1) await shop.mine();
  const took = performance.now() - started;
  await hooks.until(ids);
  isOver = true;
  return { count, took, stops: await stopping, creates: await creating };
}

/** @param {import('../scripts/api-server.mjs').ApiServer[]} servers @param {Awaited<ReturnType<typeof startReceiver>>} hooks */
function openShop(servers, hooks) {
  const Authorization = `Bearer ${servers[0]?.secretKey}`;
  const headers = { Authorization, 'Content-Type': 'application/json' };
  let requests = 0;
  /** @param {string} method @param {string} path @param {object} [body] */
  const ask = async (method, path, body) => {
    // A transfer comes from the chain, which one server reads, and not from any server by turns.
    const turn = path.startsWith('/sandbox/') ? 0 : requests++;
    const server = servers[turn % servers.length];
    const response = await fetch(server?.url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, message } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${message}`);
    return data;
  };
  const mine = () => ask('POST', '/sandbox/blocks', { network: 'tron', count: 1 });

  const create = () => ask('POST', '/v1/payments/checkout', { amount: 10, baseCurrency: 'USD' });

  /** One payer, up to the transfer. @param {(ms: number) => void} [note] the time of each request that a payer waits for */
  async function pay(note = () => undefined) {
    /** @param {string} method @param {string} path @param {object} [body] */
    const timed = async (method, path, body) => {
      const from = performance.now();
      const data = await ask(method, path, body);
      note(performance.now() - from);
      return data;
    };
    const { payment } = await timed('POST', '/v1/payments/checkout', { amount: 10, baseCurrency: 'USD' });
    await timed('PATCH', `/v1/payments/${payment.id}/currency/set/USDT/tron`);
    const { amount, addressInformation } = await timed('PATCH', `/v1/payments/${payment.id}/currency/lock`);
    const { address } = addressInformation;
    await ask('POST', '/sandbox/transfers', {
      network: 'tron',
      currency: 'USDT',
      address,
      amount: String(amount),
    });
    await timed('GET', `/v1/transactions/${payment.id}/verify/checkout`);
    return /** @type {string} */ (payment.id);
  }

  return {
    mine,
    pay,
    create,
    /** So many lives, up to the webhook. @param {number} count */
    async live(count) {
      const ids = await Promise.all(Array.from({ length: count }, () => pay()));
      for (let block = 0; block < confirmations; block += 1) await mine();
      await hooks.until(ids);
      return ids;
    },
  };
}

/**
 * A proxy in front of a database, each of whose round trips takes longer. @param {string} databaseUrl @param {number} ms
 * @param {(() => Promise<void>)[]} stops
 */
async function slower(databaseUrl, ms, stops) {
  const url = new URL(databaseUrl);
  const [port, host] = [Number(url.port || 5432), url.hostname];
  const proxy = createProxy((near) => {
    const far = dial(port, host);
    // Only requests are delayed, each by the same time, so that they stay in order.
    near.on('data', (data) => setTimeout(() => far.write(data), ms));
    far.on('data', (data) => near.write(data));
    for (const [one, other] of /** @type {const} */ ([
      [near, far],
      [far, near],
    ])) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => setTimeout(() => other.destroy(), ms));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(async () => void proxy.close());
  const address = proxy.address();
  const local = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return Object.assign(url, { host: local }).href;
}

/** @param {(() => Promise<void>)[]} stops */
async function startReceiver(stops) {
  /** @type {Set<string>} */
  const arrived = new Set();
  /** @type {number[]} from the commit to the arrival, in milliseconds */
  const lags = [];
  const server = createServer(async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type, timestamp, data } = JSON.parse(Buffer.concat(chunks).toString());
    if (type === 'payment.success') {
      lags.push(Date.now() - Date.parse(timestamp));
      arrived.add(data.id);
    }
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return {
    lags,
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`,
    /** @param {readonly string[]} ids */
    async until(ids) {
      for (const deadline = Date.now() + 120_000; !ids.every((id) => arrived.has(id)); await delay(5)) {
        if (Date.now() > deadline) throw new Error('Some webhooks did not arrive within 120 s');
      }
    },
  };
}

/**
 * Copies a payment that was paid, with its address, receipt and log. @param {string} url
 * @param {number} count @param {string} template
 */
async function fill(url, count, template) {
  const sql = await connect(url);
  const [series, id] = [sql.series(count), sql.id('s.i')];
  const of = (/** @type {string} */ table, /** @type {string} */ column) =>
    `${series} join ${table} t on t.${column} = '${template}' order by s.i`;
  const address = `'T' || s.i`;
  await copyOf(sql, 'payments', of('payments', 'id'), {
    id,
    address,
    address_id: id,
    tx_ref: `'order-' || s.i`,
    created_at: `t.created_at - ${count} + s.i`,
  });
  await copyOf(sql, 'addresses', of('addresses', 'payment_id'), {
    id,
    address,
    payment_id: id,
    derivation_index: '1000000 + s.i',
  });
  await copyOf(sql, 'receipts', of('receipts', 'payment_id'), {
    id,
    address,
    payment_id: id,
    tx_hash: `'h' || s.i`,
  });
  const columns = (await sql.columns('log_entries')).filter((name) => name !== 'id' && name !== 'payment_id');
  await sql.run(
    `insert into log_entries (payment_id, ${columns.join(', ')}) select ${id}, ${columns.map((name) => `t.${name}`).join(', ')}
     from ${series} join log_entries t on t.payment_id = '${template}'`,
  );
  await sql.run(`update derivations set next_index = next_index + ${1_000_000 + count}`);
  await sql.settle();
  await sql.close();
  await makeCheckpoints(url);
}

/** The processor time of all processes of PostgreSQL, in milliseconds. */
function postgresMs() {
  let ms = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name = '', rest = ''] =
        /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      const fields = rest.split(' ');
      // User and system time, of it and of its ended children, in hundredths of a second.
      if (name.startsWith('postgres'))
        ms += [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 10;
    } catch {
      // It has ended meanwhile.
    }
  }
  return ms;
}

/** @param {'payments' | 'rates' | 'blocks' | 'servers' | 'database-delay'} name */
function numbers(name) {
  return options[name].split(',').map((text) => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < 0)
      throw new Error(`--${name} must be integers, separated by commas`);
    return number;
  });
}
