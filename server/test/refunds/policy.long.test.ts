/** The fate of refunds. On the last engine; `policy-sqlite.long.test.ts` has it on SQLite. */
import { lastEngine, sqlite } from '../support/engines.js';
import { testRefundPolicy } from './policy.js';

if (lastEngine !== sqlite) testRefundPolicy(lastEngine);
