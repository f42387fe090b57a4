/** Real money on an EVM network on PostgreSQL, or on SQLite again if there is none. */
import { lastEngine } from '../support/engines.js';
import { testRealMoney } from './real-money-evm.js';

testRealMoney(lastEngine);
