/** Money found by the balance of its address, on PostgreSQL; `reconcile-sqlite.long.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testReconciliation } from './reconcile.js';

testReconciliation(lastEngine);
