/**
 * The seed of test mode's addresses. It is random and kept with the data: test addresses look like real ones, and
 * with a published seed, coins that someone sends to one by mistake would belong to the first person to claim them.
 */
import { randomBytes } from 'node:crypto';
import type { Reader } from '../db/engine.js';
import type { Database } from '../db/database.js';
import { ensureSetting, readSetting } from '../db/settings.js';

const setting = 'test-seed';

/** Makes the seed if there is none. If several servers start at once, they agree on one. */
export async function ensureTestSeed(database: Database): Promise<Uint8Array> {
  const found = await readTestSeed(database.reader);
  if (found) return found;
  const made = randomBytes(32).toString('hex');
  const seed = await database.write((transaction) => ensureSetting(transaction, setting, made));
  return Buffer.from(seed, 'hex');
}

/** @returns undefined if no server has started on this database yet */
export async function readTestSeed(reader: Reader): Promise<Uint8Array | undefined> {
  const seed = await readSetting(reader, setting);
  return seed === undefined ? undefined : Buffer.from(seed, 'hex');
}
