/** Payments that a payer makes in place of a cycle's own payment, on SQLite; `replacements.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testReplacements } from './replacements.js';

testReplacements(sqlite);
