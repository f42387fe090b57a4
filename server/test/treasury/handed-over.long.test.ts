/** Transfers that a treasury's wallet was given. */
import { enginesOfSoak } from '../support/engines.js';
import { testHandedOver } from './handed-over.js';

for (const engine of enginesOfSoak) testHandedOver(engine);
