/** Deposit keys: the merchant's own extended public keys and treasuries, from which the addresses of payments on real networks come. */
import type { Database } from '../db/database.js';
import type { Reader, Transaction } from '../db/engine.js';
import { errorMessage } from '../shared/error-message.js';
import type { NewId } from '../shared/ids.js';
import { invalidField } from '../shared/problem.js';
import { scopeOf, type Mode, type Scope } from '../shared/scope.js';
import type { AddressNet, Family } from '../chains/networks.js';
import {
  createAddressSource,
  type AddressSource,
  type AddressSources,
  type Forwarder,
} from './address-sources.js';
import * as store from './deposit-key-store.js';
import type { DepositKeyTable } from '../db/schema.js';

/** How a Bitcoin or Litecoin wallet locks an account's coins: BIP-44, BIP-49, BIP-84 and BIP-86. */
export const scriptTypes = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const;
export type KeyScript = (typeof scriptTypes)[number];

/** An account's extended public key, as its owner gave it. */
export interface ExtendedKey {
  readonly extendedPublicKey: string;
  /** By default that of the key's prefix. For Bitcoin and Litecoin only. */
  readonly script: KeyScript | undefined;
  readonly treasury?: undefined;
}

/** The wallet that the forwarders at the addresses pay to. For EVM networks only. */
export interface Treasury {
  readonly treasury: string;
  /** How many restores were confirmed when it was set; by default, when it is. */
  readonly epoch?: number;
  readonly extendedPublicKey?: undefined;
  readonly script?: undefined;
}

export type GivenKey = ExtendedKey | Treasury;

export type DepositKeyRecord = GivenKey & {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly family: Family;
  readonly sourceId: string;
  /** How many of its addresses were given out, from index 0 on. */
  readonly used: number;
  readonly createdAt: number;
  /** When another key took its place; null while it is in use. Its addresses stay watched. */
  readonly replacedAt: number | null;
};

/** The forwarders of a merchant whose treasury is in use. */
export interface CurrentForwarders {
  readonly scope: Scope;
  readonly source: AddressSource & { readonly forwarder: Forwarder };
}

export interface DepositKeys {
  /** The keys in use, as this process last read them. */
  readonly sources: AddressSources;
  /** Whether an address was ever given out, in either mode. */
  isAssigned(reader: Reader, address: string): Promise<boolean>;
  /** The merchants whose treasury is in use, as this process last read them. */
  forwarders(): readonly CurrentForwarders[];
  /** Derives from a key without storing it. Problem: `validation_error` if it cannot be used; it never repeats the key. */
  preview(scope: Scope, family: Family, key: GivenKey, net: AddressNet | undefined): AddressSource;
  /**
   * Makes a key the one for new addresses. The addresses of the former one stay watched, and the same key set again goes
   * on where it stopped. Problem: `validation_error`.
   * @returns false if it is in use already
   */
  set(transaction: Transaction, scope: Scope, family: Family, key: GivenKey): Promise<boolean>;
  /** Gives treasuries new forwarders, since nobody knows which of the former ones a lost database gave out. */
  raiseEpoch(transaction: Transaction, treasuries: readonly DepositKeyRecord[], epoch: number): Promise<void>;
  /** Oldest first, replaced ones too. @param merchantId of all merchants if it is undefined */
  list(reader: Reader, merchantId?: string): Promise<DepositKeyRecord[]>;
  /** Reads the keys that another process has set. Cheap while there are none. */
  refresh(): Promise<void>;
}

interface CurrentKey {
  readonly scope: Scope;
  readonly family: Family;
  readonly key: GivenKey;
  readonly sourceId: string;
}

/**
 * @param now real time, epoch milliseconds
 * @param forwarderSource makes the source of a treasury's addresses; throws an Error for the operator if it cannot be used
 */
export async function createDepositKeys(
  database: Database,
  now: () => number,
  newId: NewId,
  forwarderSource: (scope: Scope, treasury: string, epoch: number) => AddressSource,
): Promise<DepositKeys> {
  let version = -1;
  /** That of the newest treasury of all. */
  let newestEpoch = 0;
  let current: ReadonlyMap<string, CurrentKey> = new Map();
  /** Derived when first needed: reading an extended key takes a millisecond. */
  const sources = new Map<string, AddressSource>();

  const preview: DepositKeys['preview'] = (scope, family, key, net) => {
    if (key.treasury !== undefined && family !== 'evm') {
      throw invalidField('treasury', 'Only EVM networks have forwarders. Use an extended public key');
    }
    try {
      const source =
        key.treasury === undefined
          ? createAddressSource(scope.mode, family, key.extendedPublicKey, { script: key.script, net })
          : forwarderSource(scope, key.treasury, key.epoch ?? newestEpoch);
      // Refuses what derives nothing now, rather than when a payer waits for an address.
      source.derive(0);
      return source;
    } catch (error) {
      throw invalidField(key.treasury === undefined ? 'xpub' : 'treasury', errorMessage(error));
    }
  };

  async function refresh(): Promise<void> {
    // First the version: keys that are newer than it are read now and again, but never missed.
    const read = await store.readVersion(database.reader);
    if (read === version) return;
    const rows = await store.readCurrent(database.reader);
    current = new Map(
      rows.map((row) => [
        keyOf(scopeOf(row), row.family),
        {
          scope: scopeOf(row),
          family: row.family,
          key: keyOfRow(row),
          sourceId: row.source_id,
        },
      ]),
    );
    newestEpoch = Math.max(0, ...rows.map(({ epoch }) => epoch));
    version = read;
  }

  function find(scope: Scope, family: Family, net?: AddressNet): AddressSource | undefined {
    const found = current.get(keyOf(scope, family));
    if (!found) return undefined;
    const { key, sourceId } = found;
    const name = [scope.mode, family, net ?? '', sourceId, key.script ?? ''].join('/');
    const source = sources.get(name) ?? preview(scope, family, key, net);
    sources.set(name, source);
    return source;
  }

  function newRow(scope: Scope, family: Family, key: GivenKey): DepositKeyTable {
    const source = preview(scope, family, key, undefined);
    return {
      id: newId(),
      merchant_id: scope.merchantId,
      mode: scope.mode,
      family,
      extended_public_key: key.extendedPublicKey ?? null,
      script: key.script ?? null,
      treasury: source.forwarder?.treasury ?? null,
      epoch: key.treasury === undefined ? 0 : (key.epoch ?? newestEpoch),
      source_id: source.id,
      created_at: now(),
      replaced_at: null,
    };
  }

  await refresh();
  return {
    sources: { find },

    forwarders: () =>
      [...current.values()].flatMap(({ scope, family, key }) => {
        const source = key.treasury === undefined ? undefined : find(scope, family);
        return source?.forwarder ? [{ scope, source: { ...source, forwarder: source.forwarder } }] : [];
      }),

    preview,

    async set(transaction, scope, family, key) {
      const source = preview(scope, family, key, undefined);
      if (key.treasury !== undefined) await refuseOwnAddress(transaction, key.treasury);
      await store.raiseVersion(transaction);
      if (await store.isOfOtherMode(transaction, scope, source.id)) {
        const other = scope.mode === 'live' ? 'test' : 'live';
        throw invalidField(
          'xpub',
          `is this merchant's key in ${other} mode. Test coins and real ones would lie in one wallet: use another account of the wallet for ${scope.mode} mode`,
        );
      }
      const former = await store.findCurrent(transaction, scope, family);
      if (former?.source_id === source.id && (former.script ?? undefined) === key.script) return false;
      if (former) await store.markReplaced(transaction, former.id, now());
      await store.insertKey(transaction, newRow(scope, family, key));
      return true;
    },

    async raiseEpoch(transaction, treasuries, epoch) {
      if (treasuries.length > 0) await store.raiseVersion(transaction);
      for (const { id, merchantId, mode, family, treasury } of treasuries) {
        if (treasury === undefined) continue;
        const scope = { merchantId, mode };
        await store.markReplaced(transaction, id, now());
        await store.insertKey(transaction, newRow(scope, family, { treasury, epoch }));
      }
    },

    async list(reader, merchantId) {
      const rows = await store.listKeys(reader, merchantId);
      return rows.map((row) => ({
        ...keyOfRow(row),
        id: row.id,
        ...scopeOf(row),
        family: row.family,
        sourceId: row.source_id,
        used: row.next_index ?? 0,
        createdAt: row.created_at,
        replacedAt: row.replaced_at,
      }));
    },

    refresh,

    isAssigned: (reader, address) => store.isAssigned(reader, address),
  };
}

/** Coins that a forwarder pays to another address of this server would go round for ever. */
async function refuseOwnAddress(transaction: Transaction, treasury: string): Promise<void> {
  if (!(await store.isAssigned(transaction, treasury))) return;
  throw invalidField(
    'treasury',
    'This is a deposit address of this server. The treasury must be a wallet of yours',
  );
}

function keyOfRow(row: DepositKeyTable): GivenKey {
  const { treasury, extended_public_key: extendedPublicKey, script } = row;
  if (treasury !== null) return { treasury, epoch: row.epoch };
  if (extendedPublicKey === null)
    throw new Error(`The deposit key ${row.id} is neither a key nor a treasury`);
  return { extendedPublicKey, script: script ?? undefined };
}

function keyOf({ merchantId, mode }: Scope, family: Family): string {
  return `${merchantId}/${mode}/${family}`;
}
