/** The rules that keep a treasury from paying twice, on PostgreSQL; `paid-twice-sqlite.long.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testPaidTwice } from './paid-twice.js';

testPaidTwice(lastEngine);
