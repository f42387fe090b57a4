/** The money of a treasury on the books, on SQLite; `watcher.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testWatcher } from './watcher.js';

testWatcher(sqlite);
