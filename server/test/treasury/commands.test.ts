/** The commands of treasuries, on SQLite; `commands.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testCommands } from './commands.js';

testCommands(sqlite);
