/** All requests of the fuzz with hostile values, one after the other, on SQLite. */
import { sqlite } from '../support/engines.js';
import { testPathological } from './pathological.js';

testPathological(sqlite, 1);
