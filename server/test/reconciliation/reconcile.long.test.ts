/** Money found by the balance of its address. */
import { enginesOfSoak } from '../support/engines.js';
import { testReconciliation } from './reconcile.js';

for (const engine of enginesOfSoak) testReconciliation(engine);
