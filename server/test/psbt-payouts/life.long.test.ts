/** The life of a PSBT on PostgreSQL, or on SQLite again where there is none. */
import { lastEngine } from '../support/engines.js';
import { testLife } from './life.js';

testLife(lastEngine);
