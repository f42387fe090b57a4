/** `npm run bench -- payments`: the API's speed as a ratio to a floor, all of it measured in one run on one machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startApiServer } from '../scripts/api-server.mjs';
import { createDatabase } from './create-database.mjs';
import { measure, percentile } from './load.mjs';
import { startFloor } from './start-floor.mjs';

const help = `Usage: npm run bench -- payments [options]        (after npm run build)

Measures the built server against floors on the same machine, in turns (A B A B …), and prints the median
of all rounds. Floors: "answer" is bare Express answering the same bytes; "insert" does one durable insert
of the same row first, in the same database engine with the same settings.

  --database sqlite|postgres   default sqlite
  --rounds N                   default 9, after one that is not counted
  --requests N                 per scenario and round, default 500
  --connections N              default 10
  --json FILE                  also writes everything measured as JSON
  --help`;

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

/**
 * In this order, since each works on the payments of the one before; the flow makes its own.
 * @type {{ name: string, steps: Step[], floor: 'answer' | 'insert', aim?: number }[]}
 */
const scenarios = [
  { name: 'create', steps: [steps.create], floor: 'insert', aim: 0.5 },
  { name: 'set', steps: [steps.set], floor: 'insert' },
  { name: 'lock', steps: [steps.lock], floor: 'insert' },
  { name: 'verify', steps: [steps.verify], floor: 'answer', aim: 0.6 },
  { name: 'flow', steps: [steps.create, steps.set, steps.lock, steps.verify], floor: 'insert' },
];

const optionTypes = /** @type {const} */ ({
  database: { type: 'string', default: 'sqlite' },
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
  const rounds = positiveInteger('rounds');
  const connections = positiveInteger('connections');
  const count = Math.ceil(positiveInteger('requests') / connections) * connections;
  // Under the project and not in the system's temporary directory, which may be in memory, where nothing is durable.
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'bench-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const databaseUrl = await createDatabase(options.database, directory, stops);
    const api = await startApiServer({ databaseUrl, blockIntervalMs: 1000 });
    stops.push(api.stop);
    const { paymentId, replies } = await sampleReplies(api);
    const floorPath = join(directory, 'floor.db');
    const floor = await startFloor({ databaseUrl, floorPath, paymentId, replies });
    stops.push(floor.stop);

    const [cpu] = cpus();
    const machine = {
      node: process.version,
      cpu: cpu?.model ?? 'unknown',
      cores: availableParallelism(),
      database: options.database,
      connections,
      requests: count,
      rounds,
    };
    console.log(
      `${machine.database} · Node ${machine.node} · ${machine.cores} × ${machine.cpu} · ` +
        `${connections} connections · median of ${rounds} rounds of ${count}\n`,
    );
    const results = summarize(await runRounds(rounds, { count, connections }, api, floor));
    console.table(Object.fromEntries(results.map(({ name, ...result }) => [name, tableRow(result)])));
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @typedef {object} Turn
 * @property {import('./load.mjs').Measurement} api
 * @property {import('./load.mjs').Measurement} floor
 */

/**
 * @param {number} rounds
 * @param {{ count: number, connections: number }} size
 * @param {{ url: string, publicKey: string }} api
 * @param {{ url: string }} floor
 * @returns {Promise<Map<string, Turn[]>>} by scenario
 */
async function runRounds(rounds, size, api, floor) {
  /** @type {Map<string, Turn[]>} */
  const turns = new Map(scenarios.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    /** @type {readonly string[]} */
    let paymentIds = [];
    for (const { name, steps } of scenarios) {
      const load = { ...size, key: api.publicKey, steps, paymentIds };
      const ofApi = await measure({ ...load, url: api.url });
      const ofFloor = await measure({ ...load, url: floor.url });
      paymentIds = ofApi.paymentIds;
      // The first round warms both up: compiled code, cached pages, open files.
      if (round > 0) turns.get(name)?.push({ api: ofApi, floor: ofFloor });
    }
    process.stderr.write(round === 0 ? 'warmed up\n' : `round ${round} of ${rounds}\n`);
  }
  return turns;
}

/** @param {Map<string, Turn[]>} turns */
function summarize(turns) {
  return scenarios.map(({ name, floor, aim }) => {
    const rounds = (turns.get(name) ?? []).map((turn) => ({
      apiPerSecond: turn.api.perSecond,
      floorPerSecond: turn.floor.perSecond,
      ratio: turn.api.perSecond / turn.floor.perSecond,
      apiP95Milliseconds: turn.api.p95Milliseconds,
      floorP95Milliseconds: turn.floor.p95Milliseconds,
      p95Ratio: turn.api.p95Milliseconds / turn.floor.p95Milliseconds,
    }));
    /** @param {keyof (typeof rounds)[number]} field */
    const median = (field) => {
      const values = rounds.map((round) => round[field]);
      return percentile(values, 0.5);
    };
    return {
      name,
      floor,
      aim,
      apiPerSecond: median('apiPerSecond'),
      floorPerSecond: median('floorPerSecond'),
      ratio: median('ratio'),
      apiP95Milliseconds: median('apiP95Milliseconds'),
      floorP95Milliseconds: median('floorP95Milliseconds'),
      p95Ratio: median('p95Ratio'),
      rounds,
    };
  });
}

/** @param {Omit<ReturnType<typeof summarize>[number], 'name'>} result */
function tableRow(result) {
  return {
    'per second': Math.round(result.apiPerSecond),
    floor: `${Math.round(result.floorPerSecond)} (${result.floor})`,
    ratio: Number(result.ratio.toFixed(2)),
    aim: result.aim === undefined ? '' : `${result.aim} ${result.ratio >= result.aim ? 'met' : 'missed'}`,
    'p95 ms': Number(result.apiP95Milliseconds.toFixed(1)),
    'floor p95 ms': Number(result.floorP95Milliseconds.toFixed(1)),
    'p95 ratio': Number(result.p95Ratio.toFixed(2)),
  };
}

/**
 * What the API answers to each step: the bytes that the floor repeats.
 * @param {{ url: string, publicKey: string }} api
 */
async function sampleReplies({ url, publicKey }) {
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
  const set = await call(steps.set, paymentId);
  const lock = await call(steps.lock, paymentId);
  const verify = await call(steps.verify, paymentId);
  return { paymentId, replies: { create, set, lock, verify } };
}

/** @param {'rounds' | 'requests' | 'connections'} name */
function positiveInteger(name) {
  const value = Number(options[name]);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name} must be a whole number above 0\n\n${help}`);
  return value;
}
