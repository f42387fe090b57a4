/** Graceful shutdown under load, on PostgreSQL; `graceful.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testGraceful } from './graceful.js';

testGraceful(lastEngine);
