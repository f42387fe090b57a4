/** Passkeys of the console, on PostgreSQL; `passkeys.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testPasskeys } from './passkeys.js';

testPasskeys(lastEngine);
