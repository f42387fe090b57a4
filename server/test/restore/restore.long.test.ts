/** A database that was restored from an older backup, on PostgreSQL; `restore.test.ts` has it on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testRestoreOnEvm } from './evm.js';
import { testRestoreOnLitecoin } from './litecoin.js';

testRestoreOnEvm(lastEngine);
testRestoreOnLitecoin(lastEngine);
