/**
 * The migrations of both engines, in order. Never change a migration that has been released.
 *
 * A name that ends in `.additive` promises that the former release works on the new schema, so that replicas can be
 * replaced one by one: it adds tables, indexes, and columns that have a default or may be null, and changes nothing else.
 */
import type { Migration } from 'kysely';
import { createFoundation } from './migrations/0001-foundation/foundation.js';
import type { Engine } from './engine.js';

/** Whether releases that do not know this migration work on its schema. */
export function isAdditive(migration: string): boolean {
  return migration.endsWith('.additive');
}

export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001-foundation': { up: (db) => createFoundation(db, engine) },
  };
}
