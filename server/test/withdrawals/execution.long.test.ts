/** Transfers in progress, on PostgreSQL; `execution.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testExecution } from './execution.js';

testExecution(lastEngine);
