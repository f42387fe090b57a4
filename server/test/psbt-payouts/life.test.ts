/** The life of a PSBT on SQLite; `life.long.test.ts` has it on PostgreSQL, and `books.test.ts` has its books on both. */
import { sqlite } from '../support/engines.js';
import { testLife } from './life.js';

testLife(sqlite);
