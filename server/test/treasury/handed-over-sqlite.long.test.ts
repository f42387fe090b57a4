/** Transfers that a treasury's wallet was given, on SQLite; `handed-over.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testHandedOver } from './handed-over.js';

testHandedOver(sqlite);
