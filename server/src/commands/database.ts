/** `database …`: backs up the database, and moves it to another engine. */
import { sql } from 'kysely';
import { errorMessage } from '../shared/error-message.js';
import { checkLedger } from '../audit/check.js';
import { copyDatabase, NotEmpty } from '../db/copy.js';
import { createPrivately } from '../db/file-modes.js';
import { describeDatabase, openDatabase } from '../db/open.js';
import { required, text, UsageError, type Command } from './command.js';

export const databaseCommands: Readonly<Record<string, Command>> = {
  'database backup': {
    usage: 'database backup FILE',
    help: `Copies the SQLite database to a new file, which only the user who runs the command can read. The server may keep running: the copy is a consistent snapshot. For PostgreSQL, use pg_dump.`,
    options: {},
    positionals: ['FILE'],
    async run({ database }, _options, [file = '']) {
      if (database.engine !== 'sqlite') {
        throw new UsageError('This command works only on SQLite. Back up PostgreSQL with pg_dump');
      }
      // SQLite fills an empty file, and would create a new one with access for other users.
      createPrivately(file);
      await sql`vacuum into ${file}`.execute(database.reader);
      return { json: { file }, text: `Copied the database to ${file}` };
    },
  },
  'database copy': {
    usage: 'database copy --to URL',
    help: `Copies everything into an empty database, from SQLite to PostgreSQL or back, and creates its tables. Stop all servers first: what they write meanwhile is not copied. Afterwards it counts the rows of every table and checks the ledger of the copy, and exits with 1 if something differs.

  --to URL        the new database, as in DATABASE_URL`,
    options: { to: text },
    positionals: [],
    async run({ database, progress }, options) {
      const url = required(options, 'to');
      const target = await openDatabase(url).catch((error: unknown) => {
        throw new UsageError(`--to: ${describeDatabase(url)} cannot be opened: ${errorMessage(error)}`);
      });
      try {
        const counts = await copyDatabase(database, target, (table, rows) =>
          progress(`${table}: ${rows} rows`),
        );
        const checks = await target.snapshot((reader) => checkLedger(reader));
        const wrong = [
          ...counts
            .filter((count) => count.source !== count.target)
            .map((count) => `${count.table}: ${count.target} of ${count.source} rows were copied`),
          ...checks.flatMap(({ violations }) => violations),
        ];
        const rows = counts.reduce((sum, count) => sum + count.target, 0);
        return {
          json: { rows, tables: counts, violations: wrong },
          text:
            wrong.length === 0
              ? `Copied ${rows} rows to ${describeDatabase(url)}. All tables have as many rows as before, and the ledger is in order`
              : wrong.join('\n'),
          hasFailed: wrong.length > 0,
        };
      } catch (error) {
        throw error instanceof NotEmpty ? new UsageError(error.message) : error;
      } finally {
        await target.close();
      }
    },
  },
};
