/** Exports of transfers in the console, on SQLite; `console-exports.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testConsoleExports } from './console-exports.js';

testConsoleExports(sqlite);
