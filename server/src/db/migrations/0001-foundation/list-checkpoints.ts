/** Checkpoints for counting and paging long lists, and the triggers that keep them correct. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
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

  // What comes before a mark, or leaves, moves the ordinals of all marks after it. Nothing of these is ever deleted,
  // and no time of creation changes.
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
      -- A statement of its own, so that the one after it sees the marks that were made while this one waited.
      lock table list_checkpoints in row exclusive mode;
      delete from list_checkpoints
      where list = any(tg_argv) and merchant_id = new.merchant_id and mode = new.mode
        and (created_at, id) >= (new.created_at, new.id);
      return null;
    end $$`.execute(db);
}

function postgresTrigger(table: string, event: string, lists: readonly string[]): RawBuilder<unknown> {
  return sql`
    create trigger ${triggerName(table, event)} after ${sql.raw(event)} on ${sql.table(table)}
    for each row execute function forget_list_checkpoints(${names(lists)})`;
}
