/** Every fact of a payment at every outlet on PostgreSQL; `findings.test.ts` has them on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testFindings } from './findings.js';

testFindings(lastEngine);
