/** Every fact of a payment at every outlet on SQLite; `findings.long.test.ts` has them on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testFindings } from './findings.js';

testFindings(sqlite);
