/** The log of requests to the whole API, on SQLite; `logs.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testLogs } from './logs.js';

testLogs(sqlite);
