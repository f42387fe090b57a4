/** The migrations of both engines, in order. Never change a migration that has been released. */
import type { Migration } from 'kysely';
import { createFoundation } from './migrations/0001-foundation/foundation.js';
import type { Engine } from './engine.js';

export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001-foundation': { up: (db) => createFoundation(db, engine) },
  };
}
