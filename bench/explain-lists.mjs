/** Finds out which indexes a list uses, by explaining the server's own statements. */
import Database from 'better-sqlite3';
import pg from 'pg';
import { connect } from './fill-lists.mjs';

/**
 * Runs the server in this process, so that its statements can be captured.
 * @param {object} task
 * @param {string} task.databaseUrl
 * @param {string} task.secretKey
 * @param {readonly { path: string }[]} task.queries
 * @returns {Promise<string[][]>} the indexes of each query, in alphabetical order; `SCAN table` for a table without an index
 */
export async function explainLists({ databaseUrl, secretKey, queries }) {
  const { startServer } = await import('../server/dist/server.js');
  const { readConfig } = await import('../server/dist/core/config.js');
  const { createLog } = await import('../server/dist/core/log.js');
  const seen = watchStatements();
  const server = await startServer(
    readConfig({ PORT: '0', DATABASE_URL: databaseUrl, RATE_LIMIT: 'off', BLOCK_INTERVAL_MS: '0' }),
    createLog('error'),
  );
  const sql = await connect(databaseUrl);
  const plans = [];
  try {
    for (const { path } of queries) {
      seen.clear();
      const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${secretKey}` } });
      await response.text();
      // Jobs run statements at the same time, for example about webhooks. A list only reads what its merchant owns.
      const own = [...seen].filter(([text]) => /^\s*select\b/i.test(text) && /merchant_id/.test(text));
      const names = new Set();
      for (const [text, values] of own) for (const name of await explain(sql, text, values)) names.add(name);
      plans.push([...names].sort());
    }
  } finally {
    await sql.close();
    await server.stop();
  }
  return plans;
}

/** @returns {Map<string, readonly unknown[]>} the statements that were run, with their values */
function watchStatements() {
  /** @type {Map<string, readonly unknown[]>} */
  const seen = new Map();
  const { all } = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'));
  Object.getPrototypeOf(new Database(':memory:').prepare('select 1')).all = function (
    /** @type {unknown[]} */ ...values
  ) {
    seen.set(this.source, values.flat());
    return all.apply(this, values);
  };
  const query = pg.Client.prototype.query;
  // @ts-expect-error: it has many overloads
  pg.Client.prototype.query = function (/** @type {any} */ statement, /** @type {any[]} */ ...rest) {
    // The server passes `{ text, values }`, with a `name` if the statement is prepared.
    if (typeof statement?.text === 'string') seen.set(statement.text, statement.values ?? []);
    // @ts-expect-error: the same
    return query.call(this, statement, ...rest);
  };
  return seen;
}

/**
 * @param {import('./fill-lists.mjs').Sql} sql
 * @param {string} text
 * @param {readonly unknown[]} values
 * @returns {Promise<string[]>}
 */
async function explain(sql, text, values) {
  const { lines } = await sql.explain(text, values);
  return lines.flatMap((line) => {
    const index =
      /USING (?:COVERING )?INDEX (\S+)|Index (?:Only )?Scan(?: Backward)? using (\S+)|Bitmap Index Scan on (\S+)/.exec(
        line,
      );
    if (index)
      return [(index[1] ?? index[2] ?? index[3] ?? '').replace(/^sqlite_autoindex_(\w+)_\d+$/, '$1 key')];
    const scan = /^\s*(?:->\s*)?(?:SCAN|Seq Scan on) (\w+)/.exec(line);
    // A subquery's rows are scanned under its alias, `agg`.
    return scan && scan[1] !== 'agg' ? [`SCAN ${scan[1]}`] : [];
  });
}
