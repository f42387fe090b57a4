/** Deposit keys: the merchant's own extended public keys and treasuries, from which the addresses of payments on real networks come. */
import type { Database } from '../db/database.js';
import type { Reader, Transaction } from '../db/engine.js';
import { errorMessage } from '../shared/error-message.js';
import type { NewId } from '../shared/ids.js';
import { invalidField } from '../shared/problem.js';
import { modes, scopeOf, type Mode, type Scope } from '../shared/scope.js';
import type { AddressNet, Family } from '../chains/networks.js';
import { isEvm } from '../families/kinds.js';
import {
  createAddressSource,
  type AddressSource,
  type Forwarder,
  type SaltParts,
} from './address-sources.js';
import type { ScriptType } from './bitcoin-scripts.js';
import * as store from './deposit-key-store.js';
import { inScope } from '../db/rows.js';
import type { DepositKeyTable } from '../db/schema.js';
import type { Figure, Job } from '../shared/feature.js';
import { groupBy } from '../shared/group-by.js';

/** An account's extended public key, as its owner gave it. */
export interface ExtendedKey {
  readonly extendedPublicKey: string;
  /** Defaults to the script type of the key's prefix. For Bitcoin and Litecoin only. */
  readonly script: ScriptType | undefined;
  readonly treasury?: undefined;
  readonly salts?: undefined;
}

/** The wallet that the forwarders at the addresses pay to. For EVM networks only. */
export interface Treasury {
  readonly treasury: string;
  /** Defaults to the current salts when the treasury is set. */
  readonly salts?: SaltParts;
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
  /** The number of its addresses that were given out, from index 0 on. */
  readonly used: number;
  readonly createdAt: number;
  readonly state: DepositKeyState;
  readonly effectiveAt: number;
  /** When another key takes or took its place; null if none was set since. Its addresses stay watched. */
  readonly replacedAt: number | null;
};

/** New addresses are those of the key in use. A withdrawn key was replaced before it took effect. */
export type DepositKeyState = 'pending' | 'in_use' | 'replaced' | 'withdrawn';

/** True if new addresses are, or will be, of the key. */
export const isOpen = (state: DepositKeyState): boolean => state === 'in_use' || state === 'pending';

/**
 * The time that another key waits until it takes effect. A key decides where all income goes: anyone who has the
 * machine for a minute must not redirect it before the owner knows about it.
 */
export const waitMs = 24 * 3_600_000;

/** The forwarders of a merchant with a treasury that is in use, or will be. */
export interface CurrentForwarders {
  readonly scope: Scope;
  readonly source: AddressSource & { readonly forwarder: Forwarder };
}

export type DepositKeys = Awaited<ReturnType<typeof createDepositKeys>>;

/**
 * @param now real time, epoch milliseconds
 * @param forwarderSource makes the source of a treasury's addresses; throws an Error for the operator if it cannot be used
 */
export async function createDepositKeys(
  database: Database,
  now: () => number,
  newId: NewId,
  forwarderSource: (scope: Scope, treasury: string, salts: SaltParts) => AddressSource,
) {
  const secret = await store.ensureSaltSecret(database);
  let version = -1;
  /** The epoch of the newest treasury. */
  let newestEpoch = 0;
  /** In use or pending. The clock decides each time which of them is in use, so that all servers change together. */
  let open: ReadonlyMap<string, readonly DepositKeyTable[]> = new Map();
  /** Derived when first needed: reading an extended key takes a millisecond. */
  const sources = new Map<string, AddressSource>();

  /** Derives from a key without storing it. Problem: `validation_error` if it cannot be used; it never repeats the key. */
  function preview(scope: Scope, family: Family, key: GivenKey, net: AddressNet | undefined): AddressSource {
    if (key.treasury !== undefined && !isEvm(family)) {
      throw invalidField('treasury', 'Only EVM networks have forwarders. Use an extended public key');
    }
    try {
      const source =
        key.treasury === undefined
          ? createAddressSource(scope.mode, family, key.extendedPublicKey, { script: key.script, net })
          : forwarderSource(scope, key.treasury, key.salts ?? { epoch: newestEpoch, secret });
      // Refuses what derives nothing now, rather than when a payer waits for an address.
      source.derive(0);
      return source;
    } catch (error) {
      throw invalidField(key.treasury === undefined ? 'xpub' : 'treasury', errorMessage(error));
    }
  }

  /** Reads the keys that another process has set. Cheap while there are none. */
  async function refresh(): Promise<void> {
    // First the version: keys that are newer than it are read now and again, but never missed.
    const read = await store.readVersion(database.reader);
    if (read === version) return;
    const rows = await store.openKeys(database.reader, now()).execute();
    open = groupBy(rows, (row) => keyOf(scopeOf(row), row.family));
    newestEpoch = Math.max(0, ...rows.map(({ epoch }) => epoch));
    version = read;
  }

  function find(scope: Scope, family: Family, net?: AddressNet): AddressSource | undefined {
    const time = now();
    const inUse = open.get(keyOf(scope, family))?.find((row) => stateAt(row, time) === 'in_use');
    return inUse && sourceOf(inUse, net);
  }

  function sourceOf(row: DepositKeyTable, net?: AddressNet): AddressSource {
    const name = [row.mode, row.family, net ?? '', row.source_id, row.script ?? ''].join('/');
    const source = sources.get(name) ?? preview(scopeOf(row), row.family, keyOfRow(row), net);
    sources.set(name, source);
    return source;
  }

  function newRow(
    scope: Scope,
    family: Family,
    key: GivenKey,
    times: Pick<DepositKeyTable, 'created_at' | 'effective_at' | 'replaced_at'>,
  ): DepositKeyTable {
    const source = preview(scope, family, key, undefined);
    return {
      id: newId(),
      merchant_id: scope.merchantId,
      mode: scope.mode,
      family,
      extended_public_key: key.extendedPublicKey ?? null,
      script: key.script ?? null,
      treasury: source.forwarder?.treasury ?? null,
      epoch: key.treasury === undefined ? 0 : (key.salts?.epoch ?? newestEpoch),
      salt_secret: key.treasury === undefined ? null : ((key.salts ?? { secret }).secret ?? null),
      source_id: source.id,
      ...times,
      reported_at: times.effective_at <= times.created_at ? times.created_at : null,
    };
  }

  /** The keys that are in use and pending, while nobody else can change them. */
  async function readOpenOf(transaction: Transaction, scope: Scope, family: Family) {
    await store.raiseVersion(transaction);
    const time = now();
    const open = store.openKeys(transaction, time).$call(inScope(scope));
    const rows = await open.where('family', '=', family).execute();
    const inState = (state: DepositKeyState) => rows.find((row) => stateAt(row, time) === state);
    return { time, inUse: inState('in_use'), pending: inState('pending') };
  }

  async function withdrawPending(
    transaction: Transaction,
    { time, inUse, pending }: Awaited<ReturnType<typeof readOpenOf>>,
  ): Promise<string | undefined> {
    if (!pending) return undefined;
    // The row is kept: a server that has not read this change in the last second before the key takes effect may still
    // give out one of its addresses.
    await store.updateKey(transaction, pending.id, { replaced_at: time });
    if (inUse) await store.updateKey(transaction, inUse.id, { replaced_at: null });
    return pending.id;
  }

  /** Gives treasuries other forwarders from now on. Those that were given out stay watched and swept. */
  async function renewForwarders(
    transaction: Transaction,
    treasuries: readonly DepositKeyRecord[],
    epoch: number,
  ): Promise<void> {
    if (treasuries.length > 0) await store.raiseVersion(transaction);
    const time = now();
    for (const { id, merchantId, mode, family, treasury, ...times } of treasuries) {
      if (treasury === undefined) continue;
      await store.updateKey(transaction, id, { replaced_at: time });
      const row = newRow(
        { merchantId, mode },
        family,
        { treasury, salts: { epoch, secret } },
        {
          created_at: time,
          // A pending key may have taken effect in the lost part, and still has to wait here.
          effective_at: Math.max(time, times.effectiveAt),
          replaced_at: times.replacedAt,
        },
      );
      await store.insertKey(transaction, row);
    }
  }

  /** Oldest first, replaced ones too. @param merchantId of all merchants if it is undefined */
  async function list(reader: Reader, merchantId?: string): Promise<DepositKeyRecord[]> {
    const time = now();
    const rows = await store.listKeys(reader, merchantId);
    return rows.map((row) => ({
      ...keyOfRow(row),
      id: row.id,
      ...scopeOf(row),
      family: row.family,
      sourceId: row.source_id,
      used: row.next_index ?? 0,
      createdAt: row.created_at,
      state: stateAt(row, time),
      effectiveAt: row.effective_at,
      replacedAt: row.replaced_at,
    }));
  }

  /** Gives new forwarders, once, to treasuries that were set before there was a secret. */
  async function addSecrets(): Promise<void> {
    if (!(await store.hasOpenSalts(database.reader, now()))) return;
    await database.write(async (transaction) => {
      await store.raiseVersion(transaction);
      for (const key of await list(transaction)) {
        const isPlain = key.treasury !== undefined && key.salts?.secret === undefined;
        if (isPlain && isOpen(key.state)) await renewForwarders(transaction, [key], key.salts?.epoch ?? 0);
      }
    });
  }

  await addSecrets();
  await refresh();
  return {
    /** The keys in use, as this process last read them. */
    sources: { find },

    /** The forwarders of treasuries in use, then of pending ones, as this process last read them. */
    forwarders: (): readonly CurrentForwarders[] =>
      [...open.values()].flat().flatMap((row) => {
        const source = row.treasury === null ? undefined : sourceOf(row);
        if (!source?.forwarder) return [];
        return { scope: scopeOf(row), source: { ...source, forwarder: source.forwarder } };
      }),

    preview,

    /**
     * Makes a key the one for new addresses: a first key at once, another one after `waitMs`. The addresses of the
     * previous one stay watched, and the same key set again continues where it stopped. A pending key is withdrawn;
     * the key in use set again does only that. Problem: `validation_error`.
     * @param isAtOnce does not wait
     * @returns the ids of the keys whose state it changed; none if the key is in use or pending already
     */
    async set(
      transaction: Transaction,
      scope: Scope,
      family: Family,
      key: GivenKey,
      isAtOnce = false,
    ): Promise<string[]> {
      const source = preview(scope, family, key, undefined);
      if (key.treasury !== undefined) await refuseOwnAddress(transaction, key.treasury);
      const found = await readOpenOf(transaction, scope, family);
      const { time, inUse, pending } = found;
      if (await store.isOfOtherMode(transaction, scope, source.id)) {
        const other = scope.mode === 'live' ? 'test' : 'live';
        throw invalidField(
          'xpub',
          `is this merchant's key in ${other} mode. Test coins and real ones would be in one wallet: use another account of the wallet for ${scope.mode} mode`,
        );
      }
      // However the key is written: the id is that of its addresses.
      const isSame = (row: DepositKeyTable | undefined) => row?.source_id === source.id;
      if (pending && isSame(pending)) {
        if (!isAtOnce) return [];
        if (inUse) await store.updateKey(transaction, inUse.id, { replaced_at: time });
        await store.updateKey(transaction, pending.id, { effective_at: time, reported_at: time });
        return [pending.id];
      }
      const withdrawn = await withdrawPending(transaction, found);
      const changed = withdrawn === undefined ? [] : [withdrawn];
      if (isSame(inUse)) return changed;
      const effectiveAt = isAtOnce || !(inUse ?? pending) ? time : time + waitMs;
      if (inUse) await store.updateKey(transaction, inUse.id, { replaced_at: effectiveAt });
      const row = newRow(scope, family, key, {
        created_at: time,
        effective_at: effectiveAt,
        replaced_at: null,
      });
      await store.insertKey(transaction, row);
      return [...changed, row.id];
    },

    /** Withdraws a pending key. @returns its id, if there is one */
    withdraw: async (transaction: Transaction, scope: Scope, family: Family) =>
      withdrawPending(transaction, await readOpenOf(transaction, scope, family)),

    /** True if `takeUnreported` would find any, as this process last read them. */
    hasUnreported: (): boolean => {
      const time = now();
      return [...open.values()]
        .flat()
        .some((row) => row.reported_at === null && stateAt(row, time) === 'in_use');
    },

    /** The ids of the keys that have taken effect since the last call, in any process. */
    async takeUnreported(transaction: Transaction): Promise<string[]> {
      const taken = await store.takeUnreported(transaction, now());
      if (taken.length > 0) await store.raiseVersion(transaction);
      return taken;
    },

    /** Gives treasuries new forwarders, since nobody knows which of the old ones a lost database gave out. */
    raiseEpoch: renewForwarders,

    list,

    refresh,
    jobs: (): readonly Job[] => [{ name: 'deposit keys', intervalMs: 1000, run: refresh }],
    figures: (): readonly Figure[] => [
      {
        name: 'checkout_deposit_keys_pending',
        help: 'Deposit keys that were set in place of others, and take effect within a day',
        labels: ['mode'],
        async read() {
          const pending = (await list(database.reader)).filter(({ state }) => state === 'pending');
          return modes.map((mode) => [{ mode }, pending.filter((key) => key.mode === mode).length]);
        },
      },
    ],

    /** True if an address was ever given out, in either mode. */
    isAssigned: store.isAssigned,
  };
}

/** Refuses a treasury that is a deposit address of this server: forwarders would pay coins in a circle. */
async function refuseOwnAddress(transaction: Transaction, treasury: string): Promise<void> {
  if (!(await store.isAssigned(transaction, treasury))) return;
  throw invalidField(
    'treasury',
    'This is a deposit address of this server. The treasury must be a wallet of yours',
  );
}

function stateAt(row: DepositKeyTable, time: number): DepositKeyState {
  const { effective_at: effectiveAt, replaced_at: replacedAt } = row;
  if (replacedAt !== null && replacedAt < effectiveAt) return 'withdrawn';
  if (replacedAt !== null && replacedAt <= time) return 'replaced';
  return effectiveAt <= time ? 'in_use' : 'pending';
}

function keyOfRow(row: DepositKeyTable): GivenKey {
  const { treasury, extended_public_key: extendedPublicKey, script } = row;
  if (treasury !== null) {
    return { treasury, salts: { epoch: row.epoch, secret: row.salt_secret ?? undefined } };
  }
  if (extendedPublicKey === null)
    throw new Error(`The deposit key ${row.id} is neither a key nor a treasury`);
  return { extendedPublicKey, script: script ?? undefined };
}

function keyOf({ merchantId, mode }: Scope, family: Family): string {
  return `${merchantId}/${mode}/${family}`;
}
