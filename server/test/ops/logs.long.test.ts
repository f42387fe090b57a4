/** The log of requests to the whole API, on PostgreSQL; `logs.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testLogs } from './logs.js';

testLogs(lastEngine);
