/** Real money on Litecoin Core. */
import { engines } from '../support/engines.js';
import { testRealLitecoin } from './real-money-litecoin.js';

for (const engine of engines) testRealLitecoin(engine);
