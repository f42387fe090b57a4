/** The money of a treasury on the books, on PostgreSQL; `watcher-sqlite.long.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testWatcher } from './watcher.js';

testWatcher(lastEngine);
