/** The scanner, on SQLite; `scanner.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testScanner } from './scanner.js';

testScanner(sqlite);
