/**
 * The floor that the API is measured against, in its own process: bare Express that answers the same bytes as the API,
 * with or without one durable insert of the row that the API stores. There are no checks, keys or rules, so this is what
 * Express and the database cost in any case. On PostgreSQL, another floor sends the same statements as the API, as it does.
 */
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import express from 'express';
import pg from 'pg';
import { createSender } from './send-flights.mjs';

/**
 * @typedef {object} FloorTask
 * @property {string} databaseUrl the API's database, from which the row is read
 * @property {string} floorPath the SQLite file to insert into; on PostgreSQL, a table next to the API's is used
 * @property {string} paymentId the payment whose row is inserted again and again
 * @property {Record<'create' | 'set' | 'lock' | 'verify', string>} replies
 * @property {'answer' | 'select'} verifyFloor what to do before answering verify
 * @property {Recorded} [recorded] the API's statements, to be sent instead
 */

/**
 * @typedef {object} Recorded
 * @property {Record<'create' | 'set' | 'lock' | 'verify', import('./record-statements.mjs').Unit[]>} units of the payment
 * @property {string[]} unique other values of the payment that no two rows share: its address, and that one's id
 * @property {string} index the one of its address
 */

process.once('message', (message) => void serve(/** @type {FloorTask} */ (message)));

/** @param {FloorTask} task */
async function serve(task) {
  const app = task.recorded ? await repeatStatements(task, task.recorded) : await insertRows(task);
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
  });
  process.once('disconnect', () => process.exit(0));
}

/** @param {FloorTask} task @param {Recorded} recorded */
async function repeatStatements({ databaseUrl, paymentId, replies }, { units, unique, index }) {
  const send = await createSender(databaseUrl);
  let made = 0;
  /** @param {'create' | 'set' | 'lock' | 'verify'} step @param {string} id */
  async function run(step, id) {
    made += 1;
    const own = (/** @type {string | null} */ value) => {
      if (value === index) return String(1_000_000_000 + made);
      if (value !== null && unique.includes(value)) return `floor-${made}-${id}`;
      return value?.replaceAll(paymentId, id) ?? null;
    };
    await send(units[step], own);
  }
  /** @type {(step: 'create' | 'set' | 'lock' | 'verify') => express.RequestHandler} */
  const handle = (step) => async (request, response) => {
    const { id = randomUUID() } = request.params;
    await run(step, String(id));
    response.type('json').send(replies[step].replaceAll(paymentId, String(id)));
  };
  const app = express();
  app.post('/v1/payments/checkout', express.json(), handle('create'));
  app.patch('/v1/payments/checkout/:id/currency/set/:currency/:network', handle('set'));
  app.patch('/v1/payments/checkout/:id/currency/lock', handle('lock'));
  app.get('/v1/transactions/:id/verify/checkout', handle('verify'));
  return app;
}

/** @param {FloorTask} task */
async function insertRows({ databaseUrl, floorPath, paymentId, replies, verifyFloor }) {
  const pool = databaseUrl.startsWith('sqlite:')
    ? undefined
    : new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const insert = pool
    ? await postgresInsert(pool, paymentId)
    : sqliteInsert(databaseUrl.slice('sqlite:'.length), floorPath, paymentId);
  let row = 0;

  const app = express();
  const json = express.json();
  /** @type {(reply: string) => express.RequestHandler} */
  const insertAndAnswer = (reply) => async (_request, response) => {
    await insert(`floor-${row++}`);
    response.type('json').send(reply);
  };
  app.post('/v1/payments/checkout', json, insertAndAnswer(replies.create));
  app.patch('/v1/payments/checkout/:id/currency/set/:currency/:network', insertAndAnswer(replies.set));
  app.patch('/v1/payments/checkout/:id/currency/lock', insertAndAnswer(replies.lock));
  app.get('/v1/transactions/:id/verify/checkout', async (request, response) => {
    if (pool && verifyFloor === 'select') {
      await pool.query({
        name: 'select',
        text: 'select * from payments where id = $1',
        values: [request.params.id],
      });
    }
    response.type('json').send(replies.verify);
  });
  return app;
}

/**
 * Copies the API's table and its indexes to a separate file, and inserts with the same durability: each insert is on disk
 * before it is answered.
 * @param {string} sourcePath
 * @param {string} floorPath
 * @param {string} paymentId
 * @returns {(id: string) => void}
 */
function sqliteInsert(sourcePath, floorPath, paymentId) {
  const source = new Database(sourcePath, { readonly: true });
  const definitions = source
    .prepare(
      `select sql from sqlite_master where tbl_name = 'payments' and type in ('table', 'index') and sql is not null order by type desc`,
    )
    .pluck()
    .all();
  const row = source.prepare('select * from payments where id = ?').get(paymentId);
  source.close();
  const { columns, values } = copyOf(row);

  const database = new Database(floorPath);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = OFF');
  for (const sql of definitions) database.exec(String(sql));
  const statement = database.prepare(
    `insert into payments (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  );
  return (id) => void statement.run(values(id));
}

/**
 * @param {pg.Pool} pool
 * @param {string} paymentId
 * @returns {Promise<(id: string) => Promise<void>>}
 */
async function postgresInsert(pool, paymentId) {
  const { rows } = await pool.query('select * from payments where id = $1', [paymentId]);
  const { columns, values } = copyOf(rows[0]);
  await pool.query('create table floor_payments (like payments including all)');
  const text = `insert into floor_payments (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')})`;
  return async (id) => {
    await pool.query({ name: 'insert', text, values: values(id) });
  };
}

/**
 * Copies a row, with new values for the unique columns.
 * @param {unknown} row
 * @returns {{ columns: string[], values: (id: string) => unknown[] }}
 */
function copyOf(row) {
  if (typeof row !== 'object' || row === null) throw new Error('The payment to copy is not in the database');
  const entries = Object.entries(row);
  const unique = new Set(['id', 'tx_ref']);
  return {
    columns: entries.map(([column]) => column),
    values: (id) => entries.map(([column, value]) => (unique.has(column) ? id : value)),
  };
}
