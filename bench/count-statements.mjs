/**
 * Preloaded into a server on SQLite: counts its statements between two SIGUSR2, and then writes them with their plans to the file that
 * COUNTED_STATEMENTS names.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import Database from 'better-sqlite3';

/** @type {Map<string, { calls: number, ms: number, connection: import('better-sqlite3').Database }>} */
const counts = new Map();
let isCounting = false;

/** @typedef {import('better-sqlite3').Database} Connection */
/** @typedef {import('better-sqlite3').Statement<unknown[], unknown>} Statement */
/** @type {(this: Connection, text: string) => Statement} */
const prepare = Database.prototype.prepare;
/** @this {Connection} @param {string} text */
function prepareCounted(text) {
  const statement = prepare.call(this, text);
  const count = counts.get(text) ?? { calls: 0, ms: 0, connection: this };
  counts.set(text, count);
  for (const name of /** @type {const} */ (['run', 'all', 'get'])) {
    /** @type {(...values: unknown[]) => unknown} */
    const original = statement[name].bind(statement);
    const value = (/** @type {unknown[]} */ ...values) => {
      if (!isCounting) return original(...values);
      const from = performance.now();
      try {
        return original(...values);
      } finally {
        count.calls += 1;
        count.ms += performance.now() - from;
      }
    };
    Object.defineProperty(statement, name, { value });
  }
  return statement;
}
Object.assign(Database.prototype, { prepare: prepareCounted });

/** @param {Connection} connection @param {string} text */
function planOf(connection, text) {
  if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) return '';
  try {
    const explained = prepare.call(connection, `explain query plan ${text}`);
    const values = Array.from({ length: text.split('?').length - 1 }, () => null);
    const rows = /** @type {{ detail: string }[]} */ (explained.all(values));
    const reads = rows.flatMap(({ detail }) => {
      const [, verb, table, index] =
        /^(SCAN|SEARCH) (\S+)(?: USING (?:COVERING )?INDEX (\S+))?/.exec(detail) ?? [];
      if (verb === undefined || /^(?:json_each|agg$|\(subquery|CONSTANT|\d+-ROW)/.test(table ?? ''))
        return [];
      return [index ?? (verb === 'SCAN' ? `all of ${table}` : `${table} by its key`)];
    });
    return [...new Set(reads)].join(', ');
  } catch (error) {
    return `not planned: ${error instanceof Error ? error.message : String(error)}`;
  }
}

process.on('SIGUSR2', () => {
  if (!isCounting) {
    for (const count of counts.values()) Object.assign(count, { calls: 0, ms: 0 });
    isCounting = true;
    return;
  }
  isCounting = false;
  const found = [...counts]
    .filter(([, { calls }]) => calls > 0)
    .map(([text, { calls, ms, connection }]) => ({ text, calls, ms, plan: planOf(connection, text) }));
  writeFileSync(process.env['COUNTED_STATEMENTS'] ?? '', JSON.stringify(found));
});
