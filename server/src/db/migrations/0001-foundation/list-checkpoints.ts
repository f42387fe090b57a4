/** Checkpoints for counting and paging long lists, and the triggers that keep them correct. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { checkpointLock } from '../../checkpoint-lock.js';
import type { Engine } from '../../engine.js';

export async function createListCheckpoints(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('list_checkpoints')
    .addColumn('list', 'text', (c) => c.notNull())
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('ordinal', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('list_checkpoints_key', ['list', 'merchant_id', 'mode', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('list_checkpoints_ordinal')
    .unique()
    .on('list_checkpoints')
    .columns(['list', 'merchant_id', 'mode', 'ordinal'])
    .execute();

  // A row that is inserted before a checkpoint, or leaves the list, moves the ordinals of all checkpoints after it.
  // The triggers delete those checkpoints. Rows of these tables are never deleted, and created_at never changes.
  if (engine === 'postgres') await postgresFunction(db);
  const trigger = engine === 'postgres' ? postgresTrigger : sqliteTrigger;
  const customers = ['customers', 'customers.allowed', 'customers.blacklisted'];
  const subscribers = ['subscribers', 'subscribers.active', 'subscribers.inactive'];
  for (const statement of [
    trigger('payments', 'insert', ['payments']),
    trigger('customers', 'insert', customers),
    trigger('customers', 'update of is_blacklisted', customers),
    trigger('subscribers', 'insert', subscribers),
    trigger('subscribers', 'update of is_active, removed_at', subscribers),
    trigger('transfers', 'insert', ['transfers']),
  ]) {
    await statement.execute(db);
  }
}

const triggerName = (table: string, event: string) => sql.id(`${table}_checkpoints_${event.slice(0, 6)}`);
const names = (lists: readonly string[]) => sql.join(lists.map((list) => sql.lit(list)));

function sqliteTrigger(table: string, event: string, lists: readonly string[]): RawBuilder<unknown> {
  return sql`
    create trigger ${triggerName(table, event)} after ${sql.raw(event)} on ${sql.table(table)} begin
      delete from list_checkpoints
      where list in (${names(lists)}) and merchant_id = new.merchant_id and mode = new.mode
        and (created_at, id) >= (new.created_at, new.id);
    end`;
}

async function postgresFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
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
    end $$`.execute(db);
}

function postgresTrigger(table: string, event: string, lists: readonly string[]): RawBuilder<unknown> {
  return sql`
    create trigger ${triggerName(table, event)} after ${sql.raw(event)} on ${sql.table(table)}
    for each row execute function forget_list_checkpoints(${names(lists)})`;
}
