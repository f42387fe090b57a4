/** The gas key on PostgreSQL; `gas-sweeper.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testGasSweeper } from './gas-sweeper.js';

testGasSweeper(lastEngine);
