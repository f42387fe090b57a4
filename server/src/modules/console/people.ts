/** The people of a merchant who use the console: who belongs to the team, in which role, and how they get in. */
import type { ConsoleSession, Role } from 'crypto-checkout/contract';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { AuditActor } from '../../core/merchants/audit-log.js';
import { isoTime } from '../../core/shared/clock.js';
import { invalidState, notFound, orNotFound, Problem } from '../../core/shared/problem.js';
import { proofMs, type PersonCaller, type Visitor } from '../../core/shared/scope.js';
import { retention, spellPeriod } from '../../core/shared/retention.js';
import { newToken, tokenDigest } from '../../core/shared/token.js';
import { createPasskeys, type PasskeysDeps } from './passkeys.js';
import * as store from './people-store.js';
import { createSessions, type SignedIn } from './sessions.js';
import { sealed, type PersonTable } from './tables.js';

/** The first owner of a server to try things out. The domain is reserved for examples, so nobody gets mail there. */
const firstOwner = 'owner@shop.example';
/** The most people in one merchant's team. */
const maxPeople = 100;

export interface NewPerson {
  readonly merchantId: string;
  readonly email: string;
  readonly role: Role;
}

type Member = ReturnType<typeof view>;

/** A session that began, with the token for its cookie. */
export interface Begun {
  readonly token: string;
  readonly session: ConsoleSession;
}

export type People = ReturnType<typeof createPeople>;

export function createPeople(deps: PasskeysDeps) {
  const { database, clock, newId, currencies, auditLog, merchants, consoleUrl, personalData } = deps;
  const modes = (['test', 'live'] as const).filter((mode) => currencies.networks(mode).length > 0);
  const sessions = createSessions(deps);
  const passkeys = createPasskeys(deps);

  const open = <Row extends PersonTable>(row: Row): Row => personalData.openRow(sealed.people, row);
  const lockTeam = async (transaction: Transaction, merchantId: string) =>
    (await store.lockTeam(transaction, merchantId)).map(open);

  async function members(reader: Reader, merchantId: string | undefined) {
    const rows = await store.listPeople(reader, merchantId, {
      now: clock.real(),
      usedAfter: sessions.openSince(),
    });
    return rows
      .map((row) => ({ merchantId: row.merchant_id, ...view(open(row)) }))
      .sort((a, b) => compare(a.merchantId, b.merchantId) || compare(a.email, b.email));
  }

  async function memberOf(transaction: Transaction, { merchant_id, id }: PersonTable): Promise<Member> {
    const { merchantId: _, ...member } = orNotFound(
      (await members(transaction, merchant_id)).find((one) => one.id === id),
      'person',
    );
    return member;
  }

  /** Somebody of the merchant, and whether nobody else is an owner who can sign in. Problem: `not_found`. */
  async function lockPerson(transaction: Transaction, merchantId: string, id: string) {
    const people = await lockTeam(transaction, merchantId);
    const person = orNotFound(
      people.find((one) => one.id === id),
      'person',
    );
    // An owner who was only invited may never come.
    const others = people.filter((one) => one.id !== id && one.role === 'owner' && one.signed_in_at !== null);
    const isOnlyOwner = person.role === 'owner' && others.length === 0;
    return { person, isOnlyOwner };
  }

  async function makeLink(transaction: Transaction, personId: string) {
    const token = newToken();
    const expiresAt = clock.real() + retention.signInLinkMs;
    await store.putLink(transaction, {
      token_digest: tokenDigest(token),
      person_id: personId,
      expires_at: expiresAt,
    });
    return { signInUrl: `${consoleUrl}#${token}`, linkExpiresAt: isoTime(expiresAt) };
  }

  async function viewSession({ merchantId, person }: SignedIn, reader: Reader): Promise<ConsoleSession> {
    const { id, email, role, sessionId, provedAt, expiresAt } = person;
    const { name, timeZone } = await merchants.retrieve(reader, merchantId);
    return {
      id: sessionId,
      person: { id, email },
      role,
      permissions: deps.permissionsOf(role),
      merchant: { id: merchantId, name, timeZone },
      modes,
      provedUntil: isoTime(provedAt + proofMs),
      expiresAt: isoTime(expiresAt),
      passkeys: (await store.listPasskeys(reader, id)).length,
    };
  }

  async function begin(
    transaction: Transaction,
    person: PersonTable,
    by: 'link' | 'passkey',
    visitor: Visitor,
  ): Promise<Begun> {
    const { token, signedIn } = await sessions.begin(transaction, person, by, visitor);
    return { token, session: await viewSession(signedIn, transaction) };
  }

  /**
   * Adds somebody to a merchant's team, with a link to sign in. Somebody who is there in this role gets a new link.
   * Problem: `invalid_state`.
   */
  async function invite(transaction: Transaction, given: NewPerson, actor: AuditActor) {
    const { merchantId, role } = given;
    const email = given.email.trim().toLowerCase();
    const people = await lockTeam(transaction, merchantId);
    const known = people.find((one) => one.email === email);
    if (known && known.role !== role) {
      throw invalidState(
        `${email} is in the team as ${known.role}. Change the role, or invite with that one`,
      );
    }
    if (!known && people.length >= maxPeople) {
      throw invalidState(`The team has ${maxPeople} people, and cannot have more. Remove somebody first`);
    }
    const person = known ?? {
      id: newId(),
      merchant_id: merchantId,
      email,
      role,
      email_index: personalData.colleagueIndex(merchantId, email),
      created_at: clock.real(),
      signed_in_at: null,
    };
    if (!known) await store.insertPerson(transaction, personalData.sealRow(sealed.people, person));
    const link = await makeLink(transaction, person.id);
    await auditLog.record(transaction, {
      merchantId,
      actor,
      subjectId: person.id,
      action: known ? 'person.link_made' : 'person.invited',
      after: { role },
    });
    return { ...(await memberOf(transaction, person)), ...link };
  }

  /** A link for the first owner of a shop, as long as nobody has signed in: undefined later. */
  async function inviteFirst(
    transaction: Transaction,
    merchantId: string,
    actor: AuditActor,
  ): Promise<string | undefined> {
    const people = await lockTeam(transaction, merchantId);
    const [first] = people;
    if (people.length > 1 || (first && (first.signed_in_at !== null || first.email !== firstOwner))) {
      return undefined;
    }
    const owner = { merchantId, email: firstOwner, role: 'owner' } as const;
    return (await invite(transaction, owner, actor)).signInUrl;
  }

  return {
    sessions,
    passkeys,
    invite,
    inviteFirst,

    list: (merchantId?: string) => members(database.reader, merchantId),

    /** The e-mail addresses of those who are still in a team, by id. */
    async emailsOf(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const rows = await store.findPeople(reader, ids);
      return new Map(rows.map((row) => [row.id, personalData.openRow(sealed.people, row).email]));
    },

    isInTeam: async (reader: Reader, merchantId: string, id: string): Promise<boolean> =>
      (await store.findPerson(reader, id))?.merchant_id === merchantId,

    staffOf: async (reader: Reader, merchantId: string) =>
      (await store.findTeam(reader, merchantId)).map(open),

    /** The e-mail address of somebody in the team leads to the id. Problem: `not_found`. */
    async find(reader: Reader, merchantId: string, email: string): Promise<string> {
      const indexes = personalData.colleagueIndexes(merchantId, email.trim().toLowerCase());
      const found = await store.findByEmail(reader, merchantId, indexes);
      return orNotFound(found, 'person').id;
    },

    /** Problems: `not_found`, `invalid_state` for the last owner. */
    async changeRole(
      transaction: Transaction,
      merchantId: string,
      id: string,
      role: Role,
      actor: AuditActor,
    ) {
      const { person, isOnlyOwner } = await lockPerson(transaction, merchantId, id);
      if (person.role !== role) {
        if (isOnlyOwner) throw invalidState('Nobody else is an owner. Make somebody else an owner first');
        await store.updatePerson(transaction, id, { role });
        await sessions.endAll(transaction, id);
        const change = { before: { role: person.role }, after: { role } };
        await auditLog.record(transaction, {
          merchantId,
          actor,
          action: 'person.role_changed',
          subjectId: id,
          ...change,
        });
      }
      return memberOf(transaction, person);
    },

    /** @param canBeLast true if the last owner may go. Problems: `not_found`, `invalid_state`. */
    async remove(
      transaction: Transaction,
      merchantId: string,
      id: string,
      actor: AuditActor,
      canBeLast = false,
    ): Promise<undefined> {
      const { person, isOnlyOwner } = await lockPerson(transaction, merchantId, id);
      if (isOnlyOwner && !canBeLast) {
        throw invalidState('Nobody else is an owner. Make somebody else an owner first');
      }
      const { email, email_index: emailIndex, role } = person;
      await auditLog.remember(transaction, { id, merchantId, personId: id, value: email, emailIndex });
      await store.deletePerson(transaction, id);
      await auditLog.record(transaction, {
        merchantId,
        actor,
        action: 'person.removed',
        subjectId: id,
        before: { role },
      });
    },

    /**
     * Erases the identities of people who had an e-mail address and are no longer in the team: the audit log then
     * shows only their ids. Problems: `not_found`, `invalid_state`.
     */
    async erase(
      transaction: Transaction,
      merchantId: string,
      email: string,
      actor: AuditActor,
    ): Promise<{ people: number }> {
      const indexes = personalData.colleagueIndexes(merchantId, email.trim().toLowerCase());
      if (await store.findByEmail(transaction, merchantId, indexes))
        throw invalidState('This person is in the team. Remove them first');
      const ids = await auditLog.forget(transaction, merchantId, indexes);
      if (ids.length === 0) throw notFound('person');
      for (const subjectId of ids)
        await auditLog.record(transaction, { merchantId, actor, action: 'person.erased', subjectId });
      return { people: ids.length };
    },

    /** Ends all sessions of somebody, and any unused link. Problem: `not_found`. */
    async signOut(
      transaction: Transaction,
      merchantId: string,
      id: string,
      actor: AuditActor,
    ): Promise<undefined> {
      await lockPerson(transaction, merchantId, id);
      const ended = await sessions.endAll(transaction, id);
      await auditLog.record(transaction, {
        merchantId,
        actor,
        action: 'person.signed_out',
        subjectId: id,
        after: { sessions: ended },
      });
    },

    /** Signs in with the token of a link. Problem: `not_found`, the same for all tokens that do not work. */
    async signInByLink(transaction: Transaction, token: string, visitor: Visitor): Promise<Begun> {
      const personId = await store.takeLink(transaction, tokenDigest(token), clock.real());
      const person = personId === undefined ? undefined : await store.findPerson(transaction, personId);
      if (!person) {
        throw new Problem(
          'not_found',
          `This link is not valid, or has expired. Links work once, for ${spellPeriod(retention.signInLinkMs)}. Ask an owner of the shop for a new one`,
        );
      }
      return begin(transaction, open(person), 'link', visitor);
    },

    /** Signs in with a passkey. Problem: `not_found`. */
    async signInByPasskey(transaction: Transaction, credential: Record<string, unknown>, visitor: Visitor) {
      const person = await passkeys.check(transaction, credential);
      return begin(transaction, person, 'passkey', visitor);
    },

    /** The session as its signed-in person sees it. */
    viewSession: (signedIn: SignedIn) => viewSession(signedIn, database.reader),

    /** Signs somebody out, here or everywhere. Everywhere also ends any unused link. */
    async endSession(
      transaction: Transaction,
      { merchantId, person }: PersonCaller,
      isEverywhere: boolean,
    ): Promise<undefined> {
      if (isEverywhere) await sessions.endAll(transaction, person.id);
      else await sessions.end(transaction, person.id, person.sessionId);
      await auditLog.record(transaction, {
        merchantId,
        actor: person,
        action: 'session.ended',
        subjectId: person.sessionId,
        after: { everywhere: isEverywhere },
      });
    },

    /** Ends a session of the person who asks. Problem: `not_found`. */
    async endOneSession(
      transaction: Transaction,
      { merchantId, person }: PersonCaller,
      sessionId: string,
    ): Promise<undefined> {
      await sessions.end(transaction, person.id, sessionId);
      await auditLog.record(transaction, {
        merchantId,
        actor: person,
        action: 'session.ended',
        subjectId: sessionId,
      });
    },

    /** Ends a session of somebody in the merchant's team. Problem: `not_found`. */
    async endTeamSession(
      transaction: Transaction,
      { merchantId, person }: PersonCaller,
      sessionId: string,
    ): Promise<undefined> {
      const holder = orNotFound(await store.findHolder(transaction, merchantId, sessionId), 'session');
      await sessions.end(transaction, holder, sessionId);
      await auditLog.record(transaction, {
        merchantId,
        actor: person,
        action: 'session.ended',
        subjectId: sessionId,
        after: { of: holder },
      });
    },

    /** For a server to try things out. */
    firstLink: (merchantId: string): Promise<string | undefined> =>
      database.write((transaction) => inviteFirst(transaction, merchantId, 'server, at its start')),
  };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function view({ id, email, role, sessions, passkeys, signed_in_at, created_at }: store.MemberRow) {
  return {
    id,
    email,
    role,
    sessions,
    passkeys,
    lastSignInAt: signed_in_at === null ? null : isoTime(signed_in_at),
    createdAt: isoTime(created_at),
  };
}
