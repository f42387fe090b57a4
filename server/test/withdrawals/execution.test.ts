/** Transfers in progress, on SQLite; `execution.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testExecution } from './execution.js';

testExecution(sqlite);
