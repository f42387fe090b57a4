/** Tries whether the database can be written. */
import type { Database } from './database.js';

const name = 'write check';
/** More than the free space that a full database usually has left, which is enough for a small write. */
const bytes = 256 * 1024;

/** @throws the error of the database */
export async function checkWritable(database: Database): Promise<void> {
  const value = 'x'.repeat(bytes);
  await database.write(async (transaction) => {
    await transaction
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  });
  await database.write((transaction) =>
    transaction.deleteFrom('settings').where('name', '=', name).execute(),
  );
}
