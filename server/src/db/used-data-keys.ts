/**
 * The data keys that values in the database may be encrypted with. A key is noted before the first value is under it,
 * so that a server that lacks it refuses to start, instead of failing at the first value that it cannot read.
 */
import { strings } from './codecs.js';
import type { DataKeys } from '../shared/data-keys.js';
import type { Database } from './database.js';
import { jsonSetting } from './settings.js';

const setting = jsonSetting('data_keys', strings);

/** @returns the ids of keys that values need and that are not there; notes the current one if there are none */
export async function useDataKeys(database: Database, dataKeys: DataKeys): Promise<string[]> {
  const used = (await setting.read(database.reader)) ?? [];
  const missing = used.filter((id) => !dataKeys.ids.includes(id));
  const { current } = dataKeys;
  if (missing.length > 0 || current === undefined || used.includes(current)) return missing;
  await database.write(async (transaction) => {
    // Locked: another server may note its key at the same time.
    const noted = (await setting.lock(transaction)) ?? [];
    await setting.write(transaction, [...new Set([...noted, current])]);
  });
  return [];
}

/** Notes that no value is under another key any more. */
export async function forgetOtherDataKeys(database: Database, current: string): Promise<void> {
  await database.write((transaction) => setting.write(transaction, [current]));
}
