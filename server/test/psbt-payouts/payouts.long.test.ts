/** Payouts by PSBT. */
import { enginesOfSoak } from '../support/engines.js';
import { testPayouts } from './payouts.js';

for (const engine of enginesOfSoak) testPayouts(engine);
