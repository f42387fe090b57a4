/**
 * Exports of the transfers that a merchant's wallet pays on EVM networks. What is exported is reserved: the wallet may send it at
 * any time, so it is not exported again and cannot fail, until it is settled or released.
 */
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferTable, TreasuryPaymentTable } from '../db/schema.js';
import { isoTime } from '../shared/clock.js';
import { invalidField, invalidState, orNotFound } from '../shared/problem.js';
import type { Mode, Scope, Within } from '../shared/scope.js';
import { lockTransfers, waitingTransfers } from '../withdrawals/waiting-transfers.js';
import * as store from './export-store.js';
import type { ReservedTransfer } from './export-store.js';
import { networkAt, placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { readOwners } from './owners.js';
import { payoutCall, writePayouts, type Payout, type WrittenPayouts } from './payout-file.js';
import { readSeenPayments } from './seen-payments.js';
import { groupsOf } from './settle-paid.js';
import { ensureNoncePassed, ensureUnsent } from './used-nonce.js';
import { deleteUnclear, openPayments } from './watch-store.js';

export interface PayoutExport extends WrittenPayouts {
  /** Undefined if there was nothing to export. */
  readonly id: string | undefined;
  /** What the treasury seems to have paid: it settles by itself, or waits for the operator. */
  readonly leftOut: readonly { readonly id: string; readonly paidBy: readonly string[] }[];
}

/** A transfer that an export holds, or one that may be paid, and no node could tell: no export need hold that. */
type Releasable = TransferTable &
  Partial<Pick<ReservedTransfer, 'export_id' | 'handed_at' | 'handed_nonce' | 'wallet_answer'>>;

/** Reserves transfers that nobody exported, because a wallet may have paid them all the same. */
async function hold(
  { newId, clock }: TreasuryContext,
  transaction: Transaction,
  transfers: readonly TransferTable[],
  actor: string,
): Promise<void> {
  await store.insertExports(transaction, { id: newId(), actor, created_at: clock.real() }, transfers);
}

/** Reserves a transfer that waits again, unless an export still holds it. */
export async function holdAgain(
  deps: TreasuryContext,
  transaction: Transaction,
  transfer: TransferTable,
  actor: string,
): Promise<void> {
  if (!(await store.findExportOf(transaction, transfer.id))) await hold(deps, transaction, [transfer], actor);
}

export function createPayoutExports(deps: TreasuryContext) {
  const { database, clock, newId, auditLog, depositKeys, currencies, connected } = deps;
  const ownersIn = (reader: Reader, on: Pick<TransferTable, 'mode'>) =>
    readOwners(depositKeys, reader, on.mode);
  const write = (on: EvmConnected, id: string | undefined, createdAt: number, payouts: readonly Payout[]) =>
    writePayouts(
      { name: `Transfers ${id ?? ''}`.trim(), chainId: on.chainId, createdAt },
      payouts,
      currencies,
    );

  /** Locks what is exported. Another command may have taken some of it meanwhile, or the watcher has read its payment. */
  async function lockFree(
    transaction: Transaction,
    on: EvmConnected,
    transfers: readonly TransferTable[],
  ): Promise<void> {
    const place = placeOf(on);
    const ids = transfers.map(({ id }) => id);
    await lockTransfers(transaction, ids);
    const pending = await waitingTransfers(transaction, place);
    const reserved = await store.reservedOf(transaction, ids);
    const owners = await ownersIn(transaction, place);
    const paid = groupsOf(await openPayments(transaction, place), transfers, owners);
    const isFree =
      reserved.size === 0 &&
      transfers.every((row) => pending.some(({ id }) => id === row.id)) &&
      paid.every(({ waiting }) => waiting.length === 0);
    if (isFree) return;
    throw invalidState(
      'Some of these transfers have been taken by another command or paid meanwhile. Run the export again',
    );
  }

  async function reserve(
    on: EvmConnected,
    transfers: readonly TransferTable[],
    actor: string,
  ): Promise<{ id: string; createdAt: number }> {
    const [id, createdAt] = [newId(), clock.real()];
    await database.write(async (transaction) => {
      await deps.guard.startPayout(transaction, on.network.mode);
      await lockFree(transaction, on, transfers);
      await store.insertExports(transaction, { id, actor, created_at: createdAt }, transfers);
      for (const merchantId of new Set(transfers.map((row) => row.merchant_id))) {
        const own = transfers.filter((row) => row.merchant_id === merchantId);
        await auditLog.record(transaction, {
          ...{ merchantId, mode: on.network.mode, actor, action: 'transfer.exported', subjectId: id },
          after: { network: on.network.code, transfers: own.map((row) => row.id) },
        });
      }
    });
    return { id, createdAt };
  }

  function refusePaid(transfer: TransferTable, paid: readonly TreasuryPaymentTable[]): never {
    const hashes = paid.map((row) => row.tx_hash).join(', ');
    const isUnclear = paid.some((row) => row.is_certain === 0);
    throw invalidState(
      isUnclear
        ? `The treasury may have paid this transfer in ${hashes}, and no node could tell. Look there. If it did, use "transfers settle ${transfer.id}"; if not, "transfers release ${transfer.id}"`
        : `The treasury has paid this transfer in ${hashes}. It ends by itself when that is final; if it was for something else, use "transfers settle" for what it paid`,
    );
  }

  /** @param seen payments that have settled no transfer yet */
  async function refuseIfPaid(
    reader: Reader,
    transfer: TransferTable,
    seen: readonly TreasuryPaymentTable[],
  ): Promise<void> {
    const pending = await waitingTransfers(reader, transfer);
    const groups = groupsOf(seen, pending, await ownersIn(reader, transfer));
    const group = groups.find(({ waiting }) => waiting.some(({ id }) => id === transfer.id));
    // If another transfer alike is left for each payment, it does not matter which of them fails.
    if (group && group.paid.length > group.waiting.length - 1) refusePaid(transfer, group.paid);
  }

  return {
    /**
     * Reserves the transfers that wait and are not reserved yet. Problem: `invalid_state` while the watcher is behind.
     * @param merchantId of all merchants if it is undefined
     * @throws NodesUnavailable
     */
    async create(
      on: EvmConnected,
      merchantId: string | undefined,
      actor: string,
      signal: AbortSignal,
    ): Promise<PayoutExport> {
      const { reader } = database;
      await deps.guard.ensureTrusted(reader, on.network.mode);
      const place = placeOf(on);
      const pending = await waitingTransfers(reader, place, merchantId);
      const ids = pending.map(({ id }) => id);
      const reserved = await store.reservedOf(reader, ids);
      const waiting = pending.filter(({ id }) => !reserved.has(id));
      const payouts = waiting.map((transfer) => ({ transfer, call: payoutCall(on, transfer) }));
      const owners = await ownersIn(reader, place);
      const seen = await readSeenPayments(deps, on, owners, waiting, signal);
      const leftOut = groupsOf(seen, waiting, owners).flatMap((group) =>
        group.waiting.map(({ id }) => ({ id, paidBy: group.paid.map((row) => row.tx_hash) })),
      );
      const free = payouts.filter(({ transfer }) => !leftOut.some(({ id }) => id === transfer.id));
      const transfers = free.map(({ transfer }) => transfer);
      const { id, createdAt } =
        free.length === 0 ? { id: undefined, createdAt: clock.real() } : await reserve(on, transfers, actor);
      return { id, leftOut, ...write(on, id, createdAt, free) };
    },

    /** What a wallet that does not know the network is told of it; null if it is not configured any more. */
    chainOf(mode: Mode, code: string) {
      const on = networkAt(deps, { mode, network: code });
      if (!on) return null;
      const { name, evm } = on.network;
      return { chainId: on.chainId, name, coin: evm?.coin ?? '', rpcUrl: evm?.rpcUrl ?? null };
    },

    /** The network whose transfers calls pay. Problem: `validation_error`. */
    networkOf(mode: Mode, network: string): EvmConnected {
      const on = networkAt(deps, { mode, network });
      if (on) return on;
      throw invalidField('network', `Must be an EVM network with a node, in ${mode} mode`);
    },

    /**
     * What still waits of an export, and was handed to no wallet in the browser, to be written once more. Problems: `not_found`;
     * `invalid_state` if nothing is left, or if it is of another network, where the same calls would pay with other tokens.
     * @param expected the network that it must be of; any if it is undefined
     */
    async retrieve(
      scope: Within,
      id: string,
      expected?: EvmConnected,
    ): Promise<PayoutExport & { readonly on: EvmConnected }> {
      const rows = (await store.reservedTransfers(database.reader, scope)).filter(
        (row) => row.export_id === id,
      );
      const first = orNotFound(rows[0], 'export with transfers that still wait');
      const on = networkAt(deps, first);
      if (!on) throw invalidState(`NETWORKS_FILE has no ${first.network} any more`);
      if (expected && networkAt(deps, placeOf(expected)) !== on) {
        throw invalidState(
          `The export is of ${first.network} (${first.mode} mode), not of ${expected.network.code} (${expected.network.mode} mode)`,
        );
      }
      const free = rows.filter((row) => row.handed_at === null);
      if (free.length === 0) {
        throw invalidState(
          'These transfers were handed to a wallet in the browser, which may send them: a file would pay them twice',
        );
      }
      const payouts = free.map((transfer) => ({ transfer, call: payoutCall(on, transfer) }));
      return { id, leftOut: [], on, ...write(on, id, first.exported_at, payouts) };
    },

    /** Transfers of live mode that wait for a wallet, older than a time, and are in no export or PSBT. */
    unheld: store.unheldBefore,

    hold: (transaction: Transaction, transfers: readonly TransferTable[], actor: string) =>
      hold(deps, transaction, transfers, actor),

    /** What waits and is reserved, oldest export first. */
    list: (scope: Within): Promise<ReservedTransfer[]> => store.reservedTransfers(database.reader, scope),

    /** What waits and is not reserved, by network, and how the wallet gets it: by an export of calls, as a PSBT, or by hand. */
    async waiting(scope: Scope) {
      const counts = await store.countUnheld(database.reader, scope);
      return counts.map(({ network, count }) => {
        const hasPsbts = connected.some(
          (one) => one.network.mode === scope.mode && one.network.code === network && one.utxoNode,
        );
        const isCalled = networkAt(deps, { mode: scope.mode, network }) !== undefined;
        const by: 'calls' | 'psbt' | 'hand' = isCalled ? 'calls' : hasPsbts ? 'psbt' : 'hand';
        return { network, count: Number(count), by };
      });
    },

    /**
     * What `release` would let go. Problem: `not_found`.
     * @param id of an export, or of a transfer
     */
    async find(id: string, scope: Within): Promise<readonly Releasable[]> {
      const reserved = await store.reservedTransfers(database.reader, scope);
      const exported = reserved.filter((row) => row.export_id === id || row.id === id);
      if (exported.length > 0) return exported;
      const unclear = await store.unclearTransfer(database.reader, id, scope);
      return [orNotFound(unclear, 'export with transfers that still wait, and no transfer that one holds')];
    },

    /**
     * Lets transfers be exported again, or fail. A payment that may have been one of theirs is forgotten.
     * @param nonce the highest one with which the wallet signed the export: it must be used up in blocks that were read.
     * Undefined if the operator knows that the wallet will not send it. Problem: `invalid_state`
     */
    async release(
      transfers: readonly Releasable[],
      nonce: number | undefined,
      actor: string,
      signal: AbortSignal,
    ): Promise<void> {
      for (const transfer of transfers)
        await ensureUnsent(networkAt(deps, transfer), transfer, nonce, signal);
      if (nonce !== undefined) {
        for (const transfer of transfers) {
          const on = networkAt(deps, transfer);
          const { treasuriesOf } = await ownersIn(database.reader, transfer);
          await ensureNoncePassed(database.reader, on, treasuriesOf(transfer.merchant_id), nonce, signal);
        }
      }
      await database.write(async (transaction) => {
        await lockTransfers(
          transaction,
          transfers.map(({ id }) => id),
        );
        for (const transfer of transfers) {
          const held = await store.findExportOf(transaction, transfer.id);
          // Somebody else may have released it meanwhile, and exported it again: the proof was not of that export.
          const isSame =
            held?.id === transfer.export_id &&
            (held?.handed_at ?? null) === (transfer.handed_at ?? null) &&
            (held?.wallet_answer ?? null) === (transfer.wallet_answer ?? null);
          if (!isSame) {
            throw invalidState(
              `Another export or a wallet has taken the transfer ${transfer.id} meanwhile. Look again`,
            );
          }
          await store.releaseExports(transaction, [transfer.id], clock.real());
          const { treasuriesOf } = await ownersIn(transaction, transfer);
          await deleteUnclear(transaction, transfer, treasuriesOf(transfer.merchant_id));
          await auditLog.record(transaction, {
            ...{ merchantId: transfer.merchant_id, mode: transfer.mode, actor },
            ...{ action: 'transfer.released', subjectId: transfer.id },
            before: { export: held?.id ?? null },
            after: { export: null, usedNonce: nonce ?? null },
          });
        }
      });
    },

    /** For the rules of transfers: refuses to fail what is reserved, or was paid as far as is stored. Problem: `invalid_state`. */
    async ensureUnpaid(reader: Reader, transfer: TransferTable): Promise<void> {
      const held = await store.findExportOf(reader, transfer.id);
      if (held) {
        throw invalidState(
          `The transfer is in the export ${held.id} of ${isoTime(held.created_at)}, and the wallet can still pay it. If it never will, use "transfers release ${transfer.id}" first`,
        );
      }
      await refuseIfPaid(reader, transfer, await openPayments(reader, transfer));
    },

    /** The same, also if only one node shows the payment. @throws NodesUnavailable */
    async ensureUnpaidOnChain(transfer: TransferTable, signal: AbortSignal): Promise<void> {
      const on = networkAt(deps, transfer);
      if (!on) return;
      const owners = await ownersIn(database.reader, transfer);
      const seen = await readSeenPayments(deps, on, owners, [transfer], signal);
      await refuseIfPaid(database.reader, transfer, seen);
    },
  };
}
