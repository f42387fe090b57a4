/** Real money on an EVM network. */
import { enginesOfSoak } from '../support/engines.js';
import { testRealMoney } from './real-money-evm.js';

for (const engine of enginesOfSoak) testRealMoney(engine);
