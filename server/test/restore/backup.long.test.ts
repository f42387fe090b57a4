/** Backups on PostgreSQL, by `pg_dump` and `pg_restore`; `backup.test.ts` has those on SQLite. */
import { lastEngine } from '../support/engines.js';
import { testBackup } from './backup.js';

testBackup(lastEngine);
