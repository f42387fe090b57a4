/** A database that was restored from an older backup, on SQLite; `restore.long.test.ts` has it on PostgreSQL. */
import { sqlite } from '../support/engines.js';
import { testRestoreOnEvm } from './evm.js';
import { testRestoreOnLitecoin } from './litecoin.js';

testRestoreOnEvm(sqlite);
testRestoreOnLitecoin(sqlite);
