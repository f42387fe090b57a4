/** The console's team, on PostgreSQL; `team.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testTeam } from './team.js';

testTeam(lastEngine);
