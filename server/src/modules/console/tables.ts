/** The people who use the console, and how they sign in. */
import type { Role } from 'crypto-checkout/contract';
import { strings } from '../../core/db/codecs.js';
import { type DataPolicy, kept } from '../../core/db/data-policy.js';
import { sealedColumns } from '../../core/db/personal-data.js';
import type { Rows } from '../../core/db/schema.js';
import { bigint, json, table, text, time } from '../../core/db/table.js';

const share = kept('both modes share the staff');
const ofStaff: DataPolicy = { ...share, personal: { columns: { email: 'kept' }, index: 'colleague' } };
const sessionsOfStaff: DataPolicy = {
  ...share,
  personal: { columns: { address: 'kept', user_agent: 'kept' } },
};

export const peopleTables = {
  people: table(ofStaff, {
    id: text().primaryKey(),
    merchant_id: text().references('merchants.id'),
    /** In lower case, encrypted if there is a data key: db/personal-data.ts. */
    email: text(),
    /** The index that finds the email. */
    email_index: text(),
    role: text<Role>(),
    created_at: time(),
    /** Null if the person has never signed in. */
    signed_in_at: time().nullable(),
  }).unique('email', ['merchant_id', 'email_index']),

  /** Unused links, at most one for each person. Using a link deletes it. */
  sign_in_links: table(share, {
    /** SHA-256 of the token, in hex. */
    token_digest: text().primaryKey(),
    person_id: text().references('people.id', 'cascade').unique(),
    expires_at: time(),
  }),

  sessions: table(sessionsOfStaff, {
    id: text().primaryKey(),
    /** SHA-256 of the token in the cookie, in hex. */
    token_digest: text().unique(),
    person_id: text().references('people.id', 'cascade'),
    signed_in_by: text<'link' | 'passkey'>(),
    /** The address and browser of the request, encrypted if there is a data key. */
    address: text(),
    user_agent: text(),
    /** When the person showed a passkey or a fresh link, which is also when the session began. */
    created_at: time(),
    /** Within a few minutes. */
    last_used_at: time(),
    expires_at: time(),
  })
    .index('person', ['person_id', 'created_at'])
    .index('expiry', ['expires_at']),

  passkeys: table(share, {
    /** The credential's id, in base64url. */
    id: text().primaryKey(),
    person_id: text().references('people.id', 'cascade'),
    /** The person's name for it. */
    name: text(),
    /** COSE, in base64url. */
    public_key: text(),
    /** Rises with each use where the authenticator counts; 0 where it does not. */
    counter: bigint(),
    /** The transports by which browsers reach it. */
    transports: json(strings),
    created_at: time(),
    last_used_at: time().nullable(),
  }).index('person', ['person_id', 'created_at']),

  /** Challenges of passkeys that were answered, until they would have expired: each is answered once. */
  answered_challenges: table(share, {
    /** SHA-256 of the challenge, in hex. */
    digest: text().primaryKey(),
    expires_at: time(),
  }),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof peopleTables> {}
}

export type PersonTable = Rows<typeof peopleTables>['people'];
export type SessionTable = Rows<typeof peopleTables>['sessions'];
export type PasskeyTable = Rows<typeof peopleTables>['passkeys'];

export const sealed = {
  people: sealedColumns('people', 'email'),
  sessions: sealedColumns('sessions', 'address', 'user_agent'),
};
