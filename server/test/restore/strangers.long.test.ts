/** Coins that strangers send while the server is down, and a marker that cannot be written. */
import { enginesOfSoak } from '../support/engines.js';
import { testStrangers } from './strangers.js';

for (const engine of enginesOfSoak) testStrangers(engine);
