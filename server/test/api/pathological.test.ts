/** A sample of the fuzz with hostile values; the long tests send all of them. */
import { sqlite } from '../support/engines.js';
import { testPathological } from './pathological.js';

testPathological(sqlite, 17);
