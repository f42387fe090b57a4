/** `database …`: backs up the database, and moves it to another engine. */
import { sql } from 'kysely';
import { errorMessage } from '../core/shared/error-message.js';
import { checkLedger } from '../core/audit/check.js';
import { isScanned } from '../core/scanning/cursors.js';
import { copyDatabase, NotEmpty } from '../core/db/copy.js';
import { openDatabase } from '../database.js';
import { describeDatabase } from '../core/db/open.js';
import { command, type Group } from '../core/commands/command.js';
import { CommandError, UsageError } from '../core/commands/errors.js';
import { writeNewFile } from '../core/commands/files.js';
import * as option from '../core/commands/options.js';
import { counted } from '../core/commands/records.js';

const serverIsRunning =
  'A server is running on this database. Stop it first: what it writes during the copy would be missing. If it has just crashed, try again in a minute. --while-running copies anyway';
const serverWasStarted =
  'A server was started on this database during the copy. What it wrote may be missing: stop it, and copy again into a new database';

export const databaseCommands: Group = {
  name: 'database',
  summary: 'Backups, and the move from SQLite to PostgreSQL or back.',
  commands: {
    backup: command({
      summary: 'Copies the SQLite database to a new file, which only the user who runs the command can read.',
      details: 'The server may keep running: the copy is a consistent snapshot. For PostgreSQL, use pg_dump.',
      args: { file: option.newFile('the new file') },
      async run({ database }, { file }) {
        if (database.engine !== 'sqlite') {
          throw new UsageError('This command works only on SQLite. Back up PostgreSQL with pg_dump');
        }
        // SQLite fills an empty file, and would create a new one with access for other users.
        await writeNewFile(file, () => sql`vacuum into ${file}`.execute(database.reader));
        return { json: { file }, text: `Copied the database to ${file}` };
      },
    }),
    copy: command({
      summary:
        'Copies everything into an empty database, from SQLite to PostgreSQL or back, and creates its tables.',
      details:
        'Stop all servers first: it refuses to start while one is running. Afterwards it counts the rows of every table and checks the ledger of the copy, and exits with 1 if something differs.',
      options: {
        to: option.text('URL', 'the new database, as in DATABASE_URL').required(),
        whileRunning: option.flag(
          'copies although a server is running, as it is at one moment: what the server writes after that, such as a payment that arrives, is missing in the copy. For a trial run only',
        ),
      },
      async run({ database, progress, clock }, { to: url, whileRunning }) {
        const isServerRunning = async () => !whileRunning && (await isScanned(database.reader, clock.real()));
        if (await isServerRunning()) throw new CommandError(serverIsRunning);
        const target = await openDatabase(url).catch((error: unknown) => {
          throw new UsageError(`--to: ${describeDatabase(url)} cannot be opened: ${errorMessage(error)}`);
        });
        try {
          const counts = await copyDatabase(database, target, (table, rows) =>
            progress(`${table}: ${counted(rows, 'row')}`),
          );
          const checks = await target.snapshot((reader) => checkLedger(reader));
          const wrong = [
            ...counts
              .filter((count) => count.source !== count.target)
              .map((count) => `${count.table}: ${count.target} of ${count.source} rows were copied`),
            ...checks.flatMap(({ violations }) => violations),
            ...((await isServerRunning()) ? [serverWasStarted] : []),
          ];
          const rows = counts.reduce((sum, count) => sum + count.target, 0);
          const copied = `Copied ${counted(rows, 'row')} to ${describeDatabase(url)}. All tables have as many rows as before, and the ledger is in order`;
          return {
            json: { rows, tables: counts, violations: wrong },
            text: wrong.join('\n') || copied,
            hasFailed: wrong.length > 0,
          };
        } catch (error) {
          throw error instanceof NotEmpty ? new UsageError(error.message) : error;
        } finally {
          await target.close();
        }
      },
    }),
  },
};
