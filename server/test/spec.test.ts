/** The interface specification, on SQLite; `spec.long.test.ts` has it on PostgreSQL. */
import { sqlite } from './support/engines.js';
import { testSpecification } from './spec.js';

testSpecification(sqlite);
