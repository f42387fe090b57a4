/** Merchants, their API keys and deposit keys, the audit log, stored replies and settings. */
import type { Family, KeyScope } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { fields, stringRecord, strings } from '../codecs.js';
import type { Mode } from '../../shared/scope.js';
import { type DataPolicy, deletedWith, kept, own, ownPersonal } from '../data-policy.js';
import {
  auditIdentities,
  bigint,
  books,
  counter,
  growingTables,
  integer,
  json,
  record,
  table,
  text,
  time,
  timeZones,
  unspentCoins,
} from '../table.js';

export type TransferPolicy = 'any' | 'saved';

/** The staff is no customer, and both modes share it. */
const ofStaff: DataPolicy = {
  ...kept('both modes share the staff'),
  personal: { columns: { value: 'kept' }, index: 'identity' },
};

const replies = ownPersonal({
  columns: { reply: 'searched' },
  boundTo: ['merchant_id', 'mode', 'hash'],
});

export const accountTables = {
  merchants: table(kept('the account itself'), {
    id: text().primaryKey(),
    name: text(),
    business_name: text(),
    /** An https URL, or empty. */
    logo: text(),
    /** The service fee in basis points: 100 is 1 %. */
    fee_basis_points: integer(),
    /** An https or mailto URL, or empty. */
    support_url: text(),
    /** The origins that public keys may redirect to; null if not set. */
    redirect_origins: json(strings).nullable(),
    /** The destinations of transfers: any address, or only addresses saved for longer than 24 hours. */
    transfers: text<TransferPolicy>(),
    /** The most that may be transferred in 24 hours: decimal amounts by currency code. */
    daily_limits: json(stringRecord),
    /** The most that may be refunded in 24 hours, and the amounts up to which refunds need no approval. */
    daily_refunds: json(stringRecord),
    auto_refund: json(stringRecord),
    /** The currency in which the books say what bookings were worth; null: US dollars. */
    books_currency: text().nullable().since(books),
    /** The IANA name of the zone in which the shop's people read times; null: UTC. */
    time_zone: text().nullable().since(timeZones),
    created_at: time(),
    updated_at: time(),
  }),

  api_keys: table(kept('a reset keeps the keys'), {
    id: text().primaryKey(),
    merchant_id: text().references('merchants.id'),
    kind: text<'secret' | 'public'>(),
    mode: text<Mode>(),
    /** SHA-256 of the whole key, in hex. */
    digest: text().unique(),
    /** The key itself; null for secret keys. */
    public_key: text().nullable(),
    last4: text(),
    /** The scope that it may act in. */
    scope: text<KeyScope>(),
    /** Its purpose, in the operator's words; empty if none was given. */
    label: text(),
    /** Real time; null if it never expires. */
    expires_at: time().nullable(),
    created_at: time(),
    /** Within a few minutes, in real time; null if it was never used. */
    last_used_at: time().nullable(),
    revoked_at: time().nullable(),
  }).index('merchant', ['merchant_id', 'mode', 'kind']),

  /**
   * The changes of the configuration by operators and merchants, and who made them. Rows are never changed or deleted:
   * triggers refuse it.
   */
  audit_log: table(kept('append-only'), {
    id: counter(),
    /** Real time. */
    time: time(),
    merchant_id: text(),
    /** Null if both modes share it. */
    mode: text<Mode>().nullable(),
    /**
     * `key …1a2b`, `command line, Ada as user checkout`, `server`, or the role and id of a person with the id of the
     * request: `audit_identities` and the module that lets people sign in have the person and the origin.
     */
    actor: text(),
    action: text(),
    /** The id of the record that was changed. */
    subject_id: text(),
    /** The fields that changed; null if there were none. Never a secret. */
    before: json(fields).nullable(),
    after: json(fields).nullable(),
    /** The hash of the entry before; empty for the first one. */
    previous_hash: text(),
    /** The hash of the other columns except the id: merchants/audit-chain.ts. */
    hash: text(),
  })
    .index('merchant', ['merchant_id', 'id'])
    .index('time', ['time', 'id'])
    .index('merchant_time', ['merchant_id', 'time', 'id'], { since: growingTables }),

  /**
   * The identities of the people in the log, unless another table has them: erasing someone deletes their rows, and the
   * log stays as it is.
   */
  audit_identities: table(
    ofStaff,
    {
      /** The id of a person, for an e-mail address; of a person and a request, for its IP address; or of a passkey, for its name. */
      id: text().primaryKey(),
      merchant_id: text(),
      person_id: text(),
      /** Encrypted if there is a data key: db/personal-data.ts. */
      value: text(),
      /** The index that finds an e-mail address; null for others. */
      email_index: text().nullable(),
    },
    auditIdentities,
  )
    .index('person', ['person_id'])
    .index('email', ['merchant_id', 'email_index'], { where: sql`email_index is not null` }),

  /** A merchant's extended public key for deposit addresses on a family's real networks. */
  deposit_keys: table(kept('no address is given out twice'), {
    ...record,
    family: text<Family>(),
    /** In the form that its owner gave; null if there is a treasury instead. */
    extended_public_key: text().nullable(),
    /** Null: the script type of the key's prefix. */
    script: text<'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr'>().nullable(),
    /** The treasury that the forwarders at the addresses pay to; null if there is an extended key. */
    treasury: text().nullable(),
    /** The number of restores that were confirmed when it was set. The salts of a treasury's forwarders have it. */
    epoch: integer(),
    /** A secret in the same salts, so that nobody else knows the next forwarder; null for those from before there was one. */
    salt_secret: text().nullable(),
    /** The address source that the key is: the id in `derivations` and `addresses`. */
    source_id: text(),
    created_at: time(),
    /** From when on its addresses are given out: later than its creation, unless there was no other key or nobody waited. */
    effective_at: time(),
    /** When its taking effect was reported; null until then. */
    reported_at: time().nullable(),
    /** When another key takes its place; null if none was set since. Before `effective_at`: it was withdrawn in time. */
    replaced_at: time().nullable(),
  })
    .unique('newest', ['merchant_id', 'mode', 'family'], { where: sql`replaced_at is null` })
    .index('source', ['source_id'], { since: unspentCoins }),

  /** The time that a merchant has moved its test clock ahead of real time. No row: not at all. */
  test_clocks: table(deletedWith('the last transaction of a reset'), {
    merchant_id: text().primaryKey(),
    /** Milliseconds ahead of real time. */
    offset_ms: bigint(),
    /** When it was last moved (real time). */
    moved_at: time(),
  }),

  settings: table(kept('of no merchant'), {
    name: text().primaryKey(),
    value: text(),
  }),

  /** The replies of requests with an Idempotency-Key. Equal replies of one path are stored once. */
  idempotency_replies: table(replies, {
    merchant_id: text(),
    mode: text<Mode>(),
    hash: text(),
    /** JSON, encrypted if there is a data key. For a payment's lists that only grow, it has only their length. */
    reply: text(),
    /** When a record last referred to it. */
    created_at: time(),
  })
    .primaryKey('merchant_id', 'mode', 'hash')
    .index('age', ['created_at']),

  idempotency: table(own, {
    /** A hash of the caller, the method, the path and the key, which a caller can make long. */
    request: text().primaryKey(),
    merchant_id: text(),
    mode: text<Mode>(),
    payload_hash: text(),
    /** In `idempotency_replies`; empty until the change is done, and null if the reply is made from the payment again. */
    reply_hash: text().nullable(),
    /** Real time. */
    expires_at: time(),
  }).index('age', ['expires_at']),
};
