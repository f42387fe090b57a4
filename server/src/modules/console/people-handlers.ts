/** Handlers of `/console/api`: the session, the team and the sessions of the signed-in person. */
import type { ConsoleSession, PeopleApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers, type OpenContext, type Reply } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import { isoTime } from '../../core/shared/clock.js';
import type { PersonCaller } from '../../core/shared/scope.js';
import type { Begun, People } from './people.js';
import type { SessionTable } from './tables.js';

export function createPeopleHandlers(people: People): Handlers<PeopleApi> {
  const { sessions, passkeys } = people;

  /** Begins a session, and gives the browser its cookie once it is stored. */
  async function signIn(
    { change, setSession }: OpenContext,
    begin: (transaction: Parameters<People['signInByLink']>[0]) => Promise<Begun>,
  ): Promise<Reply<ConsoleSession>> {
    let token: string | undefined;
    const reply = await change(async (transaction) => {
      const begun = await begin(transaction);
      token = begun.token;
      return begun.session;
    });
    setSession(token);
    return reply;
  }

  return {
    session: {
      create: ({ body }, context) =>
        signIn(context, (transaction) => people.signInByLink(transaction, body.token, context.visitor)),

      retrieve: (_input, { caller }) => replyWith(people.viewSession(caller)),

      async remove({ body }, { caller, change, setSession }) {
        const reply = await change((transaction) => people.endSession(transaction, caller, body.everywhere));
        setSession(undefined);
        return reply;
      },
    },

    team: {
      list: (_input, { caller }) => replyWith(people.list(caller.merchantId)),

      invite: ({ body }, { caller, change }) =>
        change((transaction) =>
          people.invite(transaction, { ...body, merchantId: caller.merchantId }, actorOf(caller)),
        ),

      update: ({ params, body }, { caller, change }) =>
        change((transaction) =>
          people.changeRole(transaction, caller.merchantId, params.person_id, body.role, actorOf(caller)),
        ),

      signOut: ({ params }, { caller, change }) =>
        change((transaction) =>
          people.signOut(transaction, caller.merchantId, params.person_id, actorOf(caller)),
        ),

      remove: ({ params }, { caller, change }) =>
        change((transaction) =>
          people.remove(transaction, caller.merchantId, params.person_id, actorOf(caller)),
        ),
    },

    sessions: {
      async list(_input, { caller }) {
        const open = await sessions.list(caller.person.id);
        return { data: open.map((row) => viewSession(row, caller)) };
      },

      remove: ({ params }, { caller, change }) =>
        change((transaction) => people.endOneSession(transaction, caller, params.session_id)),
    },

    teamSessions: {
      async list(_input, { caller }) {
        const open = await sessions.listOfTeam(caller.merchantId);
        const data = open.map((row) => ({
          ...viewSession(row, caller),
          person: { id: row.person_id, email: row.email, role: row.role },
        }));
        return { data };
      },

      remove: ({ params }, { caller, change }) =>
        change((transaction) => people.endTeamSession(transaction, caller, params.session_id)),
    },

    passkeys: {
      list: (_input, { caller }) => replyWith(passkeys.list(caller.person.id)),

      startCreation: (_input, { caller }) => replyWith(passkeys.startCreation(caller)),

      async create({ body }, { caller, change }) {
        await passkeys.prepare();
        return change((transaction) => passkeys.create(transaction, caller, body.credential, body.name));
      },

      remove: ({ params }, { caller, change }) =>
        change((transaction) => passkeys.remove(transaction, caller, params.passkey_id)),
    },

    passkeySignIn: {
      start: () => replyWith(passkeys.startSignIn()),

      async create({ body }, context) {
        await passkeys.prepare();
        return signIn(context, (transaction) =>
          people.signInByPasskey(transaction, body.credential, context.visitor),
        );
      },
    },
  };
}

const viewSession = (row: SessionTable, { person }: PersonCaller) => ({
  id: row.id,
  isCurrent: row.id === person.sessionId,
  address: row.address,
  userAgent: row.user_agent,
  signedInBy: row.signed_in_by,
  createdAt: isoTime(row.created_at),
  lastUsedAt: isoTime(row.last_used_at),
  expiresAt: isoTime(row.expires_at),
});
