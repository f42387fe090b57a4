/**
 * The migrations of both engines, in order. Never change a migration that has been released: later changes are declared
 * with `since` and the name of its migration (docs/decisions/0020-tables-declared-once.md).
 *
 * A name that ends in `.additive` promises that the previous release works on the new schema, so that replicas can be
 * replaced one by one: it adds tables, indexes, and columns that may be null, drops indexes, and changes nothing else.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { createDeclared } from './create-tables.js';
import type { Engine } from './engine.js';
import {
  acceptedPayments,
  auditIdentities,
  books,
  earlierEmails,
  foundation,
  growingTables,
  reviewIndex,
  timeZones,
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
  const ofCore = coreMigrations(engine, tables);
  // A module's table names the migration that creates it. Without the module there is none, which every release accepts.
  const others = Object.values(tables).flatMap(({ facts: { since } }) =>
    since in ofCore || !isAdditive(since)
      ? []
      : [[since, { up: (db: Kysely<unknown>) => createDeclared(db, engine, tables, since) }] as const],
  );
  return { ...ofCore, ...Object.fromEntries(others) };
}

function coreMigrations(engine: Engine, tables: Tables): Record<string, Migration> {
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
        // Includes coins that cannot be spent: deposits without confirmations, and coins that were spent meanwhile.
        await sql`
          insert into unspent_coins (mode, network, merchant_id, source_id, tx_hash, output_index, amount, branch,
            derivation_index)
          select receipts.mode, receipts.network, receipts.merchant_id, addresses.source_id, receipts.tx_hash,
            receipts.output_index, cast(receipts.amount as bigint), 0, addresses.derivation_index
          from receipts join addresses on addresses.address = receipts.address and addresses.mode = receipts.mode
          where receipts.status in ('seen', 'confirmed')
            and exists (select 1 from deposit_keys as k
              where k.source_id = addresses.source_id and k.family in ('bitcoin', 'litecoin'))`.execute(db);
        for (const { facts } of Object.values(tables)) await facts.fills[unspentCoins]?.(db);
      },
    },
    [acceptedPayments]: { up: (db) => createDeclared(db, engine, tables, acceptedPayments) },
    [timeZones]: { up: (db) => createDeclared(db, engine, tables, timeZones) },
    '0013-review-index.additive': {
      async up(db) {
        for (const reason of ['late', 'short', 'excess', 'wrong_coin', 'reversed'])
          await db.schema.dropIndex(`payments_${reason}`).ifExists().execute();
      },
    },
    // Their index of the payments to review is replaced by the next one.
    '0014-review-index.additive': { up: async () => undefined },
    [reviewIndex]: {
      async up(db) {
        await db.schema.dropIndex('payments_review').ifExists().execute();
        await createDeclared(db, engine, tables, reviewIndex);
      },
    },
    [earlierEmails]: { up: (db) => createDeclared(db, engine, tables, earlierEmails) },
  };
}
