/** `database …`: a copy of the database, also while the server runs. */
import { sql } from 'kysely';
import { UsageError, type Command } from './command.js';

export const databaseCommands: Readonly<Record<string, Command>> = {
  'database backup': {
    usage: 'database backup FILE',
    help: `Copies a SQLite database as it is at this moment into a new file, also while the server runs.
PostgreSQL has pg_dump for this.`,
    options: {},
    positionals: ['FILE'],
    async run({ database }, _options, [file = '']) {
      if (database.engine !== 'sqlite') throw new UsageError('PostgreSQL is copied by pg_dump');
      await sql`vacuum into ${file}`.execute(database.reader);
      return { json: { file }, text: `The database is copied to ${file}` };
    },
  },
};
