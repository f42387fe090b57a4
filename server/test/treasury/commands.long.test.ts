/** The commands of treasuries, on PostgreSQL; `commands.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testCommands } from './commands.js';

testCommands(lastEngine);
