/** `npm run bench -- payments`: the API's speed as a ratio to a floor, both measured in the same run on the same machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startApiServer } from '../scripts/api-server.mjs';
import { createDatabase } from './create-database.mjs';
import { measure, medianOf } from './load.mjs';
import { recordStatements } from './record-statements.mjs';
import { startFloor } from './start-floor.mjs';

const help = `Usage: npm run bench -- payments [options]        (after npm run build)

Compares the built server with floors on the same machine, in alternation (A B A B …), and prints the medians of all
rounds. The floors are bare Express, on the same database engine with the same settings: "answer" answers the same bytes,
"select" first reads the payment's row with a prepared statement, and "insert" first does one durable insert of the row.
On PostgreSQL, a third floor sends the statements that the server sends for the step, as it sends them: the ratio to it shows
what the server's own code costs.

  --database sqlite|postgres   one engine (default: both)
  --rounds N                   rounds (default 9, after one that is not counted)
  --requests N                 runs of each scenario per round (default 500)
  --connections N              concurrent connections (default 10)
  --json FILE                  also write all measurements as JSON
  --help                       show this help`;

/** @typedef {import('./load.mjs').Step} Step */

/** @type {Record<'create' | 'set' | 'lock' | 'verify', Step>} */
const steps = {
  create: {
    method: 'POST',
    path: () => '/v1/payments/checkout',
    body: JSON.stringify({
      amount: 5000,
      baseCurrency: 'NGN',
      customer: { email: 'ada@example.com', name: 'Ada Example' },
      redirectUrl: 'https://shop.example/thanks',
    }),
    makesPayment: true,
  },
  set: { method: 'PATCH', path: (id) => `/v1/payments/checkout/${id}/currency/set/USDT/tron` },
  lock: { method: 'PATCH', path: (id) => `/v1/payments/checkout/${id}/currency/lock` },
  verify: { method: 'GET', path: (id) => `/v1/transactions/${id}/verify/checkout` },
};

/** @typedef {'sqlite' | 'postgres'} Engine */
/** @typedef {{ name: string, steps: Step[], floor: Record<Engine, string>, aim: Record<Engine, number> }} Scenario */

const insert = { sqlite: 'insert', postgres: 'insert' };

/**
 * The order matters: each scenario works on the payments of the one before, and the flow creates its own. SQLite answers
 * a read within the process and PostgreSQL does not, so their floors for reads differ.
 * @type {Scenario[]}
 */
const scenarios = [
  { name: 'create', steps: [steps.create], floor: insert, aim: { sqlite: 0.55, postgres: 0.55 } },
  { name: 'set', steps: [steps.set], floor: insert, aim: { sqlite: 0.5, postgres: 0.45 } },
  { name: 'lock', steps: [steps.lock], floor: insert, aim: { sqlite: 0.65, postgres: 0.5 } },
  {
    name: 'verify',
    steps: [steps.verify],
    floor: { sqlite: 'answer', postgres: 'select' },
    aim: { sqlite: 0.65, postgres: 0.65 },
  },
  {
    // A page asks every few seconds until the payment changes.
    name: 'verify again',
    steps: [steps.verify],
    floor: { sqlite: 'answer', postgres: 'select' },
    aim: { sqlite: 0.65, postgres: 0.65 },
  },
  {
    name: 'flow',
    steps: [steps.create, steps.set, steps.lock, steps.verify],
    floor: insert,
    aim: { sqlite: 0.55, postgres: 0.5 },
  },
];

const optionTypes = /** @type {const} */ ({
  database: { type: 'string' },
  rounds: { type: 'string', default: '9' },
  requests: { type: 'string', default: '500' },
  connections: { type: 'string', default: '10' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
});
const { values: options } = parseArgs({ options: optionTypes, args: process.argv.slice(3) });
if (options.help) console.log(help);
else await main();

async function main() {
  const { database } = options;
  if (database !== undefined && database !== 'sqlite' && database !== 'postgres') {
    throw new Error('--database must be sqlite or postgres');
  }
  /** @type {Engine[]} */
  const engines = database === undefined ? ['sqlite', 'postgres'] : [database];
  const rounds = positiveInteger('rounds');
  const connections = positiveInteger('connections');
  const count = Math.ceil(positiveInteger('requests') / connections) * connections;
  const [cpu] = cpus();
  const machine = {
    node: process.version,
    cpu: cpu?.model ?? 'unknown',
    cores: availableParallelism(),
    connections,
    requests: count,
    rounds,
  };
  console.log(
    `Node ${machine.node} · ${machine.cores} × ${machine.cpu} · ` +
      `${connections} connections · median of ${rounds} rounds of ${count}\n`,
  );
  const results = [];
  for (const engine of engines)
    results.push(...(await measureEngine(engine, rounds, { count, connections })));
  console.table(
    Object.fromEntries(results.map((result) => [`${result.engine} ${result.name}`, tableRow(result)])),
  );
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
}

/**
 * @param {Engine} engine
 * @param {number} rounds
 * @param {{ count: number, connections: number }} size
 */
async function measureEngine(engine, rounds, size) {
  // In the project, because the system's temporary directory may be in memory, where nothing is durable.
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'bench-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const databaseUrl = await createDatabase(engine, directory, stops);
    const api = await startApiServer({ databaseUrl, blockIntervalMs: 1000 });
    stops.push(api.stop);
    const { paymentId, replies } = await sampleReplies(api);
    const floorPath = join(directory, 'floor.db');
    const verifyFloor = engine === 'sqlite' ? 'answer' : 'select';
    const floor = await startFloor({ databaseUrl, floorPath, paymentId, replies, verifyFloor });
    stops.push(floor.stop);
    const repeating = engine === 'postgres' ? await startRepeating(directory, stops) : undefined;
    return summarize(engine, await runRounds(engine, rounds, size, api, floor, repeating));
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @typedef {object} Turn
 * @property {import('./load.mjs').Measurement} api
 * @property {import('./load.mjs').Measurement} floor
 * @property {import('./load.mjs').Measurement} [repeating] the floor that sends the same statements
 */

/**
 * @param {Engine} engine
 * @param {number} rounds
 * @param {{ count: number, connections: number }} size
 * @param {{ url: string, publicKey: string }} api
 * @param {{ url: string }} floor
 * @param {{ url: string }} [repeating]
 * @returns {Promise<Map<string, Turn[]>>} by scenario
 */
async function runRounds(engine, rounds, size, api, floor, repeating) {
  /** @type {Map<string, Turn[]>} */
  const turns = new Map(scenarios.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    /** @type {readonly string[]} */
    let paymentIds = [];
    /** @type {readonly string[]} */
    let repeatedIds = [];
    for (const { name, steps } of scenarios) {
      const load = { ...size, key: api.publicKey, steps, paymentIds };
      const ofApi = await measure({ ...load, url: api.url });
      const ofFloor = await measure({ ...load, url: floor.url });
      paymentIds = ofApi.paymentIds;
      const ofRepeating =
        repeating && (await measure({ ...load, url: repeating.url, paymentIds: repeatedIds }));
      repeatedIds = ofRepeating?.paymentIds ?? [];
      // The first round is a warm-up: compiled code, cached pages, open files.
      if (round > 0)
        turns.get(name)?.push({ api: ofApi, floor: ofFloor, ...(ofRepeating && { repeating: ofRepeating }) });
    }
    process.stderr.write(`${engine}: ${round === 0 ? 'warmed up' : `round ${round} of ${rounds}`}\n`);
  }
  return turns;
}

/**
 * @param {Engine} engine
 * @param {Map<string, Turn[]>} turns
 */
function summarize(engine, turns) {
  return scenarios.map(({ name, floor, aim }) => {
    const rounds = (turns.get(name) ?? []).map((turn) => ({
      apiPerSecond: turn.api.perSecond,
      floorPerSecond: turn.floor.perSecond,
      ratio: turn.api.perSecond / turn.floor.perSecond,
      apiP95Ms: turn.api.p95Ms,
      floorP95Ms: turn.floor.p95Ms,
      p95Ratio: turn.api.p95Ms / turn.floor.p95Ms,
      repeatingPerSecond: turn.repeating?.perSecond ?? NaN,
      repeatingRatio: turn.api.perSecond / (turn.repeating?.perSecond ?? NaN),
    }));
    return {
      engine,
      name,
      floor: floor[engine],
      aim: aim[engine],
      apiPerSecond: medianOf(rounds, 'apiPerSecond'),
      floorPerSecond: medianOf(rounds, 'floorPerSecond'),
      ratio: medianOf(rounds, 'ratio'),
      apiP95Ms: medianOf(rounds, 'apiP95Ms'),
      floorP95Ms: medianOf(rounds, 'floorP95Ms'),
      p95Ratio: medianOf(rounds, 'p95Ratio'),
      repeatingPerSecond: medianOf(rounds, 'repeatingPerSecond'),
      repeatingRatio: medianOf(rounds, 'repeatingRatio'),
      rounds,
    };
  });
}

/** @param {ReturnType<typeof summarize>[number]} result */
function tableRow(result) {
  return {
    'per second': Math.round(result.apiPerSecond),
    floor: `${Math.round(result.floorPerSecond)} (${result.floor})`,
    ratio: Number(result.ratio.toFixed(2)),
    aim: `${result.aim} ${result.ratio >= result.aim ? 'met' : 'missed'}`,
    ...(result.engine === 'postgres' && {
      'same statements': Math.round(result.repeatingPerSecond),
      'ratio to them': Number(result.repeatingRatio.toFixed(2)),
    }),
    'p95 ms': Number(result.apiP95Ms.toFixed(1)),
    'floor p95 ms': Number(result.floorP95Ms.toFixed(1)),
    'p95 ratio': Number(result.p95Ratio.toFixed(2)),
  };
}

/**
 * Starts a floor that repeats what a server sends to PostgreSQL for each step, in the database of that server, which has ended.
 * @param {string} directory
 * @param {(() => Promise<void>)[]} stops
 */
async function startRepeating(directory, stops) {
  const databaseUrl = await createDatabase('postgres', directory, stops);
  const recorder = await recordStatements(databaseUrl, stops);
  const api = await startApiServer({ databaseUrl: recorder.url });
  /** @type {Awaited<ReturnType<typeof sampleReplies<import('./record-statements.mjs').Unit[]>>>[]} */
  const samples = [];
  // Some of them reserve addresses for the next ones: the last of these does not, as most payments.
  for (let count = 0; count < 3; count += 1) samples.push(await sampleReplies(api, recorder.take));
  await api.stop();
  const sample = samples.at(-1);
  if (!sample) throw new Error('Nothing was recorded');
  const { paymentId, replies, noted } = sample;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'select id, address, derivation_index from addresses where payment_id = $1',
    [paymentId],
  );
  await client.end();
  const [{ id, address, derivation_index: index }] = rows;
  const recorded = { units: noted, unique: [id, address], index: String(index) };
  const floor = await startFloor({
    databaseUrl,
    floorPath: '',
    paymentId,
    replies,
    verifyFloor: 'select',
    recorded,
  });
  stops.push(floor.stop);
  return floor;
}

/**
 * The API's answer to each step, which the floor repeats byte for byte.
 * @template [Note=undefined]
 * @param {{ url: string, publicKey: string }} api
 * @param {(paymentId: string) => Note} [note] called after each step
 */
async function sampleReplies({ url, publicKey }, note) {
  /** @type {(step: Step, paymentId?: string) => Promise<string>} */
  const call = async ({ method, path, body = null }, paymentId = '') => {
    const headers = { Authorization: `Bearer ${publicKey}`, 'Content-Type': 'application/json' };
    const response = await fetch(url + path(paymentId), { method, headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path(paymentId)}: HTTP ${response.status} ${text}`);
    return text;
  };
  const create = await call(steps.create);
  /** @type {string} */
  const paymentId = JSON.parse(create).data.payment.id;
  const noteOf = () => /** @type {Note} */ (note?.(paymentId));
  const ofCreate = noteOf();
  const set = await call(steps.set, paymentId);
  const ofSet = noteOf();
  const lock = await call(steps.lock, paymentId);
  const ofLock = noteOf();
  const verify = await call(steps.verify, paymentId);
  const noted = { create: ofCreate, set: ofSet, lock: ofLock, verify: noteOf() };
  return { paymentId, replies: { create, set, lock, verify }, noted };
}

/** @param {'rounds' | 'requests' | 'connections'} name */
function positiveInteger(name) {
  const value = Number(options[name]);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name} must be a whole number above 0\n\n${help}`);
  return value;
}
