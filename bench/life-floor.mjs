/**
 * The floor of a whole payment: what the same statements, requests and webhooks cost without the server's own code. A server's
 * statements are recorded during many lives, and bare Express then runs them again on a copy of the database from before.
 */
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serialize } from 'node:v8';
import Database from 'better-sqlite3';
import pg from 'pg';
import { allocation, flags, processorMs, startApiServer } from '../scripts/api-server.mjs';
import { recordStatements } from './record-statements.mjs';
import { startFloor } from './start-floor.mjs';

/** V8 compiles what runs often during the first of them, so only the last are measured. */
const recordedLives = 1000;
const measuredLives = 300;
const together = 20;

/** @typedef {import('../scripts/api-server.mjs').ApiServer} ApiServer */

/**
 * @param {object} task
 * @param {string} task.databaseUrl
 * @param {string} task.directory
 * @param {string} task.webhookUrl
 * @param {ApiServer} task.server that of the database: it is stopped
 * @param {(server: ApiServer, count: number) => Promise<number>} task.live runs lives on a server, and resolves with the number of
 * their requests
 * @param {() => number} task.databaseMs the processor time that PostgreSQL has taken so far
 * @param {number} task.idleShare of a processor that PostgreSQL takes when idle
 * @param {(() => Promise<void>)[]} task.stops
 * @returns {Promise<{ floorMs: number, databaseMs: number }>} the processor time of a life
 */
export async function measureFloor(task) {
  const { databaseUrl, directory, server, databaseMs, idleShare, stops } = task;
  await server.stop();
  const copy = databaseUrl.startsWith('sqlite:')
    ? copyFile(databaseUrl)
    : await copyDatabase(databaseUrl, stops);
  const file = join(directory, 'recorded');
  const { requests, reply } = await record(task, file);
  const floor = await startFloor(
    { databaseUrl: copy, file, requests, lives: recordedLives, webhookUrl: task.webhookUrl, reply },
    { script: 'replay.mjs', flags, env: allocation },
  );
  stops.push(floor.stop);
  const url = `${floor.url}/next`;
  const spent = () => ({ at: performance.now(), floor: processorMs(floor.pid), database: databaseMs() });
  const warm = Math.floor((requests * (recordedLives - measuredLives)) / recordedLives);
  await ask(url, warm);
  const from = spent();
  await ask(url, requests - warm);
  const to = spent();
  const [paid, paidAgain] = [await countPaid(databaseUrl), await countPaid(copy)];
  if (paid !== paidAgain) throw new Error(`The server has ${paid} paid payments, and the floor ${paidAgain}`);
  return {
    floorMs: (to.floor - from.floor) / measuredLives,
    databaseMs: (to.database - from.database - idleShare * (to.at - from.at)) / measuredLives,
  };
}

/**
 * Runs lives on a new server, whose statements are written to a file.
 * @param {Parameters<typeof measureFloor>[0]} task
 * @param {string} file
 */
async function record({ databaseUrl, server: { publicKey, secretKey }, live, stops }, file) {
  const isSqlite = databaseUrl.startsWith('sqlite:');
  const recorder = isSqlite ? undefined : await recordStatements(databaseUrl, stops);
  const started = await startApiServer({
    databaseUrl: recorder?.url ?? databaseUrl,
    env: { BOOTSTRAP_PUBLIC_KEY: publicKey, BOOTSTRAP_SECRET_KEY: secretKey, RECORDED_STATEMENTS: file },
    nodeFlags: isSqlite ? ['--import', new URL('./record-sqlite.mjs', import.meta.url).href] : [],
  });
  stops.push(started.stop);
  const recorded = { ...started, publicKey, secretKey };
  const requests = await live(recorded, recordedLives);
  const reply = await post(`${recorded.url}/v1/payments/checkout`, { Authorization: `Bearer ${secretKey}` });
  if (recorder) writeFileSync(file, serialize(recorder.all()));
  else {
    recorded.signal('SIGUSR2');
    for (const end = Date.now() + 60_000; !existsSync(file); await delay(50))
      if (Date.now() > end) throw new Error('The server wrote no statements');
  }
  await recorded.stop();
  return { requests, reply };
}

/** As many at the same time as payers of the server. @param {string} url @param {number} requests */
async function ask(url, requests) {
  let left = requests;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await post(url);
    }
  };
  await Promise.all(Array.from({ length: together }, client));
}

/** Sends the body of a new payment. @param {string} url @param {Record<string, string>} [headers] */
async function post(url, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ amount: 10, baseCurrency: 'USD' }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status} ${text}`);
  return text;
}

/** @param {string} databaseUrl */
async function countPaid(databaseUrl) {
  const text = 'select count(*) as count from payments where settled_at is not null';
  if (databaseUrl.startsWith('sqlite:')) {
    const database = new Database(databaseUrl.slice('sqlite:'.length), { readonly: true });
    const count = database.prepare(text).pluck().get();
    database.close();
    return Number(count);
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return Number(rows[0].count);
}

/** @param {string} databaseUrl of a server that has ended */
function copyFile(databaseUrl) {
  const path = databaseUrl.slice('sqlite:'.length);
  if (existsSync(`${path}-wal`)) throw new Error('The server did not end in order');
  copyFileSync(path, `${path}-floor`);
  return `sqlite:${path}-floor`;
}

/** @param {string} databaseUrl of a server that has ended @param {(() => Promise<void>)[]} stops */
async function copyDatabase(databaseUrl, stops) {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  const run = async (/** @type {string[]} */ ...statements) => {
    const admin = Object.assign(new URL(url), { pathname: '/postgres' }).href;
    const client = new pg.Client({ connectionString: admin });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  // The work of writing the copy to the disk is not the floor's.
  await run(`create database ${name}_floor template ${name}`, 'checkpoint');
  stops.push(() => run(`drop database ${name}_floor with (force)`));
  return Object.assign(url, { pathname: `/${name}_floor` }).href;
}
