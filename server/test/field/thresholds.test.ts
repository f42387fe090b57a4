/** Public reports of limits that were of one record where they belong to a sum. On SQLite; `thresholds.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testProviders, testThresholds } from './thresholds.js';

testThresholds(sqlite);
testProviders();
