/** Real money on Litecoin Core on SQLite; `real-money-litecoin.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testRealLitecoin } from './real-money-litecoin.js';

testRealLitecoin(sqlite);
