/**
 * Exported transfers that a page hands to a wallet in the browser. What was handed over is marked before the wallet is asked: it
 * may be sent from then on, whatever becomes of the page, and no page hands it over twice.
 */
import type { AuditActor } from '../merchants/audit-log.js';
import type { Input, PayoutsApi } from 'crypto-checkout/contract';
import type { TransferTable } from '../db/schema.js';
import { invalidField, invalidState, orNotFound } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import { lockTransfers } from '../withdrawals/waiting-transfers.js';
import * as store from './export-store.js';
import { networkAt, type EvmConnected, type TreasuryContext } from './context.js';
import { ensureDue } from './payout-exports.js';
import { readOwners } from './owners.js';
import { readSeenGroups } from './seen-payments.js';
import { isHash, nextNonce } from './used-nonce.js';

type HandOver = Input<PayoutsApi['payoutExports']['handOver']>['body'] & { readonly exportId: string };
type WalletAnswer = Input<PayoutsApi['payoutExports']['keepAnswer']>['body'] & { readonly exportId: string };

export function createHandOver(deps: TreasuryContext) {
  const { database, clock, auditLog } = deps;

  /** Refuses what the treasury has paid, unless a wallet was asked for as many transfers alike. */
  async function ensureUnpaid(
    on: EvmConnected,
    rows: readonly TransferTable[],
    reserved: readonly store.ReservedTransfer[],
    signal: AbortSignal,
  ): Promise<void> {
    const asked = new Set(rows.map(({ id }) => id));
    const handed = new Set(reserved.flatMap(({ id, handed_at: at }) => (at === null ? [] : id)));
    for (const { waiting, paid } of await readSeenGroups(deps, on, rows, signal)) {
      const alike = waiting.filter(({ id }) => handed.has(id)).length;
      if (paid.length <= alike || !waiting.some(({ id }) => asked.has(id))) continue;
      const hashes = paid.map((row) => row.tx_hash).join(', ');
      throw invalidState(
        `The treasury seems to have paid one of these already, in ${hashes}. Nothing was sent`,
      );
    }
  }

  return {
    /**
     * Marks transfers of an export. Problems: `not_found`; `validation_error` if the
     * account is no treasury of the merchant; `invalid_state` if a wallet was asked for one before, or it seems to be paid.
     * @throws NodesUnavailable
     */
    async handOver(
      { merchantId, mode }: Scope,
      { exportId, transfers, from }: HandOver,
      actor: AuditActor,
      signal: AbortSignal,
    ): Promise<void> {
      const { reader } = database;
      const reserved = await store.reservedTransfers(reader, { mode });
      const own = reserved.filter((row) => row.merchant_id === merchantId && row.export_id === exportId);
      const rows = own.filter((row) => transfers.includes(row.id));
      const found = rows.length === new Set(transfers).size ? rows[0] : undefined;
      const first = orNotFound(found, 'export with these transfers that still wait');
      const on = networkAt(deps, first);
      if (!on) throw invalidState(`NETWORKS_FILE has no ${first.network} any more`);
      const { treasuriesOf } = await readOwners(deps, reader, mode);
      if (!treasuriesOf(merchantId).includes(from.toLowerCase())) {
        throw invalidField('from', 'Is no treasury of the shop: what another account pays does not settle');
      }
      await ensureUnpaid(on, rows, reserved, signal);
      const nonce = await on.evm.run((node) => nextNonce(node, from, 'latest'), signal);
      await database.write(async (transaction) => {
        await deps.guard.startPayout(transaction, mode);
        const locked = await lockTransfers(transaction, transfers);
        await ensureDue(deps, transaction, rows);
        const marks = { handed_at: clock.real(), handed_nonce: nonce ?? 0 };
        const count = await store.handOver(transaction, exportId, transfers, marks);
        if (count < rows.length || rows.some(({ id }) => locked.get(id)?.status !== 'pending')) {
          throw invalidState(
            'A wallet was asked to send some of these transfers before, or they ended meanwhile. Look at its history',
          );
        }
        await auditLog.record(transaction, {
          ...{ merchantId, mode, actor, action: 'transfer.handed', subjectId: exportId },
          after: { from, transfers },
        });
      });
    },

    /** Keeps what the wallet answered, in place of nothing or of the id of a batch. Problems: `not_found`, `invalid_state`. */
    async keepAnswer(
      scope: Scope,
      { exportId, transfers, answer }: WalletAnswer,
      actor: AuditActor,
    ): Promise<void> {
      const kept = answer !== null && isHash(answer) ? answer.toLowerCase() : answer;
      await database.write(async (transaction) => {
        const isKnown = await store.isExported(transaction, scope, exportId, transfers);
        orNotFound(isKnown || undefined, 'export with these transfers');
        const rows = (await store.reservedTransfers(transaction, scope)).filter(
          (row) => row.export_id === exportId && transfers.includes(row.id),
        );
        const changed = rows.filter((row) => row.wallet_answer !== kept || kept === null);
        // The watcher may have settled it already, and then nothing needs to be known.
        if (changed.length === 0) return;
        const ids = changed.map((row) => row.id);
        if ((await store.keepAnswer(transaction, exportId, ids, kept)) < changed.length) {
          throw invalidState(
            'No wallet was asked to send some of these transfers, or another answer is kept',
          );
        }
        await auditLog.record(transaction, {
          ...{ merchantId: scope.merchantId, mode: scope.mode, actor },
          ...{ action: 'transfer.wallet_answered', subjectId: exportId },
          after: { answer: kept, transfers: ids },
        });
      });
    },
  };
}
