/**
 * The migrations of both engines, in order. Never change a migration that has been released: what comes later is
 * declared with `since` and the name of its migration (docs/decisions/0020-tables-declared-once.md).
 *
 * A name that ends in `.additive` promises that the former release works on the new schema, so that replicas can be
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
  unsweptForwarders,
  type Tables,
} from './table.js';
import { createTriggers } from './triggers.js';

/** Whether releases that do not know this migration work on its schema. */
export function isAdditive(migration: string): boolean {
  return migration.endsWith('.additive');
}

export function migrations(engine: Engine, tables: Tables): Record<string, Migration> {
  return {
    [foundation]: {
      async up(db) {
        await createDeclared(db, engine, tables, foundation);
        await createTriggers(db, engine);
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
  };
}
