/** The life of a subscription, on PostgreSQL; `life.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testBilling } from './life.js';

testBilling(lastEngine);
