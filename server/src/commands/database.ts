/** `database …`: backs up the database. */
import { sql } from 'kysely';
import { createPrivately } from '../db/file-modes.js';
import { UsageError, type Command } from './command.js';

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
};
