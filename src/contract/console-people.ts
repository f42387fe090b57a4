/**
 * Endpoints for the console's pages, in addition to the API: signing in and out, the team, sessions and passkeys. They
 * are for people, are not part of the `/v1` API, and exist only while the console is on, so they have their own table.
 */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, email, fewKeys, id, mode, requiredText, timestamp } from './fields.js';

/**
 * `{changesPath}/{mode}`, with `?payment={id}`, or without it of the home page: server-sent events while a page is looked at. `changed`: read
 * it again. `beat`: the server is still there. A page that has read the home page already sends its mark in `?seen=`, the SHA-256 of its data as JSON in
 * hex: the first `changed` comes once it differs.
 */
export const changesPath = '/console/api/changes';

/** A person's rights are those of their role: `permissions` of the session lists them. */
export const roles = ['owner', 'manager', 'support', 'accountant'] as const;
export type Role = (typeof roles)[number];
const role = z.enum(roles);

const session = z.object({
  id: z.string(),
  person: z.object({ id: z.string(), email: z.string() }),
  role,
  /**
   * All that the role may call, as `payments.list`: a resource and a verb of the contract. `payments.*`: every verb of
   * the resource that this server has.
   */
  permissions: z.array(z.string()),
  merchant: z.object({
    id: z.string(),
    name: z.string(),
    /** The zone in which the console shows times and counts days: an IANA name. */
    timeZone: z.string(),
  }),
  /** The modes that this server has networks of. */
  modes: z.array(mode),
  /** Until then, moving money and changing keys and the team need no further sign-in. */
  provedUntil: timestamp,
  /** The session's latest end, even if it is used. */
  expiresAt: timestamp,
  passkeys: z.number(),
});
export type ConsoleSession = z.output<typeof session>;

/**
 * In the document of a page, for a browser with a session: who is signed in, the time of the test clock, and of a payment's page
 * `seen`, the mark of the payment before the page reads it.
 */
export const consoleStart = z.object({ session, at: timestamp, seen: z.optional(z.string()) });
export type ConsoleStart = z.output<typeof consoleStart>;

/** True if the role of the session may call `payments.list`, a resource and a verb. */
export const allows = ({ permissions }: Pick<ConsoleSession, 'permissions'>, call: string): boolean =>
  permissions.includes(call) || permissions.includes(call.replace(/\..*/, '.*'));

const member = z.object({
  id: z.string(),
  email: z.string(),
  role,
  passkeys: z.number(),
  sessions: z.number(),
  /** Null if the person has never signed in. */
  lastSignInAt: z.nullable(timestamp),
  createdAt: timestamp,
});

const invitation = z.extend(member, {
  /** The sign-in link, which works once, until `linkExpiresAt`. Only this reply has it. */
  signInUrl: z.string(),
  linkExpiresAt: timestamp,
});

const openSession = z.object({
  id: z.string(),
  /** True if this request was made with it. */
  isCurrent: z.boolean(),
  address: z.string(),
  userAgent: z.string(),
  signedInBy: z.enum(['link', 'passkey']),
  createdAt: timestamp,
  /** Within a few minutes. */
  lastUsedAt: timestamp,
  expiresAt: timestamp,
});

const teamSession = z.extend(openSession, { person: z.object({ id: z.string(), email: z.string(), role }) });

const passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: timestamp,
  /** Null if nobody has signed in with it. */
  lastUsedAt: z.nullable(timestamp),
});

/**
 * Input and output of the browser's API for passkeys, as JSON:
 * https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON
 */
const browserJson = z.record(z.string(), z.unknown());
const credential = described(z.pipe(fewKeys<unknown>(), browserJson), 'The reply of the browser, as JSON.');

const samplePersonId = '01J9ZQ8A0B1C2D3E4F5G6H7J8K';
const sampleSessionId = '01J9ZQ8B0C1D2E3F4G5H6J7K8M';
const sampleTime = '2026-01-01T00:00:00.000Z';
const sampleToken = 'q0Zb7m3yXn1rT9sVw2kLd5hJf8gPaC4eR6uYiOxQzWs';

const sampleSession: ConsoleSession = {
  id: sampleSessionId,
  person: { id: samplePersonId, email: 'ada@shop.example' },
  role: 'support',
  permissions: ['payments.*', 'refunds.create'],
  merchant: { id: '01J9ZQ8C0D1E2F3G4H5J6K7M8N', name: 'Example Shop', timeZone: 'Europe/Berlin' },
  modes: ['test', 'live'],
  provedUntil: '2026-01-01T00:10:00.000Z',
  expiresAt: '2026-01-08T00:00:00.000Z',
  passkeys: 1,
};

const sampleMember = {
  id: samplePersonId,
  email: 'ada@shop.example',
  role: 'support' as const,
  passkeys: 1,
  sessions: 1,
  lastSignInAt: sampleTime,
  createdAt: sampleTime,
};

const person = z.object({ person_id: described(id, 'Id of the person.') });
const personSample = { person_id: samplePersonId };

const sessionEndpoints = {
  create: endpoint({
    method: 'POST',
    path: '/console/api/sign-in',
    key: 'none',
    description:
      'Exchanges the token of a sign-in link for a session, in a cookie. It works once, for 30 minutes. A session that the browser had before ends.',
    body: z.object({ token: described(requiredText(255), 'The part of the link after #.') }),
    data: session,
    errors: ['origin_not_allowed'],
    sample: { body: { token: sampleToken }, message: 'Signed in', data: sampleSession },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/session',
    key: 'session',
    description: 'Returns who is signed in, and what the role may do.',
    data: session,
    sample: { message: 'Session fetched', data: sampleSession },
  }),
  remove: endpoint({
    method: 'POST',
    path: '/console/api/sign-out',
    key: 'session',
    description: 'Ends the session, or with `everywhere` all sessions of the person.',
    body: z.object({
      everywhere: described(
        z._default(boolean, false),
        'Ends all sessions of the person. Defaults to false.',
      ),
    }),
    sample: { body: { everywhere: false }, message: 'Signed out' },
  }),
};

const team = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/team',
    key: 'session',
    description: 'Lists the people of the shop, by e-mail address.',
    data: z.array(member),
    sample: { message: 'Team fetched', data: [sampleMember] },
  }),
  invite: endpoint({
    method: 'POST',
    path: '/console/api/team',
    key: 'session',
    stepUp: true,
    description:
      'Adds a person, and returns a link to sign in with, which you send. For somebody who is in the team already, in the same role, it makes a new link; the previous one ends.',
    body: z.object({
      email: described(email, 'E-mail address of the person.'),
      role: described(role, 'The role, which says what the person may do.'),
    }),
    data: invitation,
    errors: ['invalid_state'],
    sample: {
      body: { email: sampleMember.email, role: sampleMember.role },
      message: 'Person invited',
      data: {
        ...sampleMember,
        passkeys: 0,
        sessions: 0,
        lastSignInAt: null,
        signInUrl: `https://pay.example.com/console#${sampleToken}`,
        linkExpiresAt: '2026-01-01T00:30:00.000Z',
      },
    },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/console/api/team/{person_id}',
    key: 'session',
    stepUp: true,
    description: "Changes a person's role. The person's sessions end. The last owner stays one.",
    params: person,
    body: z.object({ role: described(role, 'The new role, which says what the person may do from now on.') }),
    data: member,
    errors: ['invalid_state'],
    sample: {
      params: personSample,
      body: { role: 'manager' },
      message: 'Role changed',
      data: { ...sampleMember, role: 'manager', sessions: 0 },
    },
  }),
  signOut: endpoint({
    method: 'POST',
    path: '/console/api/team/{person_id}/sign-out',
    key: 'session',
    description: 'Ends all sessions of a person, and any unused link to sign in.',
    params: person,
    sample: { params: personSample, message: 'Signed out' },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/console/api/team/{person_id}',
    key: 'session',
    stepUp: true,
    description: 'Removes a person, with all sessions and passkeys. The last owner cannot be removed.',
    params: person,
    errors: ['invalid_state'],
    sample: { params: personSample, message: 'Person removed' },
  }),
};

const sampleOpenSession = {
  id: sampleSessionId,
  isCurrent: true,
  address: '192.0.2.1',
  userAgent: 'Mozilla/5.0',
  signedInBy: 'link' as const,
  createdAt: sampleTime,
  lastUsedAt: sampleTime,
  expiresAt: sampleSession.expiresAt,
};
const sessionParams = z.object({ session_id: described(id, 'Id of the session.') });

const sessions = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/sessions',
    key: 'session',
    description: 'Lists the sessions of the person who asks, newest first.',
    data: z.array(openSession),
    sample: {
      message: 'Sessions fetched',
      data: [sampleOpenSession],
    },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/console/api/sessions/{session_id}',
    key: 'session',
    description: 'Ends one of the sessions of the person who asks.',
    params: sessionParams,
    sample: { params: { session_id: sampleSessionId }, message: 'Session ended' },
  }),
};

/** The sessions of the whole team, for owners. */
const teamSessions = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/team-sessions',
    key: 'session',
    description: 'Lists where the people of the shop are signed in, by the last use of each session.',
    data: z.array(teamSession),
    sample: {
      message: 'Sessions fetched',
      data: [
        {
          ...sampleOpenSession,
          isCurrent: false,
          person: { id: samplePersonId, email: sampleMember.email, role: sampleMember.role },
        },
      ],
    },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/console/api/team-sessions/{session_id}',
    key: 'session',
    description: 'Ends one session of somebody in the team.',
    params: sessionParams,
    sample: { params: { session_id: sampleSessionId }, message: 'Session ended' },
  }),
};

const samplePasskey = {
  id: 'mQ2vXr0T1uZsY3wN5kLp8A',
  name: "Ada's phone",
  createdAt: sampleTime,
  lastUsedAt: null,
};
const sampleOptions = { challenge: sampleToken, rpId: 'pay.example.com', userVerification: 'required' };

const passkeys = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/passkeys',
    key: 'session',
    description: 'Lists the passkeys of the person who asks.',
    data: z.array(passkey),
    sample: { message: 'Passkeys fetched', data: [samplePasskey] },
  }),
  startCreation: endpoint({
    method: 'POST',
    path: '/console/api/passkeys/options',
    key: 'session',
    stepUp: true,
    description: 'Returns what the browser needs to make a passkey, within 5 minutes.',
    data: browserJson,
    sample: { message: 'Passkey started', data: sampleOptions },
  }),
  create: endpoint({
    method: 'POST',
    path: '/console/api/passkeys',
    key: 'session',
    stepUp: true,
    description: 'Adds the passkey that the browser has made. One person has 10 at most.',
    body: z.object({
      credential,
      name: described(requiredText(60), 'The name that the person gives it.'),
    }),
    data: passkey,
    errors: ['invalid_state'],
    sample: {
      body: { credential: { id: samplePasskey.id }, name: samplePasskey.name },
      message: 'Passkey added',
      data: samplePasskey,
    },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/console/api/passkeys/{passkey_id}',
    key: 'session',
    stepUp: true,
    description: 'Removes a passkey of the person who asks. Sessions that it started continue.',
    params: z.object({ passkey_id: described(id, 'Id of the passkey.') }),
    sample: { params: { passkey_id: samplePasskey.id }, message: 'Passkey removed' },
  }),
};

/** Signing in with a passkey. The browser shows its owner, so no e-mail address is needed, and none can be guessed. */
const passkeySignIn = {
  start: endpoint({
    method: 'POST',
    path: '/console/api/passkey-sign-in/options',
    key: 'none',
    description: 'Returns what the browser needs to ask for a passkey, within 5 minutes.',
    data: browserJson,
    errors: ['origin_not_allowed'],
    sample: { message: 'Sign-in started', data: sampleOptions },
  }),
  create: endpoint({
    method: 'POST',
    path: '/console/api/passkey-sign-in',
    key: 'none',
    description:
      'Signs in with a passkey: starts a session, in a cookie. The browser’s earlier session ends, so a person can also use this to confirm their identity.',
    body: z.object({ credential }),
    data: session,
    errors: ['origin_not_allowed'],
    sample: {
      body: { credential: { id: samplePasskey.id } },
      message: 'Signed in',
      data: sampleSession,
    },
  }),
};

/** Signing in, the team, and the sessions and passkeys of the signed-in person. */
export const peopleApi = { session: sessionEndpoints, team, sessions, teamSessions, passkeys, passkeySignIn };
export type PeopleApi = typeof peopleApi;
