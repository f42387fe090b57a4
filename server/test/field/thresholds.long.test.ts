/** Public reports of limits that were of one record where they belong to a sum. On the last engine; `thresholds.test.ts` has it on SQLite. */
import { lastEngine, sqlite } from '../support/engines.js';
import { testThresholds } from './thresholds.js';

if (lastEngine !== sqlite) testThresholds(lastEngine);
