/** The statements of whole payments: how often each runs in a life, how long it takes, and by which plan. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/**
 * @typedef {object} StatementOfLife
 * @property {string} text
 * @property {number} calls
 * @property {number} ms all calls together; on PostgreSQL with planning, and without network round trips
 * @property {string} plan the tables and indexes that it reads, as the database says; empty if it reads none
 */

/** PostgreSQL counts statements if it is started with these settings. */
export const countingSettings = [
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.track_planning=on',
];

/**
 * Begins to count the statements of a server on PostgreSQL.
 * @param {string} url of a database that was started with `countingSettings`
 * @returns {Promise<() => Promise<StatementOfLife[]>>} ends it
 */
export async function countOnPostgres(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  await client.query('select pg_stat_statements_reset()');
  return async () => {
    const { rows } = await client.query(
      `select query as text, sum(calls)::float as calls, sum(total_exec_time + total_plan_time) as ms
       from pg_stat_statements join pg_database d on d.oid = dbid and d.datname = current_database()
       group by query`,
    );
    /** @type {StatementOfLife[]} */
    const found = [];
    for (const { text, calls, ms } of rows) {
      if (/pg_stat_statements/.test(text)) continue;
      found.push({ text, calls, ms, plan: await planOnPostgres(client, text) });
    }
    await client.end();
    return found;
  };
}

/** The plan for any values: those that the server's prepared statements get. @param {pg.Client} client @param {string} text */
async function planOnPostgres(client, text) {
  if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) return '';
  try {
    await client.query('begin');
    await client.query("set local plan_cache_mode = 'force_generic_plan'");
    await client.query(`prepare planned as ${text}`);
    const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    const values = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`;
    const { rows } = await client.query(`explain (format json) execute planned${values}`);
    return [...new Set(readsOf(rows[0]?.['QUERY PLAN']?.[0]?.Plan))].join(', ');
  } catch (error) {
    return `not planned: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

/**
 * @typedef {{ 'Node Type': string, 'Relation Name'?: string, 'Index Name'?: string, Plans?: PlanNode[] }} PlanNode
 */

/** @param {PlanNode | undefined} node @returns {string[]} */
function readsOf(node) {
  if (!node) return [];
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, Plans: children = [] } = node;
  const own = index ?? (type === 'Seq Scan' ? `all of ${table}` : undefined);
  return [...(own === undefined ? [] : [own]), ...children.flatMap(readsOf)];
}

/** The flags of a server on SQLite that counts its statements. */
export const countingFlags = ['--import', new URL('./count-statements.mjs', import.meta.url).href];

/** The file that such a server writes. @param {string} directory */
export const countsFile = (directory) => join(directory, 'statements.json');

/**
 * Begins to count the statements of a server on SQLite, which was started with `countingFlags`.
 * @param {{ signal: (name: NodeJS.Signals) => void }} server
 * @param {string} directory
 * @returns {Promise<() => Promise<StatementOfLife[]>>} ends it
 */
export async function countOnSqlite(server, directory) {
  server.signal('SIGUSR2');
  await delay(100);
  return async () => {
    server.signal('SIGUSR2');
    await delay(1000);
    return JSON.parse(readFileSync(countsFile(directory), 'utf8'));
  };
}

/**
 * As a table, the longest in a life first. Those of jobs, which run by time, are in it as often as they ran.
 * @param {readonly StatementOfLife[]} statements
 * @param {number} lives
 */
export function tableOfStatements(statements, lives) {
  return [...statements]
    .sort((a, b) => b.ms - a.ms)
    .filter(({ calls }) => calls / lives > 0.05)
    .map(({ text, calls, ms, plan }) => ({
      'in a life': (calls / lives).toFixed(2),
      'µs each': ((ms * 1000) / calls).toFixed(0),
      'ms a life': (ms / lives).toFixed(3),
      statement: text.replaceAll(/\s+/g, ' ').replaceAll('"', '').slice(0, 80),
      plan: plan.slice(0, 120),
    }));
}
