/** Real money on an EVM network on SQLite; `real-money-evm.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testRealMoney } from './real-money-evm.js';

testRealMoney(sqlite);
