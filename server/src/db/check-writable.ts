/** Tries whether the database can be written. */
import type { Database } from './database.js';
import { deleteSetting, writeSetting } from './settings.js';

const name = 'write check';
/** More than the free space that a full database usually has left, which is enough for a small write. */
const bytes = 256 * 1024;

/** @throws the error of the database */
export async function checkWritable(database: Database): Promise<void> {
  const value = 'x'.repeat(bytes);
  await database.write((transaction) => writeSetting(transaction, name, value));
  await database.write((transaction) => deleteSetting(transaction, name));
}
