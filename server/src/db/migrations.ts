/** The one migration set for both engines, in order. A migration that has shipped never changes. */
import type { Migration } from 'kysely';
import type { Engine } from './database.js';
import { foundation } from './migrations/0001-foundation.js';
import { webhooks } from './migrations/0003-webhooks.js';

export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001-foundation': { up: (db) => foundation(db, engine) },
    '0003-webhooks': { up: webhooks },
  };
}
