/** Bank payouts, which somebody pays at the bank: recorded, settled and failed by hand. In the audit log. */
import type { Transaction } from '../db/engine.js';
import type { PayoutRow } from '../db/schema.js';
import type { AuditAction, AuditActor, AuditFields, AuditLog } from '../merchants/audit-log.js';
import { scopeOf, type Scope } from '../shared/scope.js';
import type { BankPayoutRequest, Payouts } from './payouts.js';

export function createPayoutsByHand(auditLog: Pick<AuditLog, 'record'>, payouts: Payouts) {
  /** Repeating a change records nothing. @param remarks the log's text about the change itself */
  async function change(
    transaction: Transaction,
    id: string,
    actor: AuditActor,
    action: AuditAction,
    work: () => Promise<PayoutRow>,
    remarks: AuditFields = {},
  ): Promise<PayoutRow> {
    const previous = await payouts.findAny(transaction, id);
    const row = await work();
    if (previous?.status === row.status) return row;
    await auditLog.record(transaction, {
      ...scopeOf(row),
      actor,
      action,
      subjectId: id,
      before: previous && factsOf(previous),
      after: { ...factsOf(row), ...remarks },
    });
    return row;
  }

  return {
    /** Problems: those of `createBankPayout`. @returns the payout, and whether it was made now */
    async create(transaction: Transaction, scope: Scope, request: BankPayoutRequest, actor: AuditActor) {
      const { row, isNew } = await payouts.createBankPayout(transaction, scope, request);
      const { amount, currency, destination, reference } = row;
      if (!isNew) return { row, isNew };
      await auditLog.record(transaction, {
        ...scopeOf(row),
        actor,
        action: 'payout.created',
        subjectId: row.id,
        after: { amountUnits: amount.toString(), currency, destination, reference },
      });
      return { row, isNew };
    },

    /** The bank has sent it. Problems: `not_found`, `invalid_state`. */
    settle: (transaction: Transaction, id: string, actor: AuditActor, remarks?: AuditFields) =>
      change(transaction, id, actor, 'payout.settled', () => payouts.settle(transaction, id), remarks),

    /** Its amount is available again. Problems: `validation_error`, `not_found`, `invalid_state`. */
    fail: (transaction: Transaction, id: string, reason: string, actor: AuditActor) =>
      change(transaction, id, actor, 'payout.failed', () => payouts.fail(transaction, id, reason)),
  };
}

const factsOf = ({ status, failure_reason: failureReason }: PayoutRow): AuditFields => ({
  status,
  failureReason,
});
