/** Real money on Litecoin Core on PostgreSQL; `real-money-litecoin.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testRealLitecoin } from './real-money-litecoin.js';

testRealLitecoin(lastEngine);
