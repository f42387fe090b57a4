/** Passkeys: how a person adds one, and signs in with it. */
import type { Role } from 'crypto-checkout/contract';
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Transaction } from '../../core/db/engine.js';
import type { Merchants } from '../../core/merchants/merchants.js';
import { isoTime } from '../../core/shared/clock.js';
import { invalidField, invalidState, notFound, Problem } from '../../core/shared/problem.js';
import type { PersonCaller } from '../../core/shared/scope.js';
import { createChallenges } from './challenges.js';
import type { SessionsDeps } from './sessions.js';
import * as store from './people-store.js';
import { peopleTables, sealed, type PasskeyTable, type PersonTable } from './tables.js';

/** The most passkeys that one person can have. */
const maxPasskeys = 10;
const signInPurpose = 'sign in';
const { transports: transportsColumn } = peopleTables.passkeys.columns;

type Json = Record<string, unknown>;

export interface PasskeysDeps extends SessionsDeps {
  readonly merchants: Pick<Merchants, 'retrieve'>;
  readonly consoleUrl: string;
  /** All that a role may call. */
  readonly permissionsOf: (role: Role) => string[];
}

/** The library, loaded when somebody uses a passkey: it takes 25 MB of memory. */
const load = () => import('@simplewebauthn/server');

export function createPasskeys(deps: PasskeysDeps) {
  const { database, clock, auditLog, merchants, consoleUrl, personalData } = deps;
  const { origin, hostname } = new URL(consoleUrl);
  const challenges = createChallenges(database, clock);
  const expected = { expectedOrigin: origin, expectedRPID: hostname, requireUserVerification: true };
  const creationPurpose = ({ person }: PersonCaller) => `create for ${person.sessionId}`;

  return {
    list: async (personId: string) => (await store.listPasskeys(database.reader, personId)).map(view),

    /** The options that the browser needs to make a passkey. */
    async startCreation(caller: PersonCaller): Promise<Json> {
      const { person, merchantId } = caller;
      const { generateRegistrationOptions } = await load();
      const [{ name }, known, challenge] = await Promise.all([
        merchants.retrieve(database.reader, merchantId),
        store.listPasskeys(database.reader, person.id),
        challenges.create(creationPurpose(caller)),
      ]);
      const options = await generateRegistrationOptions({
        rpName: name,
        rpID: hostname,
        userName: person.email,
        userID: new Uint8Array(Buffer.from(person.id)),
        challenge: new Uint8Array(challenge),
        attestationType: 'none',
        // Found without a name, and used with a finger, a face or a PIN: two factors in one.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: known.map((row) => ({ id: row.id, transports: transportsOf(row) })),
      });
      return { ...options };
    },

    /** Adds the passkey that the browser has made. Problems: `validation_error`, `invalid_state`. */
    async create(transaction: Transaction, caller: PersonCaller, credential: Json, name: string) {
      const { merchantId, person } = caller;
      const { verifyRegistrationResponse } = await load();
      const known = await store.listPasskeys(transaction, person.id);
      if (known.length >= maxPasskeys) {
        throw invalidState(`You have ${maxPasskeys} passkeys, and cannot have more. Remove one first`);
      }
      const verified = await verifyRegistrationResponse({
        ...expected,
        response: credential as unknown as RegistrationResponseJSON,
        expectedChallenge: (challenge) => challenges.answer(transaction, challenge, creationPurpose(caller)),
      }).catch(() => undefined);
      const made = verified?.verified ? verified.registrationInfo.credential : undefined;
      if (!made || (await store.lockPasskey(transaction, made.id))) {
        throw invalidField('credential', 'The passkey was not accepted. Try once more');
      }
      const row: PasskeyTable = {
        id: made.id,
        person_id: person.id,
        name,
        public_key: Buffer.from(made.publicKey).toString('base64url'),
        counter: made.counter,
        transports: transportsColumn.write((made.transports ?? []).slice(0, 10)),
        created_at: clock.real(),
        last_used_at: null,
      };
      await store.insertPasskey(transaction, row);
      await auditLog.remember(transaction, { id: row.id, merchantId, personId: person.id, value: name });
      await auditLog.record(transaction, {
        merchantId,
        actor: person,
        action: 'passkey.added',
        subjectId: row.id,
        after: {},
      });
      return view(row);
    },

    /** Problem: `not_found`. */
    async remove(
      transaction: Transaction,
      { merchantId, person }: PersonCaller,
      id: string,
    ): Promise<undefined> {
      const name = await store.deletePasskey(transaction, person.id, id);
      if (name === undefined) throw notFound('passkey');
      // A passkey may be from before names were kept apart from the log.
      await auditLog.remember(transaction, { id, merchantId, personId: person.id, value: name });
      await auditLog.record(transaction, {
        merchantId,
        actor: person,
        action: 'passkey.removed',
        subjectId: id,
        before: {},
      });
    },

    /** The options that the browser needs to ask for a passkey. The answer names its owner. */
    async startSignIn(): Promise<Json> {
      const { generateAuthenticationOptions } = await load();
      const challenge = new Uint8Array(await challenges.create(signInPurpose));
      const options = await generateAuthenticationOptions({
        rpID: hostname,
        userVerification: 'required',
        challenge,
      });
      return { ...options };
    },

    /** The person who has answered. Problem: `not_found`, the same for all answers that do not count. */
    async check(transaction: Transaction, credential: Json): Promise<PersonTable> {
      const { verifyAuthenticationResponse } = await load();
      const id = typeof credential['id'] === 'string' ? credential['id'] : '';
      const row = await store.lockPasskey(transaction, id);
      const verified =
        row &&
        (await verifyAuthenticationResponse({
          ...expected,
          response: credential as unknown as AuthenticationResponseJSON,
          expectedChallenge: (challenge) => challenges.answer(transaction, challenge, signInPurpose),
          credential: {
            id: row.id,
            publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
            counter: row.counter,
          },
        }).catch(() => undefined));
      const person =
        row && verified?.verified ? await store.findPerson(transaction, row.person_id) : undefined;
      if (!row || !verified || !person) {
        throw new Problem(
          'not_found',
          'This passkey is not known here, or was not accepted. Try once more, or ask an owner of the shop for a link',
        );
      }
      await store.updatePasskey(transaction, row.id, {
        counter: verified.authenticationInfo.newCounter,
        last_used_at: clock.real(),
      });
      return personalData.openRow(sealed.people, person);
    },

    /** Reads what `create` and `check` need. Call it before their transactions. */
    prepare: () => Promise.all([load(), challenges.prepare()]),
  };
}

const knownTransports: readonly AuthenticatorTransport[] = ['ble', 'hybrid', 'internal', 'nfc', 'usb'];

/** Those that browsers know: a passkey may have named others when it was made. */
function transportsOf({ transports }: Pick<PasskeyTable, 'transports'>): AuthenticatorTransport[] {
  const stored = transportsColumn.read(transports);
  return knownTransports.filter((known) => stored.includes(known));
}

function view({ id, name, created_at, last_used_at }: PasskeyTable) {
  return {
    id,
    name,
    createdAt: isoTime(created_at),
    lastUsedAt: last_used_at === null ? null : isoTime(last_used_at),
  };
}
