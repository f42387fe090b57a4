/** The money of a treasury on the books. */
import { enginesOfSoak } from '../support/engines.js';
import { testWatcher } from './watcher.js';

for (const engine of enginesOfSoak) testWatcher(engine);
