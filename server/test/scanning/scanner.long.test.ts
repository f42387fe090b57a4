/** The scanner, on PostgreSQL; `scanner.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testScanner } from './scanner.js';

testScanner(lastEngine);
