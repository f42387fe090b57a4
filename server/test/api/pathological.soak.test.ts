/** All requests of the fuzz with hostile values, one after the other, and a part of them on the last engine. */
import { lastEngine, sqlite } from '../support/engines.js';
import { testPathological } from './pathological.js';

testPathological(sqlite, 1);
if (lastEngine !== sqlite) testPathological(lastEngine, 5);
