/** Starts PgBouncer before PostgreSQL, for tests behind a pooler. */
import { reportSkipped } from '../../../test/missing.js';
import { findPgbouncer, startPgbouncer } from '../../../scripts/find-pgbouncer.mjs';

const found = await findPgbouncer();
if ('reason' in found) reportSkipped('The tests behind PgBouncer', found.reason);

/** True if there is one; otherwise its tests are skipped. */
export const hasPgbouncer = 'path' in found;

export interface Pooler {
  /** In the format of `DATABASE_URL`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** @param settings of `pgbouncer.ini`, in addition to those that most installations have */
export async function startPooler(
  target: string,
  settings?: Readonly<Record<string, string | number>>,
): Promise<Pooler> {
  if (!('path' in found)) throw new Error(found.reason);
  return startPgbouncer(found.path, target, settings);
}
