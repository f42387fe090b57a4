/** The rules that keep a treasury from paying twice, on SQLite; `paid-twice.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testPaidTwice } from './paid-twice.js';

testPaidTwice(sqlite);
