/** Reads and writes the people of the console, their links and their sessions. */
import type { Reader, Transaction } from '../../core/db/engine.js';
import { inChunks } from '../../core/db/chunks.js';
import { forUpdate } from '../../core/db/locks.js';
import { having, insertRow, rowById, updateRow } from '../../core/db/rows.js';
import type { Schema } from '../../core/db/schema.js';
import type { PasskeyTable, PersonTable, SessionTable } from './tables.js';

export interface MemberRow extends PersonTable {
  readonly sessions: number;
  readonly passkeys: number;
}

export function findPerson(reader: Reader, id: string): Promise<PersonTable | undefined> {
  return rowById(reader, 'people', id).executeTakeFirst();
}

/** Those who are still in a team. */
export const findPeople = (reader: Reader, ids: readonly string[]) =>
  inChunks(ids, (chunk) =>
    reader.selectFrom('people').select(['id', 'email']).where('id', 'in', chunk).execute(),
  );

/** @param emailIndexes the indexes by which the email may be found */
export function findByEmail(reader: Reader, merchantId: string, emailIndexes: readonly string[]) {
  return reader
    .selectFrom('people')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('email_index', 'in', emailIndexes)
    .executeTakeFirst();
}

/** The people of one merchant, or of all. @param now sessions that have ended by then do not count */
export async function listPeople(
  reader: Reader,
  merchantId: string | undefined,
  live: { readonly now: number; readonly usedAfter: number },
): Promise<MemberRow[]> {
  const rows = await reader
    .selectFrom('people')
    .selectAll('people')
    .select((e) =>
      e
        .selectFrom('sessions')
        .select((count) => count.fn.countAll<number>().as('count'))
        .whereRef('sessions.person_id', '=', 'people.id')
        .where('sessions.expires_at', '>', live.now)
        .where('sessions.last_used_at', '>', live.usedAfter)
        .as('sessions'),
    )
    .select((e) =>
      e
        .selectFrom('passkeys')
        .select((count) => count.fn.countAll<number>().as('count'))
        .whereRef('passkeys.person_id', '=', 'people.id')
        .as('passkeys'),
    )
    .$call(having({ merchant_id: merchantId }))
    .execute();
  // A count is never null.
  return rows as MemberRow[];
}

export const findTeam = (reader: Reader, merchantId: string): Promise<PersonTable[]> =>
  reader.selectFrom('people').selectAll().where('merchant_id', '=', merchantId).orderBy('id').execute();

/** The people of a merchant, whose team nobody else changes until the transaction ends. */
export async function lockTeam(transaction: Transaction, merchantId: string): Promise<PersonTable[]> {
  await rowById(transaction, 'merchants', merchantId).$call(forUpdate(transaction)).executeTakeFirst();
  return findTeam(transaction, merchantId);
}

export const insertPerson = insertRow('people');
export const updatePerson = updateRow('people');

export async function deletePerson(transaction: Transaction, id: string): Promise<void> {
  await transaction.deleteFrom('people').where('id', '=', id).execute();
}

/** A new link replaces the previous one. */
export async function putLink(transaction: Transaction, row: Schema['sign_in_links']): Promise<void> {
  await deleteLink(transaction, row.person_id);
  await transaction.insertInto('sign_in_links').values(row).execute();
}

export async function deleteLink(transaction: Transaction, personId: string): Promise<void> {
  await transaction.deleteFrom('sign_in_links').where('person_id', '=', personId).execute();
}

/**
 * Takes a link away, so that nobody uses it again: of two who try at once, one gets it.
 * @returns its owner; undefined if there is none, or its time is over
 */
export async function takeLink(transaction: Transaction, digest: string, now: number) {
  const row = await transaction
    .deleteFrom('sign_in_links')
    .where('token_digest', '=', digest)
    .where('expires_at', '>', now)
    .returning('person_id')
    .executeTakeFirst();
  return row?.person_id;
}

export const insertSession = insertRow('sessions');

/** A session with the person whose it is. */
export function findSession(reader: Reader, digest: string) {
  return reader
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select(['people.merchant_id', 'people.email', 'people.role', 'people.id as person_id'])
    .select(['sessions.id', 'sessions.created_at', 'sessions.last_used_at', 'sessions.expires_at'])
    .where('sessions.token_digest', '=', digest)
    .executeTakeFirst();
}

export function findSessions(reader: Reader, ids: readonly string[]) {
  return reader
    .selectFrom('sessions')
    .select(['id', 'last_used_at', 'expires_at'])
    .where('id', 'in', ids)
    .execute();
}

/** Newest first. */
export function listSessions(reader: Reader, personId: string): Promise<SessionTable[]> {
  return reader
    .selectFrom('sessions')
    .selectAll()
    .where('person_id', '=', personId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Of everybody in a merchant's team. */
export function listTeamSessions(reader: Reader, merchantId: string) {
  return reader
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .selectAll('sessions')
    .select(['people.email', 'people.role'])
    .where('people.merchant_id', '=', merchantId)
    .execute();
}

/** @returns the session's owner; undefined if nobody in the merchant's team has this session */
export async function findHolder(reader: Reader, merchantId: string, sessionId: string) {
  const row = await reader
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select('people.id')
    .where('people.merchant_id', '=', merchantId)
    .where('sessions.id', '=', sessionId)
    .executeTakeFirst();
  return row?.id;
}

/** @returns true if there was such a session */
export async function deleteSession(transaction: Transaction, personId: string, sessionId: string) {
  const row = await transaction
    .deleteFrom('sessions')
    .where((e) => e.and({ id: sessionId, person_id: personId }))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteSessionByToken(transaction: Transaction, digest: string): Promise<void> {
  await transaction.deleteFrom('sessions').where('token_digest', '=', digest).execute();
}

/** @returns the number of sessions deleted */
export async function deleteSessions(transaction: Transaction, personId: string): Promise<number> {
  const rows = await transaction
    .deleteFrom('sessions')
    .where('person_id', '=', personId)
    .returning('id')
    .execute();
  return rows.length;
}

/** Writes when sessions were used, by id, unless another server has seen a later use. */
export async function writeUses(transaction: Transaction, uses: ReadonlyMap<string, number>): Promise<void> {
  for (const [id, last_used_at] of uses) {
    await transaction
      .updateTable('sessions')
      .set({ last_used_at })
      .where('id', '=', id)
      .where('last_used_at', '<', last_used_at)
      .execute();
  }
}

/** Oldest first. */
export function listPasskeys(reader: Reader, personId: string): Promise<PasskeyTable[]> {
  return reader
    .selectFrom('passkeys')
    .selectAll()
    .where('person_id', '=', personId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** A passkey, locked: it is used by one sign-in at a time. */
export function lockPasskey(transaction: Transaction, id: string): Promise<PasskeyTable | undefined> {
  return rowById(transaction, 'passkeys', id).$call(forUpdate(transaction)).executeTakeFirst();
}

export const insertPasskey = insertRow('passkeys');
export const updatePasskey = updateRow('passkeys');

/** @returns its name; undefined if the person has no such passkey */
export async function deletePasskey(transaction: Transaction, personId: string, id: string) {
  const row = await transaction
    .deleteFrom('passkeys')
    .where((e) => e.and({ id, person_id: personId }))
    .returning('name')
    .executeTakeFirst();
  return row?.name;
}

/** @returns true if nobody has answered the challenge before */
export async function answerChallenge(transaction: Transaction, digest: string, expiresAt: number) {
  const row = await transaction
    .insertInto('answered_challenges')
    .values({ digest, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes sessions, links and answered challenges whose time is over. */
export async function deleteEnded(transaction: Transaction, now: number, usedBefore: number): Promise<void> {
  await transaction
    .deleteFrom('sessions')
    .where((e) => e.or([e('expires_at', '<=', now), e('last_used_at', '<=', usedBefore)]))
    .execute();
  await transaction.deleteFrom('sign_in_links').where('expires_at', '<=', now).execute();
  await transaction.deleteFrom('answered_challenges').where('expires_at', '<=', now).execute();
}
