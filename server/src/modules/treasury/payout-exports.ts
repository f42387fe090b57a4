/**
 * Exports of the transfers that a merchant's wallet pays on EVM networks. Exported transfers are reserved: the wallet may send them
 * at any time, so they are not exported again and cannot fail, until they are settled or released.
 */
import { storedActor, type AuditActor } from '../../core/merchants/audit-log.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { isoTime } from '../../core/shared/clock.js';
import { groupBy } from '../../core/shared/group-by.js';
import { invalidField, invalidState, orNotFound } from '../../core/shared/problem.js';
import type { Mode, Scope, Within } from '../../core/shared/scope.js';
import { ensureDue } from '../networks/ensure-due.js';
import { lockTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { ensureUnsent } from './asked-before.js';
import * as store from './export-store.js';
import type { HeldExport, ReservedTransfer } from './export-store.js';
import { networkAt, placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { listTreasuries, readOwners } from './owners.js';
import { writePayouts, type WrittenPayouts } from './payout-file.js';
import { canBeFor, readSeenGroups, readStoredGroups } from './seen-payments.js';
import { ensureNoncePassed, ensureNotSeen, ensurePossible, leastNonce } from './used-nonce.js';
import { noteUnclear } from './watch-store.js';
import type { TransferExportTable, TreasuryPaymentRow } from './tables.js';

export interface PayoutExport extends WrittenPayouts {
  /** Undefined if there was nothing to export. */
  readonly id: string | undefined;
  /** Transfers that the treasury seems to have paid: each settles automatically, or waits for the operator. */
  readonly leftOut: readonly { readonly id: string; readonly paidBy: readonly string[] }[];
  /** Transfers that must not be paid now, and why. */
  readonly held: readonly { readonly id: string; readonly reason: string }[];
}

/** A transfer that an export holds, or one that may have been paid, and no node knew: no export need hold that. */
type Releasable = TransferRow & Partial<HeldExport>;

/** Why transfers are let go that a wallet may have: a nonce that is used up, or what somebody has decided, in their words. */
export type ReleaseReason = { readonly nonce: number } | { readonly decision: string };

/** Reserves transfers that nobody exported, because a wallet may have paid them anyway: as if it had been asked to. */
export const hold = (
  { newId, clock }: TreasuryContext,
  transaction: Transaction,
  transfers: readonly TransferRow[],
  actor: AuditActor,
): Promise<void> => {
  const now = clock.real();
  const made = { id: newId(), actor: storedActor(actor), created_at: now, handed_at: now };
  return store.insertExports(transaction, made, transfers, new Map());
};

export function createPayoutExports(deps: TreasuryContext) {
  const { database, clock, newId, auditLog, currencies, connected } = deps;

  async function reserve(
    on: EvmConnected,
    made: Pick<TransferExportTable, 'id' | 'created_at'>,
    actor: AuditActor,
    transfers: readonly TransferRow[],
    payers: ReadonlyMap<string, store.Payer>,
  ): Promise<void> {
    const place = placeOf(on);
    const { mode, network } = place;
    await database.write(async (transaction) => {
      await deps.hooks.beforePayout(transaction, mode);
      const ids = transfers.map(({ id }) => id);
      await lockTransfers(transaction, ids);
      // Another command may have taken some of it meanwhile, or the watcher has read its payment.
      const unheld = new Set((await store.unheldOn(transaction, place)).map(({ id }) => id));
      const groups = await readStoredGroups(deps, transaction, place);
      const paid = new Set(
        groups.flatMap(({ waiting, paid: payments }) =>
          waiting.filter((row) => payments.some((one) => canBeFor(deps, one, row))).map(({ id }) => id),
        ),
      );
      if (ids.some((id) => !unheld.has(id) || paid.has(id))) {
        throw invalidState(
          'Some of these transfers have been taken by another command or paid meanwhile. Run the export again',
        );
      }
      await ensureDue(deps, transaction, transfers);
      const stored = { ...made, actor: storedActor(actor), handed_at: null };
      await store.insertExports(transaction, stored, transfers, payers);
      for (const [merchantId, own] of groupBy(transfers, (row) => row.merchant_id)) {
        await auditLog.record(transaction, {
          merchantId,
          mode,
          actor,
          action: 'transfer.exported',
          subjectId: made.id,
          after: { network, transfers: own.map(({ id }) => id) },
        });
      }
    });
  }

  /**
   * The transfers among these that can be written for a wallet now: not those that a treasury seems to have paid, nor
   * those that must not be paid.
   * @throws NodesUnavailable; Problem `invalid_state` while the watcher is behind
   */
  async function pickDue<Row extends TransferRow>(
    on: EvmConnected,
    transfers: readonly Row[],
    exportId: string | undefined,
    signal: AbortSignal,
  ) {
    const groups = await readSeenGroups(deps, on, transfers, signal);
    const leftOut = transfers.flatMap((transfer) => {
      const { id } = transfer;
      const group = groups.find(({ waiting }) => waiting.some((row) => row.id === id));
      const paid = group?.paid.filter((row) => canBeFor(deps, row, transfer)) ?? [];
      return paid.length === 0 ? [] : { id, paidBy: paid.map((row) => row.tx_hash) };
    });
    const unpaid = transfers.filter(({ id }) => !leftOut.some((one) => one.id === id));
    const reasons = await deps.whyHeld(database.reader, unpaid, exportId);
    return {
      leftOut,
      free: unpaid.filter(({ id }) => !reasons.has(id)),
      held: [...reasons].map(([id, reason]) => ({ id, reason })),
    };
  }

  /** By merchant, the account that the file is for, and its next nonce. @throws NodesUnavailable */
  async function payersOf(
    on: EvmConnected,
    transfers: readonly TransferRow[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, store.Payer>> {
    const payers = new Map<string, store.Payer>();
    for (const merchantId of new Set(transfers.map((row) => row.merchant_id))) {
      const keys = await listTreasuries(deps, database.reader, on.network.mode, merchantId);
      const account = keys.find(({ state }) => state === 'in_use')?.treasury;
      if (account === undefined) continue;
      payers.set(merchantId, { account, nonce: await leastNonce(on, account, signal) });
    }
    return payers;
  }

  /** @param groups payments that have settled no transfer yet, and the transfers that wait */
  function refuseIfPaid(transfer: TransferRow, groups: Awaited<ReturnType<typeof readSeenGroups>>): void {
    const group = groups.find(({ waiting }) => waiting.some(({ id }) => id === transfer.id));
    if (!group?.paid.some((row) => canBeFor(deps, row, transfer))) return;
    const able = group.waiting.filter((one) => group.paid.some((row) => canBeFor(deps, row, one)));
    // If another identical transfer is left for each payment, it does not matter which of them fails.
    if (group.paid.length < able.length) return;
    const hashes = group.paid.map((row) => row.tx_hash).join(', ');
    throw invalidState(
      group.paid.some((row) => !row.is_certain)
        ? `The treasury may have paid this transfer in ${hashes}, and no node could show it. Look there. If it did, use "transfers settle ${transfer.id}"; if not, "transfers release ${transfer.id}"`
        : `The treasury has paid this transfer in ${hashes}. It ends automatically when that is final; if it was for something else, use "transfers settle" for what it paid`,
    );
  }

  /** A nonce is no proof while the treasury may have paid with it. @param paid payments like the transfer */
  function refuseIfUnclear(transfer: TransferRow, paid: readonly TreasuryPaymentRow[]): void {
    const unclear = paid.filter((row) => !row.is_certain && canBeFor(deps, row, transfer));
    if (unclear.length === 0) return;
    const hashes = unclear.map((row) => row.tx_hash).join(', ');
    throw invalidState(
      `The treasury may have paid the transfer ${transfer.id} in ${hashes}, perhaps with this very nonce, and no node could show it. Look there. If it did, use "transfers settle ${transfer.id}"; if not, an owner can release it without a nonce. Nothing was released`,
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
      await deps.hooks.ensurePayable(reader, on.network.mode, merchantId);
      const place = placeOf(on);
      const waiting = await store.unheldOn(reader, place, merchantId);
      const { free, held, leftOut } = await pickDue(on, waiting, undefined, signal);
      const id = free.length === 0 ? undefined : newId();
      const createdAt = clock.real();
      // Before they are reserved: a transfer that no call can pay is refused here.
      const written = writePayouts(on, { id, createdAt }, free, currencies);
      if (id !== undefined) {
        const payers = await payersOf(on, free, signal);
        await reserve(on, { id, created_at: createdAt }, actor, free, payers);
      }
      return { id, leftOut, held, ...written };
    },

    /** The details for a wallet that does not know the network; null if it is not configured any more. */
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
     * The transfers of an export that still wait, and were handed to no wallet in the browser, to be written once more:
     * by the same checks as the first time. Problems: `not_found`; `invalid_state` if nothing is left, while the
     * watcher is behind, if a wallet may have sent one although it refused, or if it belongs to another
     * network, where the same calls would pay with other tokens.
     * @param expected the network that it must be of; any if it is undefined
     * @throws NodesUnavailable
     */
    async retrieve(
      scope: Within,
      id: string,
      expected: EvmConnected | undefined,
      signal: AbortSignal,
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
      await deps.hooks.ensurePayable(database.reader, on.network.mode, scope.merchantId);
      const unhanded = rows.filter((row) => row.handed_at === null);
      if (unhanded.length === 0) {
        throw invalidState(
          'These transfers were handed to a wallet, or nobody knows which one has them: a file would pay them twice',
        );
      }
      await ensureUnsent(database.reader, on, unhanded, signal);
      const made = { id, createdAt: first.exported_at };
      const { free, held, leftOut } = await pickDue(on, unhanded, id, signal);
      return { id, leftOut, held, on, ...writePayouts(on, made, free, currencies) };
    },

    hold: (transaction: Transaction, transfers: readonly TransferRow[], actor: AuditActor) =>
      hold(deps, transaction, transfers, actor),

    /** The database is older than the last hand-overs: any wallet may have the transfers of an export. */
    forgetWallets: (transaction: Transaction): Promise<void> =>
      store.forgetWallets(transaction, clock.real()),

    /** The transfers that wait and are reserved, oldest export first. */
    async list(scope: Within): Promise<ReservedTransfer[]> {
      const { reader } = database;
      const rows = await store.reservedTransfers(reader, scope);
      const described = await auditLog.describeActors(
        reader,
        rows.map((row) => row.exported_by),
      );
      return rows.map((row) => ({ ...row, exported_by: described.get(row.exported_by) ?? row.exported_by }));
    },

    /**
     * The transfers that wait and are not reserved, by network, and how the wallet gets them: by an export of calls,
     * as a PSBT, or by hand.
     */
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
     * The transfers that `release` would let go. Problem: `not_found`.
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
     * Lets transfers be exported again, or fail. Payments of them that happen anyway are booked. A decision sets
     * aside what may have been their payments, and what no node knew for certain, but for one for each equal transfer
     * that waits too.
     * @param why by a nonce, the highest one with which the wallet signed the export: the account must have used it up
     * in blocks that were read, it must be one that it can have signed with, and no payment may be unclear. A decision
     * is refused only if a node has the transaction. Problem: `invalid_state`
     */
    async release(
      transfers: readonly Releasable[],
      why: ReleaseReason,
      actor: AuditActor,
      signal: AbortSignal,
    ): Promise<void> {
      const nonce = 'nonce' in why ? why.nonce : null;
      for (const transfer of transfers) {
        const on = networkAt(deps, transfer);
        await ensureNotSeen(on, transfer, signal);
        if (nonce === null) continue;
        const claimed = { account: ensurePossible(transfer, nonce), nonce, currency: transfer.currency };
        await ensureNoncePassed(database.reader, on, claimed, signal);
      }
      const ids = transfers.map(({ id }) => id);
      await database.write(async (transaction) => {
        const locked = await lockTransfers(transaction, ids);
        const groups = [];
        for (const [one] of groupBy(transfers, (row) => `${row.mode}/${row.network}`).values())
          if (one) groups.push(...(await readStoredGroups(deps, transaction, one)));
        for (const transfer of transfers) {
          const held = await store.findExportOf(transaction, transfer.id);
          // It may have ended meanwhile, or somebody else has released it and exported it again: the proof was not of that.
          const isSame =
            locked.get(transfer.id)?.status === 'pending' &&
            held?.id === transfer.export_id &&
            (held?.handed_at ?? null) === (transfer.handed_at ?? null) &&
            (held?.handed_nonce ?? null) === (transfer.handed_nonce ?? null) &&
            (held?.wallet_answer ?? null) === (transfer.wallet_answer ?? null);
          if (!isSame) {
            throw invalidState(
              `The transfer ${transfer.id} has ended meanwhile, or another export or a wallet has taken it. Look again`,
            );
          }
          const now = clock.real();
          const alike = groups.find(({ waiting }) => waiting.some(({ id }) => id === transfer.id));
          if ('nonce' in why) refuseIfUnclear(transfer, alike?.paid ?? []);
          await store.releaseExports(transaction, [transfer.id], now, nonce);
          if ('decision' in why) {
            const { treasuriesOf } = await readOwners(deps, transaction, transfer.mode);
            const treasuries = treasuriesOf(transfer.merchant_id);
            const paymentNote = { note: why.decision, noted_by: storedActor(actor), noted_at: now };
            // An equal transfer that waits may have been paid.
            const others = alike?.waiting.filter(({ id }) => !ids.includes(id)) ?? [];
            await noteUnclear(transaction, transfer, treasuries, paymentNote, others.length);
          }
          await auditLog.record(transaction, {
            merchantId: transfer.merchant_id,
            mode: transfer.mode,
            actor,
            action: 'transfer.released',
            subjectId: transfer.id,
            before: { export: held?.id ?? null },
            after: { export: null, ...('nonce' in why ? { usedNonce: nonce } : { decision: why.decision }) },
          });
        }
      });
    },

    /** For the rules of transfers: refuses to fail what is reserved, or was paid as far as is stored. Problem: `invalid_state`. */
    async ensureUnpaid(reader: Reader, transfer: TransferRow): Promise<void> {
      const held = await store.findExportOf(reader, transfer.id);
      if (held) {
        throw invalidState(
          `The transfer is in the export ${held.id} of ${isoTime(held.created_at)}, and the wallet can still pay it. If it never will, use "transfers release ${transfer.id}" first`,
        );
      }
      refuseIfPaid(transfer, await readStoredGroups(deps, reader, transfer));
    },

    /** The same, but one node that shows the payment is enough to refuse. @throws NodesUnavailable */
    async ensureUnpaidOnChain(transfer: TransferRow, signal: AbortSignal): Promise<void> {
      const on = networkAt(deps, transfer);
      if (on) refuseIfPaid(transfer, await readSeenGroups(deps, on, [transfer], signal));
    },
  };
}
