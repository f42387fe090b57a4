/** The gas key on SQLite; `gas-sweeper.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testGasSweeper } from './gas-sweeper.js';

testGasSweeper(sqlite);
