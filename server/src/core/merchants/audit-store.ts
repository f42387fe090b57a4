/** Reads and appends entries of the audit log. The database refuses to change or delete them. */
import { sql, type Expression, type Insertable, type Selectable, type SqlBool } from 'kysely';
import { inChunks } from '../db/chunks.js';
import type { AuditLogTable, Schema } from '../db/schema.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import { ensureSetting, readSetting, writeSetting } from '../db/settings.js';
import { countWithin, everyPage, isCreatedWithin, type CreationRange } from '../db/pages.js';
import { having } from '../db/rows.js';

const headSetting = 'audit-log-head';
const rowsPerRead = 1000;

interface EntryFilter extends CreationRange {
  readonly action?: string | undefined;
  /** The beginnings of a person's `actor`, one for each role. */
  readonly actors?: readonly string[] | undefined;
}

/** The entries of one merchant, or of all. */
export interface AuditFilter extends EntryFilter {
  readonly merchantId?: string | undefined;
}

/** The hash of the newest entry, or an empty text. Other writers of entries wait until the transaction ends. */
export function lockHead(transaction: Transaction): Promise<string> {
  return ensureSetting(transaction, headSetting, '');
}

export async function readHead(reader: Reader): Promise<string> {
  return (await readSetting(reader, headSetting)) ?? '';
}

/** Adds the newest entry, under the lock of `lockHead`. */
export async function insertEntry(transaction: Transaction, row: Omit<Insertable<AuditLogTable>, 'id'>) {
  await transaction.insertInto('audit_log').values(row).execute();
  await writeSetting(transaction, headSetting, row.hash);
}

/** Keeps the first of one id. */
export async function insertIdentity(
  transaction: Transaction,
  row: Schema['audit_identities'],
): Promise<void> {
  await transaction
    .insertInto('audit_identities')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export const findIdentities = (reader: Reader, ids: readonly string[]) =>
  inChunks(ids, (chunk) =>
    reader.selectFrom('audit_identities').select(['id', 'value']).where('id', 'in', chunk).execute(),
  );

/** Deletes all that is known of the people with an e-mail address. @returns their ids */
export async function deleteIdentities(
  transaction: Transaction,
  merchantId: string,
  emailIndexes: readonly string[],
): Promise<string[]> {
  const found = await transaction
    .selectFrom('audit_identities')
    .select('person_id')
    .where('merchant_id', '=', merchantId)
    .where('email_index', 'in', emailIndexes)
    .execute();
  const ids = found.map((row) => row.person_id);
  if (ids.length > 0)
    await transaction.deleteFrom('audit_identities').where('person_id', 'in', ids).execute();
  return ids;
}

/** Oldest first. By the time, since SQLite would read the whole log for those of the last minute in the order of their ids. */
export function listEntries(reader: Reader, { merchantId, action, actors, ...range }: AuditFilter) {
  return reader
    .selectFrom('audit_log')
    .selectAll()
    .$call(having({ merchant_id: merchantId, action }))
    .where(isBy(actors))
    .where(isCreatedWithin('audit_log', range, 'time'))
    .orderBy('time')
    .orderBy('id')
    .execute();
}

/** The end of a list: requests for older entries give a time. */
const mostListed = 10_000;

export type PageFilter = PageRequest & EntryFilter;

/** A `where` condition: entries of a person; all entries if it is undefined. */
function isBy(actors: readonly string[] | undefined): Expression<SqlBool> {
  if (actors === undefined) return sql<SqlBool>`true`;
  const each = actors.map((begin) => sql`substr(actor, 1, ${begin.length}) = ${begin}`);
  return sql<SqlBool>`(${sql.join(each, sql` or `)})`;
}

/**
 * Entries of a merchant, of one mode and of both together, newest first. A search reads only the newest, so that it ends
 * even if it finds nothing.
 */
export async function pageOfEntries(
  reader: Reader,
  { merchantId, mode }: Scope,
  { page, skip, action, actors, ...range }: PageFilter,
): Promise<Page<Selectable<AuditLogTable>>> {
  const listed = reader
    .selectFrom('audit_log')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where((e) => e.or([e('mode', '=', mode), e('mode', 'is', null)]))
    .where(isCreatedWithin('audit_log', range, 'time'))
    .orderBy('id', 'desc');
  const query = reader
    .selectFrom(listed.limit(mostListed).as('audit_log'))
    .selectAll()
    .$call(having({ action }))
    .where(isBy(actors))
    .orderBy('id', 'desc');
  const offset = (page - 1) * skip;
  const rows = offset < mostListed ? await query.limit(skip).offset(offset).execute() : [];
  return { rows, total: await countWithin(query, { reader, mostListed }) };
}

/** Every entry, oldest first, read in parts. */
export async function* everyEntry(reader: Reader): AsyncGenerator<Selectable<AuditLogTable>> {
  const pages = everyPage<Selectable<AuditLogTable>>(rowsPerRead, (after) =>
    reader
      .selectFrom('audit_log')
      .selectAll()
      .where('id', '>', after?.id ?? -1)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute(),
  );
  for await (const rows of pages) yield* rows;
}
