/** Real money on Litecoin Core. */
import { enginesOfSoak } from '../support/engines.js';
import { testRealLitecoin } from './real-money-litecoin.js';

for (const engine of enginesOfSoak) testRealLitecoin(engine);
