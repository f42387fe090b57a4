/** A database that was restored from an older backup. */
import { enginesOfSoak } from '../support/engines.js';
import { testRestoreOnEvm } from './evm.js';
import { testRestoreOnLitecoin } from './litecoin.js';

for (const engine of enginesOfSoak) testRestoreOnEvm(engine);
for (const engine of enginesOfSoak) testRestoreOnLitecoin(engine);
