/** Each table is written by one room, whatever its files are called; and the search for writers finds each way to write. */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { brokenRules, findWrites, type Write } from './table-writers.js';

const sources = resolve(import.meta.dirname, '../../src');

/** Files that write the tables of all rooms. "Rooms" in CONTRIBUTING.md says why. */
const everywhere = [
  'erasure',
  'sandbox/reset.ts',
  'db/copy.ts',
  'db/migrations.ts',
  'db/rows.ts',
  'db/prepared.ts',
  'psbt-payouts/migrations.ts',
];

async function readWrites(): Promise<Write[]> {
  const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const found = await Promise.all(
    files.map(async (file) =>
      // A room is a folder of the core, or a module.
      findWrites(file.replace(/^(core|modules)\//, ''), await readFile(join(sources, file), 'utf8')),
    ),
  );
  return found.flat();
}

describe('each table', () => {
  it('each table is written by one room', async () => {
    expect(brokenRules(await readWrites(), everywhere)).toEqual([]);
  });

  it('each table has a writer that the search finds', async () => {
    const { tables } = await import('../../src/core/db/schema.js');
    const written = new Set((await readWrites()).map(({ table }) => table));
    expect(Object.keys(tables).filter((table) => !written.has(table))).toEqual([]);
  });

  it('each exception writes tables of other rooms', async () => {
    const writes = await readWrites();
    for (const place of everywhere) {
      const rest = everywhere.filter((one) => one !== place);
      expect(brokenRules(writes, rest), place).not.toEqual([]);
    }
  });
});

describe('a second room that writes a table is found', () => {
  const own = findWrites('payments/store.ts', "db.insertInto('payments').values(row)");

  it.each([
    ['with insertInto', "db.insertInto('payments').values(row)"],
    ['with updateTable', "transaction\n  .updateTable('payments')\n  .set(row)"],
    ['with deleteFrom', "(e) => e.deleteFrom('payments')"],
    ['with insertRow', "const insertPayment = insertRow('payments');"],
    ['with preparedInserts', "const insertPayments = preparedInserts('payments');"],
    ['with updateRow', "export const updatePayment = updateRow('payments');"],
    ['with raw SQL', 'sql`insert into payments (id) values (${id})`'],
    ['with a raw update', 'sql<unknown>`UPDATE payments SET state = ${state}`'],
    ['with a raw delete', 'sql`with old as (select 1) delete\n from payments`'],
    ['below a folder', "db.deleteFrom('payments')", 'wallets/deep/list-checkpoints.ts'],
    ['outside the rooms', "db.deleteFrom('payments')", 'server.ts'],
  ])('a second writer of a table %s is found', (_way, text, file = 'wallets/cursors.ts') => {
    const broken = brokenRules([...own, ...findWrites(file, text)], []);
    expect(broken).toHaveLength(1);
    expect(broken[0]).toContain(`payments is written by payments/store.ts:1 and ${file}`);
  });

  it.each([
    ['that the source does not name', 'db.insertInto(table).values(row)'],
    ['in raw SQL that does not name it', 'sql`delete from ${sql.table(table)}`'],
  ])('a write to a table %s is found', (_way, text) => {
    expect(brokenRules(findWrites('wallets/store.ts', text), [])).toEqual([
      'wallets/store.ts:1 writes a table that the source does not name',
    ]);
  });

  it('a room that reads or locks a table is not found', () => {
    const reads = "db.selectFrom('payments').selectAll(); sql`select 1 from payments for update skip locked`";
    expect(findWrites('wallets/store.ts', reads)).toEqual([]);
  });
});
