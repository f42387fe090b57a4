/** The interface specification, on PostgreSQL; `spec.test.ts` has it on SQLite. */
import { lastEngine } from './support/engines.js';
import { testSpecification } from './spec.js';

testSpecification(lastEngine);
