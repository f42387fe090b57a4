/** A PSBT that came back changed, on PostgreSQL; `thieves.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testThieves } from './thieves.js';

testThieves(lastEngine);
