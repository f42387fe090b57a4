/** Creates, authenticates and revokes API keys. */
import type { KeyScope } from 'crypto-checkout/contract';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { NewId } from '../shared/ids.js';
import { orNotFound } from '../shared/problem.js';
import * as store from './key-store.js';
import type { ApiKeyTable } from '../db/schema.js';
import { afterCommit } from '../db/transaction-context.js';
import type { PageRequest } from '../shared/pagination.js';
import type { Job } from '../shared/feature.js';
import type { Caller, KeyOwner, Mode, Scope } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import { remember } from '../shared/remember.js';

export type KeyKind = KeyOwner['kind'];

/** A key for display. */
export type KeyRecord = Readonly<ReturnType<typeof view>>;

export interface NewKey extends KeyOwner {
  /** The scope of a secret key; `full` by default. Public keys have a list of their own. */
  readonly scope?: KeyScope | undefined;
  readonly label?: string | undefined;
  /** Real time, epoch milliseconds; never by default. */
  readonly expiresAt?: number | undefined;
}

export type Keys = ReturnType<typeof createKeys>;

const cachedMs = 5000;
const cachedKeys = 1000;

interface Known {
  /** Undefined for a key that only this process knows. */
  readonly id: string | undefined;
  readonly caller: Caller;
  /** The digest's hex digits as bytes. */
  readonly digest: Buffer;
  readonly until: number;
  /** Real time. */
  readonly expiresAt: number;
}

const format = /^(sk|pk)_(test|live)_[A-Za-z0-9_-]{43}$/;

/** The kind and mode in a key's prefix; undefined if the text is not formatted like a key. */
export function parseKey(key: string): { kind: KeyKind; mode: Mode } | undefined {
  if (!format.test(key)) return undefined;
  return {
    kind: key.startsWith('sk') ? 'secret' : 'public',
    mode: key.startsWith('test', 3) ? 'test' : 'live',
  };
}

function newKey(kind: KeyKind, mode: Mode): string {
  return `${kind === 'secret' ? 'sk' : 'pk'}_${mode}_${randomBytes(32).toString('base64url')}`;
}

export function createKeys(database: Database, clock: Clock, newId: NewId) {
  // Keyed by digest, oldest first. Keys are read on every request and rarely change.
  const cache = new Map<string, Known>();
  const ephemeral = new Map<string, Known>();
  /** The keys that pages use, by merchant and mode. */
  const publicKeys = new Map<string, { readonly key: string | undefined; readonly until: number }>();
  const forget = () => {
    cache.clear();
    publicKeys.clear();
  };
  /** When keys were used that is not written yet, by id. */
  let uses = new Map<string, number>();

  async function find(digest: string): Promise<Known | undefined> {
    const cached = ephemeral.get(digest) ?? cache.get(digest);
    if (cached && performance.now() < cached.until) return unlessExpired(cached);
    const row = await store.findByDigest(database.reader, digest);
    if (row?.revoked_at !== null) {
      cache.delete(digest);
      return undefined;
    }
    const known: Known = {
      id: row.id,
      caller: {
        merchantId: row.merchant_id,
        kind: row.kind,
        mode: row.mode,
        keyScope: row.scope,
        keyLast4: row.last4,
      },
      digest: Buffer.from(row.digest),
      until: performance.now() + cachedMs,
      expiresAt: row.expires_at ?? Number.POSITIVE_INFINITY,
    };
    remember(cache, digest, known, cachedKeys);
    return unlessExpired(known);
  }

  /** Keys expire in real time in both modes: anyone with a test key controls the test clock. */
  function unlessExpired(known: Known): Known | undefined {
    return clock.real() < known.expiresAt ? known : undefined;
  }

  /** Writes when keys were used since the last call. */
  async function writeUses(): Promise<void> {
    const written = uses;
    if (written.size === 0) return;
    uses = new Map();
    await database.write((transaction) => store.writeUses(transaction, written));
  }

  return {
    /**
     * The caller that a key belongs to; undefined if the key is unknown, revoked or expired. A key that another process revoked
     * can still be accepted for up to 5 s.
     */
    async authenticate(key: string): Promise<Caller | undefined> {
      if (!format.test(key)) return undefined;
      const digest = digestOf(key);
      const known = await find(digest);
      if (!known) return undefined;
      if (!timingSafeEqual(known.digest, Buffer.from(digest))) return undefined;
      if (known.id !== undefined) uses.set(known.id, clock.real());
      return known.caller;
    },

    writeUses,
    jobs: (): readonly Job[] => [{ name: 'key uses', intervalMs: 180_000, run: writeUses }],

    /**
     * Creates a key. A secret key can be shown only now, because only its digest is stored.
     * @param key one that was generated elsewhere
     */
    async create(transaction: Transaction, owner: NewKey, key = newKey(owner.kind, owner.mode)) {
      const id = newId();
      await store.insertKey(transaction, {
        id,
        merchant_id: owner.merchantId,
        kind: owner.kind,
        mode: owner.mode,
        digest: digestOf(key),
        public_key: owner.kind === 'public' ? key : null,
        last4: key.slice(-4),
        scope: owner.scope ?? 'full',
        label: owner.label ?? '',
        expires_at: owner.expiresAt ?? null,
        created_at: clock.real(),
        last_used_at: null,
        revoked_at: null,
      });
      afterCommit(transaction, forget);
      return { id, key };
    },

    /** True if a key is in the database, revoked or not. */
    async exists(transaction: Transaction, key: string): Promise<boolean> {
      return (await store.findByDigest(transaction, digestOf(key))) !== undefined;
    },

    async list(): Promise<KeyRecord[]> {
      return (await store.listKeys(database.reader)).map(view);
    },

    /** A merchant's keys of a mode, newest first. */
    async page(scope: Scope, request: PageRequest) {
      const { rows, total } = await store.pageOfKeys(database.reader, scope, request);
      return { rows: rows.map(viewInConsole), total };
    },

    /**
     * Revokes a key: at once in this process, within 5 s in others. Problem: `not_found`.
     * @param owner its owner; anybody if undefined
     * @returns the key as it was before
     */
    async revoke(transaction: Transaction, id: string, owner?: Scope): Promise<ApiKeyTable> {
      const row = orNotFound(await store.revokeKey(transaction, id, clock.real(), owner), 'key');
      afterCommit(transaction, forget);
      return row;
    },

    /**
     * The merchant's newest public key, for its pages; undefined if it has none. One that another process made or revoked is seen within
     * 5 s.
     */
    async publicKey(merchantId: string, mode: Mode): Promise<string | undefined> {
      const scope = `${merchantId}/${mode}`;
      const known = publicKeys.get(scope);
      if (known && performance.now() < known.until) return known.key;
      const key = await store.findPublicKey(database.reader, { merchantId, mode }, clock.real());
      remember(publicKeys, scope, { key, until: performance.now() + cachedMs }, cachedKeys);
      return key;
    },

    /**
     * True if a key was a secret one when it was last used: by memory only, without a look into the database. It does
     * not matter here that it has to be looked up again: waiting for that look-up would be waiting for all strangers.
     */
    isKnownSecret(key: string): boolean {
      if (!format.test(key) || !key.startsWith('sk')) return false;
      const digest = digestOf(key);
      return ephemeral.has(digest) || cache.has(digest);
    },

    /** Creates a secret key that only this process knows, and only while it runs. */
    addEphemeral(merchantId: string, mode: Mode): string {
      const key = newKey('secret', mode);
      const digest = digestOf(key);
      const keyLast4 = key.slice(-4);
      const caller = { merchantId, kind: 'secret', mode, keyScope: 'full', keyLast4 } as const;
      const times = { until: Number.POSITIVE_INFINITY, expiresAt: Number.POSITIVE_INFINITY };
      ephemeral.set(digest, { id: undefined, caller, digest: Buffer.from(digest), ...times });
      return key;
    },
  };
}

function view(row: ApiKeyTable) {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    kind: row.kind,
    mode: row.mode,
    /** Public keys in full, secret keys as their prefix and last 4 characters. */
    key: row.public_key ?? `sk_${row.mode}_…${row.last4}`,
    /** Null for public keys, whose list of endpoints is fixed. */
    scope: row.kind === 'public' ? null : row.scope,
    /** Its purpose; empty if none was given. */
    label: row.label,
    /** Null if it never expires. */
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    /** Within a few minutes; null if it was never used. */
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

function viewInConsole(row: ApiKeyTable) {
  const time = (value: number | null) => (value === null ? null : isoTime(value));
  return {
    ...view(row),
    createdAt: isoTime(row.created_at),
    lastUsedAt: time(row.last_used_at),
    expiresAt: time(row.expires_at),
    revokedAt: time(row.revoked_at),
  };
}

/** SHA-256 in hex. Keys are random, so a slow hash is not needed. */
function digestOf(key: string): string {
  return hash('sha256', key, 'hex');
}
