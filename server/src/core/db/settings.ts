/** Values that the server keeps in addition to its records, each under a name. */
import type * as z from 'zod/mini';
import { jsonCodec, placed } from './codecs.js';
import type { Database } from './database.js';
import type { Reader, Transaction } from './engine.js';
import { forUpdate } from './locks.js';

/** The URL at which the running server is reached, for links that commands print. */
export const publicUrlSetting = 'public url';

export async function readSetting(reader: Reader, name: string): Promise<string | undefined> {
  const row = await reader.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/** Writes a value. Other writers of it wait until the transaction ends. */
export async function writeSetting(transaction: Transaction, name: string, value: string): Promise<void> {
  await transaction
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Writes a value unless there is one, and returns what there is. */
export async function ensureSetting(transaction: Transaction, name: string, value: string): Promise<string> {
  await transaction
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await transaction
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .$call(forUpdate(transaction))
    .executeTakeFirstOrThrow();
  return row.value;
}

/** A setting of a given shape, as JSON. It has no value if nothing was written, or undefined was. */
export function jsonSetting<T, Stored>(name: string, shape: z.ZodMiniType<T, Stored>) {
  const codec = placed(`the setting "${name}"`, jsonCodec(shape));
  const valueOf = (text: string | undefined): T | undefined => (text ? codec.read(text) : undefined);
  return {
    /** The setting's name among others, and the value that its text means. */
    name,
    valueOf,
    read: async (reader: Reader): Promise<T | undefined> => valueOf(await readSetting(reader, name)),
    /** Other writers of it wait until the transaction ends. */
    lock: async (transaction: Transaction): Promise<T | undefined> =>
      valueOf(await ensureSetting(transaction, name, '')),
    write: (transaction: Transaction, value: T | undefined): Promise<void> =>
      writeSetting(transaction, name, value === undefined ? '' : codec.write(value)),
  };
}

/** More than the free space that a full database usually has left, which is enough for a small write. */
const checkedBytes = 256 * 1024;

/** Tries whether the database can be written. @throws the error of the database */
export async function checkWritable(database: Database): Promise<void> {
  const name = 'write check';
  await database.write((transaction) => writeSetting(transaction, name, 'x'.repeat(checkedBytes)));
  await database.write((transaction) =>
    transaction.deleteFrom('settings').where('name', '=', name).execute(),
  );
}
