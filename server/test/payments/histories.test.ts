/** A few random histories; `histories.long.test.ts` lives many. */
import { testHistories } from './histories.js';

testHistories(4);
