/** The parts of whole payments' time: of the server, as V8 samples it, and of PostgreSQL's sessions. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** The time between two of V8's notes of the running function, in microseconds. */
const intervalUs = 500;

/** The flags that make a server write its profile when it ends. @param {string} directory */
export const profiling = (directory) => [
  '--cpu-prof',
  `--cpu-prof-dir=${directory}`,
  `--cpu-prof-interval=${intervalUs}`,
];

/**
 * The parts, by the module that runs. The first that matches counts.
 * @type {readonly (readonly [string, RegExp])[]}
 */
const parts = [
  ['statements and commits of SQLite', /better-sqlite3|core\/db\/(sqlite\.|group-commit)/],
  ['driver of PostgreSQL', /node_modules\/pg|core\/db\/(postgres|flight)/],
  ['building statements', /node_modules\/kysely|core\/db\/(prepared|send|query-parts)/],
  ['rows and values', /core\/db\//],
  ['scanning and blocks', /core\/(chains|scanning|sandbox|families)\//],
  ['receipts and settlement', /core\/(payments\/receipts|ledger)\//],
  ['payments and views', /core\/(payments|money|addresses|customers)\//],
  ['webhooks', /core\/webhooks\/|undici/],
  ['parsing', /node_modules\/zod|contract/],
  ['requests and replies', /core\/(api|ops|merchants)\/|node_modules\/(express|router|body-parser|send|qs)/],
];

/**
 * @typedef {{ id: number, children?: number[], callFrame: { functionName: string, url: string, lineNumber: number } }} ProfileNode
 */

/**
 * The share of each part in the busy time of all profiles in a directory.
 * @param {string} directory
 * @returns {[part: string, share: number][]} the largest first
 */
export function readProfiles(directory) {
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const name of readdirSync(directory).filter((one) => one.endsWith('.cpuprofile'))) {
    /** @type {{ nodes: ProfileNode[], samples: number[], timeDeltas: number[] }} */
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, name), 'utf8'));
    const partsById = partsOf(nodes);
    samples.forEach((id, place) => {
      const part = partsById.get(id);
      if (part !== undefined) times.set(part, (times.get(part) ?? 0) + (timeDeltas[place] ?? 0));
    });
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .map(([part, time]) => /** @type {[string, number]} */ ([part, time / total]))
    .sort((a, b) => b[1] - a[1]);
}

/** @param {ProfileNode[]} nodes */
function partsOf(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const moduleOf = createModuleOf();
  /** @type {Map<number, string | undefined>} */
  const found = new Map();
  /** @type {[id: number, parent: string | undefined][]} */
  const open = nodes.slice(0, 1).map(({ id }) => [id, undefined]);
  for (let next = open.pop(); next; next = open.pop()) {
    const [id, parent] = next;
    const node = byId.get(id);
    if (!node) continue;
    const { functionName, url, lineNumber } = node.callFrame;
    found.set(id, partOfCall(functionName, url === '' ? undefined : moduleOf(url, lineNumber), parent));
    for (const child of node.children ?? []) open.push([child, found.get(id)]);
  }
  return found;
}

/**
 * @param {string} functionName @param {string | undefined} module undefined if it is built into V8, or in C++
 * @param {string | undefined} parent the part that called it
 */
function partOfCall(functionName, module, parent) {
  if (functionName === '(idle)' || functionName === '(root)') return undefined;
  if (functionName === '(garbage collector)') return 'garbage collection';
  // The time of Node.js's own code is its caller's: a socket is written to for clients, for PostgreSQL and for webhooks.
  if (module === undefined || module.startsWith('node:'))
    return parent ?? (module === undefined ? 'Node.js itself' : 'requests and replies');
  return parts.find(([, pattern]) => pattern.test(module))?.[0] ?? 'the rest';
}

/** Finds the module of a line: the server runs as a bundle, in which a comment names each. */
function createModuleOf() {
  /** @type {Map<string, { line: number, module: string }[]>} */
  const bundles = new Map();
  return (/** @type {string} */ url, /** @type {number} */ lineNumber) => {
    if (!url.includes('/dist/bundle/')) return url;
    let starts = bundles.get(url);
    if (!starts) {
      starts = readFileSync(fileURLToPath(url), 'utf8')
        .split('\n')
        .flatMap((text, line) => {
          const [, module] =
            /^\/\/(?:#region)? ?((?:\.\.\/)*(?:node_modules|server|dist)\/\S+)$/.exec(text) ?? [];
          return module === undefined ? [] : [{ line, module }];
        });
      bundles.set(url, starts);
    }
    return starts.findLast(({ line }) => line <= lineNumber)?.module ?? url;
  };
}

/** The time between two looks at PostgreSQL's sessions, in milliseconds. */
const lookMs = 20;

/**
 * Looks again and again at what the sessions of a database do.
 * @param {string} url
 * @returns {Promise<() => Promise<{ waits: [string, number][], statements: [string, number][] }>>} ends it; the mean number of
 * sessions at the same time, by what they wait for, and of those that are running a statement
 */
export async function watchSessions(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  /** @type {Map<string, number>} */
  const waits = new Map();
  /** @type {Map<string, number>} */
  const statements = new Map();
  const add = (/** @type {Map<string, number>} */ counts, /** @type {string} */ name) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  let looks = 0;
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await delay(lookMs)) {
      const { rows } = await client.query({
        name: 'look',
        text: `select state, coalesce(wait_event_type || ' ' || wait_event, 'nothing: it runs') as wait,
                 substr(regexp_replace(query, '\\s+', ' ', 'g'), 1, 70) as statement
               from pg_stat_activity
               where datname = current_database() and backend_type = 'client backend'
                 and pid <> pg_backend_pid() and state <> 'idle'`,
      });
      looks += 1;
      for (const { state, wait, statement } of rows) {
        add(waits, state === 'active' ? wait : 'the server, within a transaction');
        if (state === 'active') add(statements, statement);
      }
    }
  })();
  const means = (/** @type {Map<string, number>} */ counts) =>
    [...counts]
      .map(([name, count]) => /** @type {[string, number]} */ ([name, count / Math.max(1, looks)]))
      .sort((a, b) => b[1] - a[1])
      .slice(0, 12);
  return async () => {
    isOver = true;
    await watching;
    await client.end();
    return { waits: means(waits), statements: means(statements) };
  };
}
