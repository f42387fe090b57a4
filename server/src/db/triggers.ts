/** The triggers: the audit log is append-only, and list checkpoints stay correct when their lists change. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { checkpointLock } from './checkpoint-lock.js';
import type { Engine } from './engine.js';

export async function createTriggers(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const statements =
    engine === 'sqlite'
      ? [...sqliteAuditTriggers(), ...checkpointTriggers(sqliteCheckpointTrigger)]
      : [
          ...postgresAuditTrigger(),
          forgetListCheckpoints(),
          ...checkpointTriggers(postgresCheckpointTrigger),
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

type CheckpointTrigger = (table: string, event: string, lists: readonly string[]) => Statement;

/**
 * A row that is inserted before a checkpoint, or leaves the list, moves the ordinals of all checkpoints after it. The
 * triggers delete those checkpoints. Rows of these tables are never deleted, and created_at never changes.
 */
function checkpointTriggers(trigger: CheckpointTrigger): Statement[] {
  const customers = ['customers', 'customers.allowed', 'customers.blacklisted'];
  const subscribers = ['subscribers', 'subscribers.active', 'subscribers.inactive'];
  return [
    trigger('payments', 'insert', ['payments']),
    trigger('customers', 'insert', customers),
    trigger('customers', 'update of is_blacklisted', customers),
    trigger('subscribers', 'insert', subscribers),
    trigger('subscribers', 'update of is_active, removed_at', subscribers),
    trigger('transfers', 'insert', ['transfers']),
  ];
}

const triggerName = (table: string, event: string) => sql.id(`${table}_checkpoints_${event.slice(0, 6)}`);
const names = (lists: readonly string[]) => sql.join(lists.map((list) => sql.lit(list)));

function sqliteCheckpointTrigger(table: string, event: string, lists: readonly string[]): Statement {
  return sql`
    create trigger ${triggerName(table, event)} after ${sql.raw(event)} on ${sql.table(table)} begin
      delete from list_checkpoints
      where list in (${names(lists)}) and merchant_id = new.merchant_id and mode = new.mode
        and (created_at, id) >= (new.created_at, new.id);
    end`;
}

function forgetListCheckpoints(): Statement {
  return sql`
    create function forget_list_checkpoints() returns trigger language plpgsql as $$
    begin
      -- A separate statement, so that the next one sees the checkpoints that were added while this one waited.
      perform pg_advisory_xact_lock_shared(${sql.lit(checkpointLock)});
      -- Most rows are the newest of their list. For them, one index lookup is enough.
      if exists (
        select from list_checkpoints
        where list = any(tg_argv) and merchant_id = new.merchant_id and mode = new.mode
          and (created_at, id) >= (new.created_at, new.id)
      ) then
        delete from list_checkpoints
        where list = any(tg_argv) and merchant_id = new.merchant_id and mode = new.mode
          and (created_at, id) >= (new.created_at, new.id);
      end if;
      return null;
    end $$`;
}

function postgresCheckpointTrigger(table: string, event: string, lists: readonly string[]): Statement {
  return sql`
    create trigger ${triggerName(table, event)} after ${sql.raw(event)} on ${sql.table(table)}
    for each row execute function forget_list_checkpoints(${names(lists)})`;
}
