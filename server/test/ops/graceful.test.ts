/** Graceful shutdown under load, on SQLite; `graceful.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testGraceful } from './graceful.js';

testGraceful(sqlite);
