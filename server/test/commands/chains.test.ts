/** The commands about chains, on SQLite; `chains.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testChainCommands } from './chains.js';

testChainCommands(sqlite);
