/** The fate of refunds. */
import { enginesOfSoak } from '../support/engines.js';
import { testRefundPolicy } from './policy.js';

for (const engine of enginesOfSoak) testRefundPolicy(engine);
