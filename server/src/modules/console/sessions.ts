/** Sessions of the console: how they begin, whom they name, and how they end. */
import type { AuditLog } from '../../core/merchants/audit-log.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import type { RoomDeps } from '../../core/db/room-deps.js';
import type { Transaction } from '../../core/db/engine.js';
import { retention } from '../../core/shared/retention.js';
import { newToken, tokenDigest } from '../../core/shared/token.js';
import { notFound } from '../../core/shared/problem.js';
import type { Person, Visitor } from '../../core/shared/scope.js';
import * as store from './people-store.js';
import { sealed, type PersonTable, type SessionTable } from './tables.js';

const { sessionIdleMs: idleMs, sessionMs } = retention;
/** More sessions of one person end the oldest. */
const maxSessions = 10;

export interface SessionsDeps extends RoomDeps {
  readonly auditLog: AuditLog;
  readonly personalData: PersonalData;
}

/** The holder of a session. */
export interface SignedIn {
  readonly merchantId: string;
  readonly person: Omit<Person, 'address' | 'requestId'>;
}

export function createSessions({ database, clock, newId, auditLog, personalData }: SessionsDeps) {
  /** When sessions were used that is not written yet, by id. */
  let uses = new Map<string, number>();

  const isOpen = ({
    id,
    last_used_at,
    expires_at,
  }: Pick<SessionTable, 'id' | 'last_used_at' | 'expires_at'>) => {
    const now = clock.real();
    return now < expires_at && now < Math.max(last_used_at, uses.get(id) ?? 0) + idleMs;
  };

  const openOnes = <Row extends SessionTable>(rows: readonly Row[]): Row[] =>
    rows
      .filter(isOpen)
      .map((row) => personalData.openRow(sealed.sessions, row))
      .map((row) => ({ ...row, last_used_at: Math.max(row.last_used_at, uses.get(row.id) ?? 0) }));

  return {
    /** Sessions that were used after this are open. */
    openSince: () => clock.real() - idleMs,

    /** Begins a session with a token of its own, whatever the browser had before. */
    async begin(
      transaction: Transaction,
      person: PersonTable,
      signedInBy: SessionTable['signed_in_by'],
      visitor: Visitor,
    ): Promise<{ readonly token: string; readonly signedIn: SignedIn }> {
      const { id: personId, merchant_id: merchantId, email, role } = person;
      if (visitor.session !== undefined) {
        await store.deleteSessionByToken(transaction, tokenDigest(visitor.session));
      }
      const previous = await store.listSessions(transaction, personId);
      for (const { id } of previous.slice(maxSessions - 1))
        await store.deleteSession(transaction, personId, id);
      const token = newToken();
      const now = clock.real();
      const session: SessionTable = {
        id: newId(),
        token_digest: tokenDigest(token),
        person_id: personId,
        signed_in_by: signedInBy,
        address: visitor.address,
        user_agent: visitor.userAgent.slice(0, 255),
        created_at: now,
        last_used_at: now,
        expires_at: now + sessionMs,
      };
      await store.insertSession(transaction, personalData.sealRow(sealed.sessions, session));
      await store.updatePerson(transaction, personId, { signed_in_at: now });
      const signedIn = {
        merchantId,
        person: {
          id: personId,
          email,
          role,
          sessionId: session.id,
          provedAt: now,
          expiresAt: session.expires_at,
        },
      };
      const actor = { ...signedIn.person, ...visitor };
      await auditLog.record(transaction, {
        merchantId,
        actor,
        action: 'session.started',
        subjectId: session.id,
        after: { by: signedInBy },
      });
      return { token, signedIn };
    },

    /** The holder of a token; undefined if it is unknown or its session has ended, on any server. */
    async authenticate(token: string): Promise<SignedIn | undefined> {
      const row = await store.findSession(database.reader, tokenDigest(token));
      if (!row || !isOpen(row)) return undefined;
      uses.set(row.id, clock.real());
      const { merchant_id: merchantId, person_id, role, id: sessionId, created_at, expires_at } = row;
      const { email } = personalData.openRow(sealed.people, { id: person_id, email: row.email });
      return {
        merchantId,
        person: { id: person_id, email, role, sessionId, provedAt: created_at, expiresAt: expires_at },
      };
    },

    /** The sessions among these that are open. This question does not count as use of a session. */
    async stillOpen(ids: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await store.findSessions(database.reader, ids);
      return new Set(rows.filter(isOpen).map(({ id }) => id));
    },

    /** Open sessions of a person, newest first. */
    list: async (personId: string): Promise<SessionTable[]> =>
      openOnes(await store.listSessions(database.reader, personId)),

    /** Open sessions of everybody in a merchant's team, the last used first. */
    async listOfTeam(merchantId: string) {
      const rows = openOnes(await store.listTeamSessions(database.reader, merchantId));
      return rows
        .sort((one, other) => other.last_used_at - one.last_used_at || (other.id > one.id ? 1 : -1))
        .map((row) => {
          const { email } = personalData.openRow(sealed.people, { id: row.person_id, email: row.email });
          return { ...row, email };
        });
    },

    /** Ends a session of a person. Problem: `not_found`. */
    async end(transaction: Transaction, personId: string, sessionId: string): Promise<void> {
      if (!(await store.deleteSession(transaction, personId, sessionId))) throw notFound('session');
    },

    /** Ends all sessions of a person, and any unused link: it would begin another one. @returns the number of sessions ended */
    async endAll(transaction: Transaction, personId: string): Promise<number> {
      await store.deleteLink(transaction, personId);
      return store.deleteSessions(transaction, personId);
    },

    /** Writes when sessions were used since the last call. */
    async writeUses(): Promise<void> {
      const written = uses;
      if (written.size === 0) return;
      uses = new Map();
      await database.write((transaction) => store.writeUses(transaction, written));
    },

    /** Deletes what has ended. */
    prune: () =>
      database.write((transaction) => store.deleteEnded(transaction, clock.real(), clock.real() - idleMs)),
  };
}
