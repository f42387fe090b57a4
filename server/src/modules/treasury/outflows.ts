/** Money that has left treasuries, and that no transfer explains: it is reported until someone names its purpose. */
import { storedActor, type AuditActor } from '../../core/merchants/audit-log.js';
import { isoTime } from '../../core/shared/clock.js';
import { invalidField, orNotFound } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import { networkAt, placeOf, type TreasuryContext } from './context.js';
import { readOwners } from './owners.js';
import * as store from './watch-store.js';
import type { TreasuryPaymentRow } from './tables.js';

/** A page of the console and the output of a command show no more of a network. Each that is explained makes place for another. */
export const mostShown = 100;

export function createOutflows(deps: TreasuryContext) {
  const { database, auditLog, clock } = deps;

  return {
    /** The payments out of a merchant's treasuries, oldest first. */
    async list({ merchantId, mode }: Scope): Promise<TreasuryPaymentRow[]> {
      const { treasuriesOf } = await readOwners(deps, database.reader, mode);
      const own = treasuriesOf(merchantId);
      if (own.length === 0) return [];
      const found = [];
      for (const on of deps.networks.filter(({ network }) => network.mode === mode))
        found.push(...(await store.unexplainedPayments(database.reader, placeOf(on), mostShown, own)));
      return found;
    },

    /**
     * Records the purpose of a transaction that no transfer explains. Problem: `not_found`.
     * @returns the number of payments that it made
     */
    async explain(
      { merchantId, mode }: Scope,
      { network, txHash: given, note }: Readonly<Record<'network' | 'txHash' | 'note', string>>,
      actor: AuditActor,
    ): Promise<number> {
      if (!networkAt(deps, { mode, network })) throw invalidField('network', 'Must be an EVM network');
      const txHash = `0x${given.toLowerCase().replace(/^0x/, '')}`;
      return database.write(async (transaction) => {
        const { treasuriesOf } = await readOwners(deps, transaction, mode);
        const treasuries = treasuriesOf(merchantId);
        const paymentNote = { note, noted_by: storedActor(actor), noted_at: clock.real() };
        const rows =
          treasuries.length === 0
            ? []
            : await store.notePayments(transaction, { mode, network }, { txHash, treasuries }, paymentNote);
        const first = orNotFound(rows[0], 'payment of a treasury that no transfer explains');
        await auditLog.record(transaction, {
          merchantId,
          mode,
          actor,
          action: 'treasury.explained',
          subjectId: txHash,
          after: {
            network,
            treasury: first.treasury,
            note,
            paidAt: isoTime(first.paid_at),
            payments: rows.length,
          },
        });
        return rows.length;
      });
    },
  };
}
