/** The fate of refunds. On SQLite; `policy.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testRefundPolicy } from './policy.js';

testRefundPolicy(sqlite);
