/** Payments that a payer makes in place of a cycle's own payment, on PostgreSQL; `replacements.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testReplacements } from './replacements.js';

testReplacements(lastEngine);
