/**
 * The data keys that values in the database may be encrypted with. A key is noted before the first value is under it,
 * so that a server that lacks it refuses to start, instead of failing at the first value that it cannot read.
 */
import { strings } from './codecs.js';
import type { DataKeys } from '../shared/data-keys.js';
import { StartError } from '../shared/start-error.js';
import type { Database } from './database.js';
import { jsonSetting } from './settings.js';

const setting = jsonSetting('data_keys', strings);

/**
 * Notes the current key.
 * @throws StartError if a key is missing. Without it, only the first unreadable value would reveal that
 */
export async function useDataKeys(database: Database, dataKeys: DataKeys): Promise<void> {
  const used = (await setting.read(database.reader)) ?? [];
  const missing = used.filter((id) => !dataKeys.ids.includes(id));
  const { current } = dataKeys;
  if (missing.length > 0) {
    const state = current === undefined ? 'it is not set' : 'it does not have that key';
    throw new StartError(
      `DATA_KEY_FILE: values in the database are encrypted with the key ${missing.join(', ')}, and ${state}`,
    );
  }
  if (current === undefined || used.includes(current)) return;
  await database.write(async (transaction) => {
    // Locked: another server may note its key at the same time.
    const noted = (await setting.lock(transaction)) ?? [];
    await setting.write(transaction, [...new Set([...noted, current])]);
  });
}

/** Notes that no value is under another key any more. */
export async function forgetOtherDataKeys(database: Database, current: string): Promise<void> {
  await database.write((transaction) => setting.write(transaction, [current]));
}
