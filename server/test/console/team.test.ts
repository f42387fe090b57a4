/** The console's team, on SQLite; `team.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testTeam } from './team.js';

testTeam(sqlite);
