/** Payouts by PSBT, on SQLite; `payouts.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testPayouts } from './payouts.js';

testPayouts(sqlite);
