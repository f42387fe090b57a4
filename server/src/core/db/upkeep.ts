/** Keeps the database answering, its plans and lists fast, and the server's time that of the database; and says how full it is. */
import type { Feature } from '../shared/feature.js';
import type { Database } from './database.js';
import { extendCheckpoints } from './list-checkpoints.js';
import type { ServerTime } from './server-time.js';
import { readSize } from './size.js';

export const createUpkeep = (database: Database, serverTime: ServerTime): Feature => ({
  jobs: () => [
    // Also where nobody asks /readyz: it ends connections whose other end is gone.
    { name: 'database', intervalMs: 5000, run: () => database.ping() },
    { name: 'server time', intervalMs: 5000, run: () => serverTime.measure() },
    { name: 'statistics', intervalMs: 600_000, run: () => database.gatherStatistics() },
    { name: 'list checkpoints', intervalMs: 60_000, run: (signal) => extendCheckpoints(database, signal) },
  ],
  figures: () => [
    // First, so that it does not count the queries of the scrape itself, which the others start.
    ...(database.connections() === undefined
      ? []
      : [
          {
            name: 'checkout_database_connections',
            help: "This process's database connections, and the requests waiting for one",
            labels: ['state'],
            read: () =>
              Object.entries({ ...database.connections() }).map(
                ([state, count]) => [{ state }, count] as const,
              ),
          },
        ]),
    {
      name: 'checkout_database_bytes',
      help: 'The size of the database',
      labels: [],
      read: async () => [[{}, (await readSize(database)).bytes]],
    },
    {
      name: 'checkout_disk_used',
      help: 'The used part of the disk with the SQLite file, 0 to 1',
      labels: [],
      read: async () => [[{}, (await readSize(database)).diskUsed]],
    },
  ],
});
