/** Passkeys of the console, on SQLite; `passkeys.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testPasskeys } from './passkeys.js';

testPasskeys(sqlite);
