/** A PSBT that came back changed, on SQLite; `thieves.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testThieves } from './thieves.js';

testThieves(sqlite);
