/** The commands about chains, on PostgreSQL; `chains.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testChainCommands } from './chains.js';

testChainCommands(lastEngine);
