/** Transfers that a treasury's wallet was given, on PostgreSQL; `handed-over-sqlite.long.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testHandedOver } from './handed-over.js';

testHandedOver(lastEngine);
