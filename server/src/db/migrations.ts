/** The one migration set for both engines, in order. A migration that has shipped never changes. */
import type { Migration } from 'kysely';
import type { Engine } from './database.js';
import { foundation } from './migrations/0001-foundation.js';
import { records } from './migrations/0002-records.js';
import { webhooks } from './migrations/0003-webhooks.js';
import { transfers } from './migrations/0004-transfers.js';
import { plans } from './migrations/0005-plans.js';
import { wallets } from './migrations/0006-wallets.js';
import { listMarks } from './migrations/0007-list-marks.js';

export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001-foundation': { up: (db) => foundation(db, engine) },
    '0002-records': { up: records },
    '0003-webhooks': { up: webhooks },
    '0004-transfers': { up: transfers },
    '0005-plans': { up: plans },
    '0006-wallets': { up: wallets },
    '0007-list-marks': { up: (db) => listMarks(db, engine) },
  };
}
