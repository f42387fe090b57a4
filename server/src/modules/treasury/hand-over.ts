/**
 * Exported transfers that a page hands to a wallet in the browser. They are marked before the wallet is asked: it
 * may send them from then on, whatever becomes of the page, and no page hands them over twice.
 */
import type { AuditActor } from '../../core/merchants/audit-log.js';
import type { Input, ConsoleApi } from 'crypto-checkout/contract';
import type { TransferRow } from '../../core/db/schema.js';
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import { invalidField, invalidState, orNotFound } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import { ensureDue } from '../networks/ensure-due.js';
import { lockTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { ensureUnsent } from './asked-before.js';
import * as store from './export-store.js';
import { networkAt, type EvmConnected, type TreasuryContext } from './context.js';
import { readOwners } from './owners.js';
import { readSeenGroups } from './seen-payments.js';
import { isHash, judgeHash } from './reported-hash.js';
import { leastNonce } from './used-nonce.js';

type HandOver = Input<ConsoleApi['payoutExports']['handOver']>['body'] & { readonly exportId: string };
type WalletAnswer = Input<ConsoleApi['payoutExports']['keepAnswer']>['body'] & { readonly exportId: string };

export function createHandOver(deps: TreasuryContext) {
  const { database, clock, auditLog } = deps;

  /** Refuses transfers that the treasury has paid, unless wallets were asked for as many identical ones. */
  async function ensureUnpaid(
    on: EvmConnected,
    rows: readonly TransferRow[],
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

  /** Problem: `validation_error` if a node shows that a transaction pays something else. */
  async function ensurePays(
    on: EvmConnected | undefined,
    rows: readonly store.ReservedTransfer[],
    answer: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    if (!on || answer === null || !isHash(answer)) return;
    const judged = await judgeHash(on, rows, answer, signal).catch((error: unknown) => {
      // A wallet's answer must not be lost because no node can look it up now.
      if (error instanceof NodesUnavailable) return undefined;
      throw error;
    });
    if (judged?.verdict === 'other')
      throw invalidField('answer', 'This transaction does not pay these transfers');
  }

  return {
    /**
     * Marks transfers of an export. Problems: `not_found`; `validation_error` if the account is no treasury of the
     * merchant; `invalid_state` if the export is for another one, a wallet was asked for one before, or it seems to be paid.
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
      const other = rows.find(({ account }) => account?.toLowerCase() !== from.toLowerCase());
      if (other) {
        throw invalidState(
          `The export is for ${other.account ?? 'an account that is not known'}, which may have signed it, and only the chain can show that it has not. Ask that one, or release it`,
        );
      }
      await ensureUnsent(reader, on, rows, signal);
      await ensureUnpaid(on, rows, reserved, signal);
      const nonce = await leastNonce(on, from, signal);
      await database.write(async (transaction) => {
        await deps.hooks.beforePayout(transaction, mode, merchantId);
        const locked = await lockTransfers(transaction, transfers);
        await ensureDue(deps, transaction, rows, exportId);
        const marks = { account: from, handed_at: clock.real(), handed_nonce: nonce ?? 0 };
        const count = await store.handOver(transaction, exportId, transfers, marks);
        if (count < rows.length || rows.some(({ id }) => locked.get(id)?.status !== 'pending')) {
          throw invalidState(
            'A wallet was asked to send some of these transfers before, or they ended meanwhile. Look at its history',
          );
        }
        await auditLog.record(transaction, {
          merchantId,
          mode,
          actor,
          action: 'transfer.handed',
          subjectId: exportId,
          after: { from, transfers },
        });
      });
    },

    /**
     * Keeps what the wallet answered, in place of nothing, of the id of a batch, or of a hash that no node shows to pay these.
     * Problems: `not_found`, `invalid_state`; `validation_error` if a node shows that the transaction pays something else.
     * @throws NodesUnavailable if a hash is kept that nobody can look up now
     */
    async keepAnswer(
      scope: Scope,
      { exportId, transfers, answer }: WalletAnswer,
      actor: AuditActor,
      signal: AbortSignal,
    ): Promise<void> {
      const { reader } = database;
      const kept = answer !== null && isHash(answer) ? answer.toLowerCase() : answer;
      const isKnown = await store.isExported(reader, scope, exportId, transfers);
      orNotFound(isKnown || undefined, 'export with these transfers');
      const rows = (await store.reservedTransfers(reader, scope)).filter(
        (row) => row.export_id === exportId && transfers.includes(row.id),
      );
      const changed = rows.filter((row) => row.wallet_answer !== kept || kept === null);
      const [first] = changed;
      // The watcher may have settled it already, and then nothing needs to be known.
      if (!first) return;
      const refused = () =>
        invalidState('No wallet was asked to send some of these transfers, or another answer is kept');
      const on = networkAt(deps, first);
      await ensurePays(on, rows, kept, signal);
      for (const row of changed) {
        const { wallet_answer: before } = row;
        if (before === null || !isHash(before)) continue;
        if (kept === null || !isHash(kept) || !on) throw refused();
        if ((await judgeHash(on, [row], before, signal)).verdict === 'pays') throw refused();
      }
      await database.write(async (transaction) => {
        for (const { id, wallet_answer: before } of changed) {
          if ((await store.keepAnswer(transaction, exportId, id, kept, before)) === 0) throw refused();
        }
        const befores = [...new Set(changed.flatMap((row) => row.wallet_answer ?? []))];
        await auditLog.record(transaction, {
          merchantId: scope.merchantId,
          mode: scope.mode,
          actor,
          action: 'transfer.wallet_answered',
          subjectId: exportId,
          ...(befores.length > 0 && { before: { answer: befores.join(', ') } }),
          after: { answer: kept, transfers: changed.map((row) => row.id) },
        });
      });
    },
  };
}
