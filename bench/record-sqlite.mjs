/**
 * Preloaded into a server on SQLite: records its statements with their values, in their order, and writes them at SIGUSR2 to the file
 * that RECORDED_STATEMENTS names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { serialize } from 'node:v8';
import Database from 'better-sqlite3';

/**
 * @typedef {object} RecordedStatement
 * @property {number} connection
 * @property {string} text
 * @property {unknown[]} values
 */

/** @type {RecordedStatement[]} */
const recorded = [];
/** @typedef {import('better-sqlite3').Database} Connection */
/** @type {Map<Connection, number>} */
const connections = new Map();

/** @typedef {import('better-sqlite3').Statement<unknown[], unknown>} Statement */
/** @type {(this: Connection, text: string) => Statement} */
const prepare = Database.prototype.prepare;
/** @this {Connection} @param {string} text */
function prepareRecorded(text) {
  const statement = prepare.call(this, text);
  const connection = connections.get(this) ?? connections.size;
  connections.set(this, connection);
  for (const name of /** @type {const} */ (['run', 'all', 'get', 'iterate'])) {
    /** @type {(...values: unknown[]) => unknown} */
    const original = statement[name].bind(statement);
    const value = (/** @type {unknown[]} */ ...values) => {
      recorded.push({ connection, text, values });
      return original(...values);
    };
    Object.defineProperty(statement, name, { value });
  }
  return statement;
}
Object.assign(Database.prototype, { prepare: prepareRecorded });

process.on('SIGUSR2', () => {
  const file = process.env['RECORDED_STATEMENTS'] ?? '';
  writeFileSync(`${file}.part`, serialize(recorded));
  renameSync(`${file}.part`, file);
});
