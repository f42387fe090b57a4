/** The audit log. Its rows can only be added: triggers refuse every change, whoever tries it. */
import { sql, type Kysely } from 'kysely';
import type { Engine } from '../../engine.js';

export async function createAuditLog(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('audit_log')
    .addColumn('id', engine === 'sqlite' ? 'integer' : 'bigserial', (c) =>
      engine === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('time', 'bigint', (c) => c.notNull())
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text')
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('subject_id', 'text', (c) => c.notNull())
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .execute();
  await db.schema.createIndex('audit_log_merchant').on('audit_log').columns(['merchant_id', 'id']).execute();
  await db.schema.createIndex('audit_log_time').on('audit_log').columns(['time', 'id']).execute();

  if (engine === 'sqlite') {
    for (const event of ['update', 'delete']) {
      await sql`
        create trigger ${sql.id(`audit_log_no_${event}`)} before ${sql.raw(event)} on audit_log
        begin select raise(abort, 'audit_log is append-only'); end`.execute(db);
    }
    return;
  }
  await sql`
    create function refuse_audit_log_change() returns trigger language plpgsql as $$
    begin raise exception 'audit_log is append-only'; end $$`.execute(db);
  // For each statement, so that truncate is refused too.
  await sql`
    create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_audit_log_change()`.execute(db);
}
