/**
 * The migrations of both engines, in order. Never change a migration that has been released: later changes are declared
 * with `since` and the name of its migration (docs/decisions/0020-tables-declared-once.md).
 *
 * A name that ends in `.additive` promises that the previous release works on the new schema, so that replicas can be
 * replaced one by one: it adds tables, indexes, and columns that may be null, drops indexes, and changes nothing else.
 */
import { sql, type Migration } from 'kysely';
import { createDeclared } from './create-tables.js';
import type { Engine } from './engine.js';
import {
  auditIdentities,
  books,
  foundation,
  growingTables,
  unspentCoins,
  unsweptForwarders,
  type Tables,
} from './table.js';
import { createTriggers } from './triggers.js';

/** True if releases that do not know this migration work on its schema. */
export function isAdditive(migration: string): boolean {
  return migration.endsWith('.additive');
}

export function migrations(engine: Engine, tables: Tables): Record<string, Migration> {
  return {
    [foundation]: {
      async up(db) {
        await createDeclared(db, engine, tables, foundation);
        await createTriggers(db, engine, tables);
      },
    },
    [growingTables]: {
      async up(db) {
        await createDeclared(db, engine, tables, growingTables);
        // `unconfirmed` is in its place. No release needs an index to work.
        await db.schema.dropIndex('receipts_lost').ifExists().execute();
      },
    },
    [books]: { up: (db) => createDeclared(db, engine, tables, books) },
    [unsweptForwarders]: {
      async up(db) {
        await createDeclared(db, engine, tables, unsweptForwarders);
        // More than hold money. The watcher of treasuries takes the others away when it starts.
        await sql`
          insert into unswept_forwarders (mode, network, merchant_id, address)
          select distinct receipts.mode, receipts.network, receipts.merchant_id, receipts.address
          from receipts join addresses on addresses.address = receipts.address and addresses.mode = receipts.mode
          where addresses.source_id like 'forwarder:%' and receipts.status in ('seen', 'confirmed')`.execute(
          db,
        );
      },
    },
    [auditIdentities]: {
      up: (db) => createDeclared(db, engine, tables, auditIdentities),
    },
    [unspentCoins]: {
      async up(db) {
        await createDeclared(db, engine, tables, unspentCoins);
        // More than can be spent: deposits that are not confirmed yet, and what PSBTs hold that are not.
        const isSpent = (of: string) => sql`exists (
          select 1 from psbt_inputs as i join psbts as p on p.id = i.psbt_id
          where i.mode = ${sql.ref(`${of}.mode`)} and i.network = ${sql.ref(`${of}.network`)}
            and i.tx_hash = ${sql.ref(`${of}.tx_hash`)} and i.output_index = ${sql.ref(`${of}.output_index`)}
            and i.is_held = 1 and p.state = 'settled' and p.confirmed_at is not null)`;
        const columns = sql.raw(
          'mode, network, merchant_id, source_id, tx_hash, output_index, amount, branch, derivation_index',
        );
        await sql`
          insert into unspent_coins (${columns})
          select receipts.mode, receipts.network, receipts.merchant_id, addresses.source_id, receipts.tx_hash,
            receipts.output_index, cast(receipts.amount as bigint), 0, addresses.derivation_index
          from receipts join addresses on addresses.address = receipts.address and addresses.mode = receipts.mode
          where receipts.status in ('seen', 'confirmed')
            and exists (select 1 from deposit_keys as k
              where k.source_id = addresses.source_id and k.family in ('bitcoin', 'litecoin'))
            and not ${isSpent('receipts')}`.execute(db);
        await sql`
          insert into unspent_coins (${columns})
          select c.* from (
            select psbts.mode, psbts.network, psbts.merchant_id, psbts.source_id, v.tx_hash,
              (select count(*) from psbt_transfers as t where t.psbt_id = psbts.id) as output_index,
              cast(v.change_amount as bigint), 1, psbts.change_index
            from psbts join psbt_versions as v on v.psbt_id = psbts.id and v.number = psbts.settled_version
            where psbts.state = 'settled' and v.change_amount <> '0' and v.tx_hash is not null
              and psbts.change_index is not null) as c
          where not ${isSpent('c')}`.execute(db);
      },
    },
  };
}
