/** The triggers: the audit log is append-only, and list checkpoints stay correct when their lists change. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Engine } from './engine.js';
import { longListsOf, type Tables } from './table.js';
import { checkpointLock } from './tables/lists.js';

export async function createTriggers(db: Kysely<unknown>, engine: Engine, tables: Tables): Promise<void> {
  const statements =
    engine === 'sqlite'
      ? [...sqliteAuditTriggers(), ...checkpointTriggers(tables, sqliteCheckpointTrigger)]
      : [
          ...postgresAuditTrigger(),
          forgetListCheckpoints(),
          ...checkpointTriggers(tables, postgresCheckpointTrigger),
        ];
  for (const statement of statements) await statement.execute(db);
}

type Statement = RawBuilder<unknown>;

function sqliteAuditTriggers(): Statement[] {
  const refuse = (name: string, event: string) => sql`
    create trigger ${sql.id(`audit_log_no_${name}`)} before ${sql.raw(event)}
    begin select raise(abort, 'audit_log is append-only'); end`;
  return [
    refuse('update', 'update on audit_log'),
    refuse('delete', 'delete on audit_log'),
    // `insert or replace` deletes rows without a delete trigger.
    refuse('replace', 'insert on audit_log when exists (select 1 from audit_log where id = new.id)'),
  ];
}

function postgresAuditTrigger(): Statement[] {
  return [
    sql`
    create function refuse_audit_log_change() returns trigger language plpgsql as $$
    begin raise exception 'audit_log is append-only'; end $$`,
    // For each statement, so that truncate is refused too.
    sql`
    create trigger audit_log_append_only before delete or update or truncate on audit_log
    for each statement execute function refuse_audit_log_change()`,
  ];
}

type CheckpointTrigger = (list: string, event: 'insert' | 'update', when: RawBuilder<unknown>) => Statement;

/**
 * A row that is inserted before a checkpoint, or changes in a column that its list is filtered by, changes the counts
 * of its segment. The triggers delete those, so that the segment is counted row by row until a job has done so.
 */
function checkpointTriggers(tables: Tables, trigger: CheckpointTrigger): Statement[] {
  return longListsOf(tables).flatMap(([list, { filters, isListed }]) => {
    const watched = [...Object.values(filters), ...(isListed ? [isListed] : [])];
    const changes = watched.map((part) => `(${part('old.')}) is distinct from (${part('new.')})`);
    return [trigger(list, 'insert', sql`true`), trigger(list, 'update', sql.raw(changes.join(' or ')))];
  });
}

const triggerName = (table: string, event: string) => sql.id(`${table}_checkpoints_${event}`);

/** The checkpoints from a new or changed row on, of one list. @param list SQL */
const checkpointsFrom = (list: RawBuilder<unknown>) => sql`list_checkpoints
  where list = ${list} and merchant_id = new.merchant_id and mode = new.mode and filter = ''
    and (created_at, id) >= (new.created_at, new.id)`;

function sqliteCheckpointTrigger(list: string, event: string, when: RawBuilder<unknown>): Statement {
  const checkpoints = checkpointsFrom(sql.lit(list));
  const segment = sql`list = ${sql.lit(list)} and merchant_id = new.merchant_id and mode = new.mode
    and (created_at, id) = (select created_at, id from ${checkpoints} order by created_at, id limit 1)`;
  return sql`
    create trigger ${triggerName(list, event)} after ${sql.raw(event)} on ${sql.table(list)}
    -- Most rows are the newest of their list. For them, one index lookup is enough.
    when (${when}) and exists (select 1 from ${checkpoints})
    begin
      delete from list_checkpoints where ${segment} and filter <> '';
      update list_checkpoints set row_count = null where ${segment} and filter = '' and row_count is not null;
    end`;
}

function forgetListCheckpoints(): Statement {
  return sql`
    create function forget_list_checkpoints() returns trigger language plpgsql as $$
    declare segment record;
    begin
      -- A separate statement, so that the next one sees the checkpoints that were added while this one waited.
      perform pg_advisory_xact_lock_shared(${sql.lit(checkpointLock)});
      -- Most rows are the newest of their list. For them, one index lookup is enough.
      select created_at, id, row_count into segment from ${checkpointsFrom(sql`tg_table_name`)}
      order by created_at, id limit 1;
      if segment.row_count is not null then
        update list_checkpoints set row_count = null
        where list = tg_table_name and merchant_id = new.merchant_id and mode = new.mode and filter = ''
          and created_at = segment.created_at and id = segment.id and row_count is not null;
        delete from list_checkpoints
        where list = tg_table_name and merchant_id = new.merchant_id and mode = new.mode and filter <> ''
          and created_at = segment.created_at and id = segment.id;
      end if;
      return null;
    end $$`;
}

function postgresCheckpointTrigger(list: string, event: string, when: RawBuilder<unknown>): Statement {
  return sql`
    create trigger ${triggerName(list, event)} after ${sql.raw(event)} on ${sql.table(list)}
    for each row when (${when}) execute function forget_list_checkpoints()`;
}
