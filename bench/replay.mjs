/**
 * The floor of a whole payment, in its own process: bare Express that runs the statements which a server ran for many payments, in
 * their order, on a copy of the database from before, and sends as many webhooks. There are no checks, keys or rules.
 */
import { readFileSync } from 'node:fs';
import { deserialize } from 'node:v8';
import Database from 'better-sqlite3';
import express from 'express';
import { request as post } from 'undici';
import { createSender } from './send-flights.mjs';

/**
 * @typedef {object} ReplayTask
 * @property {string} databaseUrl the copy
 * @property {string} file the statements, as V8 serializes them: units on PostgreSQL, `RecordedStatement`s on SQLite
 * @property {number} requests among which the statements are divided
 * @property {number} lives of which each has one webhook
 * @property {string} webhookUrl
 * @property {string} reply to each request
 */

process.once('message', (message) => void serve(/** @type {ReplayTask} */ (message)));

/** @param {ReplayTask} task */
async function serve({ databaseUrl, file, requests, lives, webhookUrl, reply }) {
  const recorded = deserialize(readFileSync(file));
  const run = databaseUrl.startsWith('sqlite:')
    ? await runOnSqlite(databaseUrl.slice('sqlite:'.length))
    : await createSender(databaseUrl);
  const body = JSON.stringify({
    type: 'floor',
    timestamp: new Date().toISOString(),
    data: JSON.parse(reply),
  });
  let parts = 0;
  /** Statements depend on those before, so a request waits for the one before. */
  let last = Promise.resolve();
  async function runNext() {
    const part = parts++;
    const placeOf = (/** @type {number} */ count) => Math.floor((count * recorded.length) / requests);
    await run(recorded.slice(placeOf(part), placeOf(part + 1)));
    return part;
  }
  async function notify() {
    const headers = { 'content-type': 'application/json' };
    const answer = await post(webhookUrl, { method: 'POST', headers, body });
    await answer.body.dump();
  }
  const app = express();
  app.post('/next', express.json(), async (_request, response) => {
    try {
      const running = last.then(runNext);
      last = running.then(() => undefined);
      const part = await running;
      const livesUntil = (/** @type {number} */ count) => Math.floor((count * lives) / requests);
      if (livesUntil(part + 1) > livesUntil(part)) await notify();
      response.type('json').send(reply);
    } catch (error) {
      response.status(500).send(error instanceof Error ? error.message : String(error));
    }
  });
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
  });
  process.once('disconnect', () => process.exit(0));
}

/** The log is copied by the server's own thread, and pages are kept as by its connection for writes. @param {string} path */
async function runOnSqlite(path) {
  const { startCheckpoints } = await import('../server/dist/core/db/checkpoints.js');
  /** @type {import('../server/dist/core/db/checkpoints.js').Checkpoints | undefined} */
  let checkpoints;
  /** @type {Map<number, { connection: Database.Database, statements: Map<string, Database.Statement<unknown[]>> }>} */
  const connections = new Map();
  const connect = () => {
    const connection = new Database(path);
    for (const setting of [
      'journal_mode = WAL',
      'synchronous = FULL',
      'foreign_keys = ON',
      'cache_size = -8000',
    ])
      connection.pragma(setting);
    // Those of the server.
    connection.aggregate('sum_units', {
      start: () => 0n,
      step: (total, units) => total + BigInt(units ?? 0),
      result: String,
      deterministic: true,
    });
    connection.function('add_units', { deterministic: true, safeIntegers: true }, (a, b) =>
      String(BigInt(a ?? 0) + BigInt(b ?? 0)),
    );
    return { connection, statements: new Map() };
  };
  return async (/** @type {import('./record-sqlite.mjs').RecordedStatement[]} */ recorded) => {
    for (const { connection: id, text, values } of recorded) {
      const known = connections.get(id) ?? connect();
      connections.set(id, known);
      let statement = known.statements.get(text);
      if (!statement) {
        statement = known.connection.prepare(text);
        if (statement.reader) statement.raw();
        known.statements.set(text, statement);
      }
      if (statement.reader) statement.all(...values);
      else statement.run(...values);
      if (text !== 'commit') continue;
      const { connection } = known;
      checkpoints ??= startCheckpoints(
        path,
        {
          checkpoint: () => void connection.pragma('wal_checkpoint(passive)'),
          checkpointEvery: (pages) => void connection.pragma(`wal_autocheckpoint = ${pages}`),
        },
        (reason) => {
          throw new Error(reason);
        },
      );
      checkpoints.changed();
    }
  };
}
