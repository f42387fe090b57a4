/** Payouts by PSBT, on PostgreSQL; `payouts-sqlite.long.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testPayouts } from './payouts.js';

testPayouts(lastEngine);
