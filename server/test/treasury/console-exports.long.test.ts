/** Exports of transfers in the console, on PostgreSQL; `console-exports.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testConsoleExports } from './console-exports.js';

testConsoleExports(lastEngine);
