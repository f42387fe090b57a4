/** Re-encrypts personal data, wherever it is kept, that is not under the current data key. */
import { sql } from 'kysely';
import type { Database } from '../../core/db/database.js';
import { everyPage } from '../../core/db/pages.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import { changeSealed, personalTables, pick, updateCells, type Cells, type PersonalTable } from './sealed.js';

const pageSize = 200;

/**
 * If it is stopped, the completed part remains. A second round finds what servers have written meanwhile.
 * @param onProgress called after each page of a table
 * @returns the number of changed values
 */
export async function rotatePersonalData(
  database: Database,
  personalData: PersonalData,
  onProgress: (table: string, rows: number) => void,
): Promise<number> {
  let changed = 0;
  for (;;) {
    let inRound = 0;
    for (const of of personalTables(database.tables)) {
      inRound += await rotateTable(database, of, personalData, (rows) => onProgress(of.name, rows));
    }
    if (inRound === 0) return changed;
    changed += inRound;
  }
}

async function rotateTable(
  database: Database,
  of: PersonalTable,
  personalData: PersonalData,
  onProgress: (rows: number) => void,
): Promise<number> {
  const { name, key, personal } = of;
  const columns = sql.join(key.map((part) => sql.ref(part)));
  const sealed = Object.keys(personal.columns);
  let [changed, seen] = [0, 0];
  const pages = everyPage<Cells>(pageSize, async (last) => {
    const after = last ? sql`where (${columns}) > (${sql.join(key.map((part) => last[part]))})` : sql``;
    const { rows } = await sql<Cells>`
      select * from ${sql.table(name)} ${after} order by ${columns} limit ${sql.lit(pageSize)}
    `.execute(database.reader);
    return rows;
  });
  for await (const page of pages) {
    // Nulls and empty texts are never encrypted.
    const isOutdated = (value: unknown) =>
      typeof value === 'string' && value !== '' && !personalData.isCurrent(value);
    const outdated = page.filter((row) => sealed.some((column) => isOutdated(row[column])));
    if (outdated.length > 0) {
      await database.write(async (transaction) => {
        for (const row of outdated) {
          const open: Record<string, unknown> = { ...row };
          const set = changeSealed(personalData, of, row, (text, _how, column) => {
            open[column] = text;
            return text;
          });
          // A value that someone changed since it was read is under their key.
          const same = pick(row, [...key, ...sealed]);
          const indexes = personal.index ? personalData.indexColumns(personal.index, open) : {};
          await updateCells(transaction, name, { ...set, ...indexes }, same);
        }
      });
    }
    changed += outdated.length;
    seen += page.length;
    onProgress(seen);
  }
  return changed;
}
