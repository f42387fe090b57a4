/** The life of a subscription, on SQLite; `life.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testBilling } from './life.js';

testBilling(sqlite);
