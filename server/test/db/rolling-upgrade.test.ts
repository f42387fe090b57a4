/** The next release has migrated the database while servers of this release are running, or start again. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { call } from '../support/call.js';
import { engines } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

/** Adds a column to every table that this release reads whole, and a table, as an additive migration may. */
async function migrateFurther(databaseUrl: string, name: string): Promise<void> {
  const database = await openDatabase(databaseUrl);
  await database.write(async (transaction) => {
    for (const table of ['payments', 'receipts', 'log_entries', 'addresses', 'merchants', 'transfers']) {
      await sql`alter table ${sql.table(table)} add column next_release text default 'x'`.execute(
        transaction,
      );
    }
    await sql`create table next_release (id text primary key)`.execute(transaction);
    await sql`insert into kysely_migration (name, timestamp) values (${name}, 'now')`.execute(transaction);
  });
  await database.close();
}

async function payUntilSuccess(server: TestServer): Promise<string> {
  const records = createRecords(server);
  const id = await records.paidPayment('ethereum');
  await expect
    .poll(async () => (await server.api('GET', `/v1/transactions/${id}/verify`)).body.data['status'])
    .toBe('success');
  return id;
}

describe.each(engines)('An additive migration of the next release, on $name', (engine) => {
  it('Servers of this release keep working after an additive migration of the next release, and can start again', async () => {
    const first = await startServer({ engine });
    // Its statements are prepared by now, for the columns that the tables had then.
    const before = await payUntilSuccess(first);
    await migrateFurther(first.databaseUrl, '0002-next.additive');
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => first.api('GET', `/v1/transactions/${before}/verify`)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const after = await payUntilSuccess(first);
    if (engine.name === 'PostgreSQL') {
      // A second replica, of this release too, is started by an operator who has not upgraded it yet.
      const second = await startServer({
        engine,
        databaseUrl: first.databaseUrl,
        env: { BOOTSTRAP_SECRET_KEY: first.secretKey },
      });
      const { status } = await call(second.url, 'GET', `/v1/payments/${after}`, { key: first.secretKey });
      expect(status).toBe(200);
      await second.stop();
    }
    await first.stop();
  });

  it('A migration of the next release whose name is not additive keeps this release from starting', async () => {
    const database = await engine.create();
    await migrateFurther(database.url, '0002-next');
    await expect(openDatabase(database.url)).rejects.toThrow('newer release (0002-next)');
    await database.dispose();
  });
});
