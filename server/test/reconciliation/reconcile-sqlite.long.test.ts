/** Money found by the balance of its address, on SQLite; `reconcile.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testReconciliation } from './reconcile.js';

testReconciliation(sqlite);
