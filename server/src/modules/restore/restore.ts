/**
 * Notices that the database was restored from an older backup, and lets work continue when the operator has confirmed
 * it. Addresses that may have been given out since are then left out, and transfers that may have been paid since are
 * held.
 */
import type { Logger } from 'pino';
import { raiseIndex } from '../../core/addresses/address-pool.js';
import { isOpen, type DepositKeyRecord, type DepositKeys } from '../../core/addresses/deposit-keys.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import type { RoomDeps } from '../../core/db/room-deps.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { afterCommit } from '../../core/db/transaction-context.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { AuditActor, AuditLog } from '../../core/merchants/audit-log.js';
import { byNetwork } from '../../core/shared/feature.js';
import { invalidState } from '../../core/shared/problem.js';
import type { Marker, Progress } from './marker.js';
import * as store from './restore-store.js';
import type { Suspicion, UnknownAddress } from './restore-store.js';
import { errorMessage } from '../../core/shared/error-message.js';
import { StartError } from '../../core/shared/start-error.js';
import { unheldBefore } from '../../core/withdrawals/waiting-transfers.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<'restore.confirmed', true> {}
}

export interface RestoreDeps extends RoomDeps {
  readonly marker: Marker;
  readonly auditLog: AuditLog;
  readonly depositKeys: Pick<DepositKeys, 'list' | 'raiseEpoch'>;
  readonly connected: readonly Pick<ConnectedNetwork, 'network'>[];
  /** Reserves them, as an export does, until they are settled or released. @returns false if no module can */
  readonly hold: (
    transaction: Transaction,
    transfers: readonly TransferRow[],
    actor: AuditActor,
  ) => Promise<boolean>;
  /** The records of wallets that have transfers are as old as the backup. */
  readonly forgetWallets: (transaction: Transaction) => Promise<void>;
  readonly log: Logger;
}

export type Restore = ReturnType<typeof createRestore>;

/** The effects of a confirmation. */
export interface RestorePlan {
  readonly suspicion: Suspicion;
  readonly skips: readonly { readonly key: DepositKeyRecord; readonly from: number; readonly to: number }[];
  /** The treasuries that get new forwarders. */
  readonly treasuries: readonly DepositKeyRecord[];
  readonly held: readonly TransferRow[];
}

/** A marker knows what was given out; the chain only shows what was paid. */
const spareByMarker = 100;
const spareByChain = 1000;

const notice =
  'The database may have been restored from an older backup: for those whom that concerns, no address is given out and nothing is paid in live mode until "restore confirm"';

const salesOff =
  'the database may have been restored from an older backup, and no payment gets an address until that is confirmed';

const unwritable =
  'The marker cannot be written, so a restored database may go unnoticed. Set MARKER_DIRECTORY to a folder that the server can write, and that outlives it';

export function createRestore(deps: RestoreDeps) {
  const { database, marker, auditLog, depositKeys, connected, clock, log } = deps;
  let current: Suspicion | undefined;
  /** True if no key that is in use gives out addresses. */
  let hasSalesOff = false;
  const isLive = connected.some(({ network }) => network.mode === 'live');

  /** The progress of the database. */
  async function readProgress(reader: Reader, names: readonly string[]): Promise<Progress> {
    return new Map([
      ...(await store.readIndexes(reader, names)),
      [store.payouts, await store.readPayouts(reader)],
    ]);
  }

  /** Compares the database with the marker. @returns the suspicion, from any server */
  async function look(): Promise<Suspicion | undefined> {
    // First the marker: whatever it has was committed before, so the database has it too, unless it was restored.
    const marked = marker.read();
    const progress = await database.snapshot((reader) => readProgress(reader, [...marked.keys()]));
    if (behind(marked, progress).length > 0) {
      await database.write(async (transaction) => {
        // Another process may just have confirmed it.
        await store.lockSuspicion(transaction);
        const found = behind(marked, await readProgress(transaction, [...marked.keys()]));
        if (found.length > 0) await suspect(transaction, { marker: Object.fromEntries(found) });
      });
    }
    // Values that other servers have given out, and those that a crash kept from being written.
    for (const [name, value] of progress) marker.raise(name, value);
    const suspicion = await store.readSuspicion(database.reader);
    if (suspicion && !current) {
      log.error({ ...suspicion }, notice);
    }
    current = suspicion;
    hasSalesOff = suspicion !== undefined && (await stopsAllSales(suspicion));
    return suspicion;
  }

  async function stopsAllSales(suspicion: Suspicion): Promise<boolean> {
    const keys = (await depositKeys.list(database.reader)).filter(
      ({ mode, state }) => mode === 'live' && state === 'in_use',
    );
    return keys.length > 0 && keys.every((key) => store.concernsKey(suspicion, key));
  }

  /** Evidence that proves nothing is reported anyway, and its addresses and transfers are left to a person. */
  async function warn(
    transaction: Transaction,
    addresses: readonly UnknownAddress[],
    paid: readonly TransferRow[],
  ): Promise<void> {
    for (const { sourceId, index } of addresses) await raiseIndex(transaction, sourceId, index + 1);
    if (addresses.length > 0) await store.addWarnings(transaction, addresses);
    if (paid.length > 0) await deps.hold(transaction, paid, 'server');
    afterCommit(transaction, () =>
      log.warn(
        { addresses, held: paid.map(({ id }) => id) },
        'Somebody paid addresses that were never given out, or made payments that transfers still must make. The addresses are left out, the transfers are held ("transfers exported"), and everything else continues',
      ),
    );
  }

  /** Adds to the suspicion. */
  async function suspect(transaction: Transaction, found: Partial<Suspicion>): Promise<void> {
    const known = await store.lockSuspicion(transaction);
    const values = { ...known?.marker };
    for (const [name, value] of Object.entries(found.marker ?? {})) {
      values[name] = Math.max(value, values[name] ?? 0);
    }
    await store.writeSuspicion(transaction, {
      since: known?.since ?? clock.real(),
      marker: values,
      addresses: [...(known?.addresses ?? []), ...(found.addresses ?? [])],
      transfers: [...(known?.transfers ?? []), ...(found.transfers ?? [])],
      coins: [...(known?.coins ?? []), ...(found.coins ?? [])],
    });
  }

  async function lookAgain(): Promise<void> {
    await look();
  }

  async function planIn(
    reader: Reader,
    suspicion: Suspicion,
    spare: number | undefined,
  ): Promise<RestorePlan> {
    const isMarked = Object.keys(suspicion.marker).length > 0;
    const more = spare ?? (isMarked ? spareByMarker : spareByChain);
    // The marker proves that the whole database is older. Evidence on the chain concerns a key, or a merchant's
    // payments.
    const keys = (await depositKeys.list(reader)).filter(
      (key) => key.mode === 'live' && (isMarked || store.concernsKey(suspicion, key)),
    );
    // Transfers that were created since then cannot have been paid: nothing was exported meanwhile.
    const waiting = await unheldBefore(reader, suspicion.since);
    const held: TransferRow[] = [];
    for (const row of waiting) {
      if (isMarked || (await store.concernsMerchant(reader, suspicion, row.merchant_id))) held.push(row);
    }
    const bySource = new Map(keys.map((key) => [key.sourceId, key]));
    return {
      suspicion,
      skips: [...bySource.values()].map((key) => {
        const paid = suspicion.addresses.filter(({ sourceId }) => sourceId === key.sourceId);
        const known = [key.used, suspicion.marker[key.sourceId] ?? 0, ...paid.map(({ index }) => index + 1)];
        return { key, from: key.used, to: Math.max(...known) + more };
      }),
      treasuries: keys.filter(({ treasury, state }) => treasury !== undefined && isOpen(state)),
      held,
    };
  }

  async function apply(transaction: Transaction, plan: RestorePlan, actor: AuditActor): Promise<void> {
    const { suspicion, skips, treasuries, held } = plan;
    for (const { key, to } of skips) await raiseIndex(transaction, key.sourceId, to);
    // Also the indexes of keys that were set since the backup: the keys may be set again.
    for (const [name, value] of Object.entries(suspicion.marker)) {
      if (name !== store.payouts) await raiseIndex(transaction, name, value);
    }
    const { epoch } = await store.readState(transaction);
    await depositKeys.raiseEpoch(transaction, treasuries, epoch + 1);
    await store.writeEpoch(transaction, epoch + 1);
    if (!(await deps.hold(transaction, held, actor)) && held.length > 0) {
      throw invalidState(
        `Nothing here can hold the transfers that may have been paid. First end each with "transfers settle" or "transfers fail": ${held.map(({ id }) => id).join(', ')}`,
      );
    }
    await deps.forgetWallets(transaction);
    const payouts = await store.readPayouts(transaction);
    await store.addPayouts(transaction, Math.max(0, (suspicion.marker[store.payouts] ?? 0) - payouts));
    await store.writeSuspicion(transaction, undefined);
    for (const merchantId of new Set(skips.map(({ key }) => key.merchantId))) {
      const own = skips.filter(({ key }) => key.merchantId === merchantId);
      await auditLog.record(transaction, {
        merchantId,
        mode: 'live',
        actor,
        action: 'restore.confirmed',
        subjectId: String(epoch + 1),
        before: { next: Object.fromEntries(own.map(({ key, from }) => [key.id, from])) },
        after: {
          next: Object.fromEntries(own.map(({ key, to }) => [key.id, to])),
          held: held.filter((row) => row.merchant_id === merchantId).map(({ id }) => id),
        },
      });
    }
  }

  return {
    look,
    suspect,
    warn,
    warnings: (): Promise<readonly UnknownAddress[]> => store.readWarnings(database.reader),

    /** @param spare the number of addresses that are left out beyond the last that is known; undefined for the default */
    async plan(spare: number | undefined): Promise<RestorePlan | undefined> {
      const suspicion = await look();
      return suspicion && database.snapshot((reader) => planIn(reader, suspicion, spare));
    },

    /** Problem: `invalid_state` if nothing is suspected. */
    async confirm(spare: number | undefined, actor: AuditActor): Promise<RestorePlan> {
      await look();
      const plan = await database.write(async (transaction) => {
        const suspicion = await store.lockSuspicion(transaction);
        if (!suspicion) throw invalidState('No restore is suspected: there is nothing to confirm');
        const made = await planIn(transaction, suspicion, spare);
        await apply(transaction, made, actor);
        return made;
      });
      await look();
      return plan;
    },

    async prepare(): Promise<void> {
      if (isLive) {
        try {
          marker.check();
        } catch (error) {
          throw new StartError(
            `MARKER_DIRECTORY: the server takes no real money without the small file there by which it notices that its database was restored, and that cannot be written (${errorMessage(error)}). Set MARKER_DIRECTORY to a folder that the server can write, and that outlives it`,
          );
        }
      }
      await look();
    },
    jobs: () => (isLive ? [{ name: 'restore', intervalMs: 5000, run: lookAgain }] : []),
    notices: () => [...(current ? [notice] : []), ...(isLive && !marker.isWritable() ? [unwritable] : [])],
    stops: () => (hasSalesOff ? [salesOff] : []),
    figures: () => [
      byNetwork({
        name: 'checkout_marker_unwritable',
        help: '1 while the file by which a restored database is noticed cannot be written',
        read: () =>
          Promise.resolve(
            connected
              .filter(({ network }) => network.mode === 'live')
              .map(({ network: { mode, code } }) => [{ mode, network: code }, marker.isWritable() ? 0 : 1]),
          ),
      }),
      byNetwork({
        name: 'checkout_restore_suspected',
        help: '1 while the database may be older than the work done with it; "restore status" says why',
        async read() {
          const isSuspected = (await store.readSuspicion(database.reader)) !== undefined;
          const live = connected.filter(({ network }) => network.mode === 'live');
          return live.map(({ network: { mode, code } }) => [{ mode, network: code }, isSuspected ? 1 : 0]);
        },
      }),
    ],
  };
}

/** The values of a marker that are ahead of the database. */
function behind(marked: Progress, progress: Progress): (readonly [string, number])[] {
  return [...marked].filter(([name, value]) => value > (progress.get(name) ?? 0));
}
