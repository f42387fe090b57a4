/** Handlers of `/console/api`: the session, the team and the sessions of whoever is signed in. */
import type { ConsoleApi, SettingsApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../api/handler.js';
import { actorOf } from '../merchants/audit-log.js';
import { isoTime } from '../shared/clock.js';
import type { People } from './people.js';

export function createPeopleHandlers(people: People): Handlers<Omit<ConsoleApi, keyof SettingsApi>> {
  const { sessions } = people;
  return {
    session: {
      async create({ body }, { change, visitor, setSession }) {
        let token = '';
        const reply = await change(async (transaction) => {
          const begun = await people.signInByLink(transaction, body.token, visitor);
          token = begun.token;
          return begun.session;
        });
        setSession(token);
        return reply;
      },

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
        const data = open.map((row) => ({
          id: row.id,
          isCurrent: row.id === caller.person.sessionId,
          address: row.address,
          userAgent: row.user_agent,
          signedInBy: row.signed_in_by,
          createdAt: isoTime(row.created_at),
          lastUsedAt: isoTime(row.last_used_at),
          expiresAt: isoTime(row.expires_at),
        }));
        return { data };
      },

      remove: ({ params }, { caller, change }) =>
        change((transaction) => people.endOneSession(transaction, caller, params.session_id)),
    },
  };
}
