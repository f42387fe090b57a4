/** The rules that keep a treasury from paying twice. */
import { enginesOfSoak } from '../support/engines.js';
import { testPaidTwice } from './paid-twice.js';

for (const engine of enginesOfSoak) testPaidTwice(engine);
