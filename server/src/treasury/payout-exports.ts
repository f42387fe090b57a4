/**
 * Exports of the transfers that a merchant's wallet pays on EVM networks. What is exported is reserved: the wallet may send it at
 * any time, so it is not exported again and cannot fail, until it is settled or released.
 */
import { storedActor, type AuditActor } from '../merchants/audit-log.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferExportTable, TransferTable } from '../db/schema.js';
import { isoTime } from '../shared/clock.js';
import { groupBy } from '../shared/group-by.js';
import { invalidField, invalidState, orNotFound } from '../shared/problem.js';
import type { Mode, Scope, Within } from '../shared/scope.js';
import { lockTransfers } from '../withdrawals/waiting-transfers.js';
import * as store from './export-store.js';
import type { ReservedTransfer } from './export-store.js';
import { networkAt, placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { readOwners } from './owners.js';
import { writePayouts, type WrittenPayouts } from './payout-file.js';
import { readSeenGroups, readStoredGroups } from './seen-payments.js';
import { ensureNoncePassed, ensureUnsent } from './used-nonce.js';
import { deleteUnclear } from './watch-store.js';

export interface PayoutExport extends WrittenPayouts {
  /** Undefined if there was nothing to export. */
  readonly id: string | undefined;
  /** What the treasury seems to have paid: it settles by itself, or waits for the operator. */
  readonly leftOut: readonly { readonly id: string; readonly paidBy: readonly string[] }[];
  /** What must not be paid now, and why. */
  readonly held: readonly { readonly id: string; readonly reason: string }[];
}

/** A transfer that an export holds, or one that may be paid, and no node could tell: no export need hold that. */
type Releasable = TransferTable &
  Partial<Pick<ReservedTransfer, 'export_id' | 'handed_at' | 'handed_nonce' | 'wallet_answer'>>;

/** Reserves transfers that nobody exported, because a wallet may have paid them all the same. */
export const hold = (
  { newId, clock }: TreasuryContext,
  transaction: Transaction,
  transfers: readonly TransferTable[],
  actor: AuditActor,
): Promise<void> =>
  store.insertExports(
    transaction,
    { id: newId(), actor: storedActor(actor), created_at: clock.real() },
    transfers,
  );

/** Problem: `invalid_state` if one of the transfers must not be paid now. */
export async function ensureDue(
  { beforePayout }: Pick<TreasuryContext, 'beforePayout'>,
  reader: Reader,
  transfers: readonly TransferTable[],
): Promise<void> {
  for (const transfer of transfers) {
    const reason = await beforePayout(reader, transfer);
    if (reason !== undefined)
      throw invalidState(`The transfer ${transfer.id} must not be paid now. ${reason}`);
  }
}

export function createPayoutExports(deps: TreasuryContext) {
  const { database, clock, newId, auditLog, currencies, connected } = deps;

  async function reserve(
    on: EvmConnected,
    made: Pick<TransferExportTable, 'id' | 'created_at'>,
    actor: AuditActor,
    transfers: readonly TransferTable[],
  ): Promise<void> {
    const place = placeOf(on);
    const { mode, network } = place;
    await database.write(async (transaction) => {
      await deps.guard.startPayout(transaction, mode);
      const ids = transfers.map(({ id }) => id);
      await lockTransfers(transaction, ids);
      // Another command may have taken some of it meanwhile, or the watcher has read its payment.
      const unheld = new Set((await store.unheldOn(transaction, place)).map(({ id }) => id));
      const groups = await readStoredGroups(deps, transaction, place);
      const paid = new Set(groups.flatMap(({ waiting }) => waiting.map(({ id }) => id)));
      if (ids.some((id) => !unheld.has(id) || paid.has(id))) {
        throw invalidState(
          'Some of these transfers have been taken by another command or paid meanwhile. Run the export again',
        );
      }
      await ensureDue(deps, transaction, transfers);
      await store.insertExports(transaction, { ...made, actor: storedActor(actor) }, transfers);
      for (const [merchantId, own] of groupBy(transfers, (row) => row.merchant_id)) {
        await auditLog.record(transaction, {
          ...{ merchantId, mode, actor, action: 'transfer.exported', subjectId: made.id },
          after: { network, transfers: own.map(({ id }) => id) },
        });
      }
    });
  }

  async function pickDue(reader: Reader, transfers: readonly TransferTable[]) {
    const free: TransferTable[] = [];
    const held: { id: string; reason: string }[] = [];
    for (const transfer of transfers) {
      const reason = await deps.beforePayout(reader, transfer);
      if (reason === undefined) free.push(transfer);
      else held.push({ id: transfer.id, reason });
    }
    return { free, held };
  }

  /** @param groups payments that have settled no transfer yet, and the transfers that wait */
  function refuseIfPaid(transfer: TransferTable, groups: Awaited<ReturnType<typeof readSeenGroups>>): void {
    const group = groups.find(({ waiting }) => waiting.some(({ id }) => id === transfer.id));
    // If another transfer alike is left for each payment, it does not matter which of them fails.
    if (!group || group.paid.length < group.waiting.length) return;
    const hashes = group.paid.map((row) => row.tx_hash).join(', ');
    throw invalidState(
      group.paid.some((row) => row.is_certain === 0)
        ? `The treasury may have paid this transfer in ${hashes}, and no node could tell. Look there. If it did, use "transfers settle ${transfer.id}"; if not, "transfers release ${transfer.id}"`
        : `The treasury has paid this transfer in ${hashes}. It ends by itself when that is final; if it was for something else, use "transfers settle" for what it paid`,
    );
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
      actor: AuditActor,
      signal: AbortSignal,
    ): Promise<PayoutExport> {
      const { reader } = database;
      await deps.guard.ensureTrusted(reader, on.network.mode);
      const place = placeOf(on);
      const waiting = await store.unheldOn(reader, place, merchantId);
      const paidBy = new Map(
        (await readSeenGroups(deps, on, waiting, signal)).flatMap((group) =>
          group.waiting.map(({ id }) => [id, group.paid.map((row) => row.tx_hash)]),
        ),
      );
      const leftOut = waiting.flatMap(({ id }) => {
        const hashes = paidBy.get(id);
        return hashes ? { id, paidBy: hashes } : [];
      });
      const unpaid = waiting.filter(({ id }) => !paidBy.has(id));
      const { free, held } = await pickDue(reader, unpaid);
      const id = free.length === 0 ? undefined : newId();
      const createdAt = clock.real();
      // Before they are reserved: what no call can pay is refused here.
      const written = writePayouts(on, { id, createdAt }, free, currencies);
      if (id !== undefined) await reserve(on, { id, created_at: createdAt }, actor, free);
      return { id, leftOut, held, ...written };
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
      const made = { id, createdAt: first.exported_at };
      return { id, leftOut: [], held: [], on, ...writePayouts(on, made, free, currencies) };
    },

    /** Transfers of live mode that wait for a wallet, older than a time, and are in no export or PSBT. */
    unheld: store.unheldBefore,

    hold: (transaction: Transaction, transfers: readonly TransferTable[], actor: AuditActor) =>
      hold(deps, transaction, transfers, actor),

    /** What waits and is reserved, oldest export first. */
    async list(scope: Within): Promise<ReservedTransfer[]> {
      const { reader } = database;
      const rows = await store.reservedTransfers(reader, scope);
      const described = await auditLog.describeActors(
        reader,
        rows.map((row) => row.exported_by),
      );
      return rows.map((row) => ({ ...row, exported_by: described.get(row.exported_by) ?? row.exported_by }));
    },

    /** What waits and is not reserved, by network, and how the wallet gets it: by an export of calls, as a PSBT, or by hand. */
    async waiting(scope: Scope) {
      const { mode } = scope;
      const counts = await store.countUnheld(database.reader, scope);
      return counts.map(({ network, count }) => {
        const hasPsbts = connected.some(
          (one) => one.network.mode === mode && one.network.code === network && one.utxoNode,
        );
        const by: 'calls' | 'psbt' | 'hand' = networkAt(deps, { mode, network })
          ? 'calls'
          : hasPsbts
            ? 'psbt'
            : 'hand';
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
      const unclear = await store.unclearTransfers(database.reader, scope);
      const found = unclear.find((row) => row.id === id);
      return [orNotFound(found, 'export with transfers that still wait, and no transfer that one holds')];
    },

    /**
     * Lets transfers be exported again, or fail. A payment that may have been one of theirs is forgotten.
     * @param nonce the highest one with which the wallet signed the export: it must be used up in blocks that were read.
     * Undefined if the operator knows that the wallet will not send it. Problem: `invalid_state`
     */
    async release(
      transfers: readonly Releasable[],
      nonce: number | undefined,
      actor: AuditActor,
      signal: AbortSignal,
    ): Promise<void> {
      for (const transfer of transfers) {
        const on = networkAt(deps, transfer);
        await ensureUnsent(on, transfer, nonce, signal);
        if (nonce === undefined) continue;
        const { treasuriesOf } = await readOwners(deps, database.reader, transfer.mode);
        await ensureNoncePassed(database.reader, on, treasuriesOf(transfer.merchant_id), nonce, signal);
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
          const { treasuriesOf } = await readOwners(deps, transaction, transfer.mode);
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
      refuseIfPaid(transfer, await readStoredGroups(deps, reader, transfer));
    },

    /** The same, also if only one node shows the payment. @throws NodesUnavailable */
    async ensureUnpaidOnChain(transfer: TransferTable, signal: AbortSignal): Promise<void> {
      const on = networkAt(deps, transfer);
      if (on) refuseIfPaid(transfer, await readSeenGroups(deps, on, [transfer], signal));
    },
  };
}
