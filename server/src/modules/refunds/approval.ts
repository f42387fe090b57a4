/** Approves refunds: checks once more what they rest on, and makes the transfers that pay them. */
import type { Transaction } from '../../core/db/engine.js';
import { invalidState, Problem } from '../../core/shared/problem.js';
import { scopeOf } from '../../core/shared/scope.js';
import { parseAddress } from '../../core/addresses/formats.js';
import { ensureDue } from './due.js';
import type { LockedRefund, RefundChanges, RefundsDeps } from './change-refund.js';
import { createRefundLimits } from './limits.js';
import type { RefundRow } from './tables.js';

/** Audit entries are never deleted, so they must not contain the payer's address. The transfer of the refund has it. */
export function auditFields({ status, amount, currency, network, transfer_id: transferId }: RefundRow) {
  return { status, units: amount.toString(), currency, network, transferId };
}

export type Approval = ReturnType<typeof createApproval>;

export function createApproval(deps: RefundsDeps, changes: RefundChanges) {
  const { currencies, payments, transfers, checkAddress, auditLog } = deps;
  const limits = createRefundLimits(deps);

  async function approve(transaction: Transaction, locked: LockedRefund, seen?: string) {
    const { row } = locked;
    const { network } = currencies.option(row.mode, row.currency, row.network);
    if (seen !== undefined && parseAddress(network, seen) !== row.address) {
      throw invalidState('The address is not the one that you have seen. Look at the refund again');
    }
    if (row.transfer_id !== null && row.status !== 'failed') return locked;
    if (row.status !== 'awaiting_approval' || row.address === null) {
      throw invalidState(
        row.status === 'awaiting_address'
          ? 'This refund has no address yet: its payer gives it on the claim page'
          : `This refund cannot be approved: it is ${row.status}`,
      );
    }
    await ensureDue(transaction, payments, locked);
    await limits.ensureWithinDay(transaction, row);
    const address = await checkAddress(transaction, network, row.address);
    const transfer = await transfers.createForRefund(transaction, { ...row, address });
    return changes.apply(transaction, locked, 'approve', { transfer_id: transfer.id });
  }

  return {
    /** Problems: `invalid_state`, `invalid_address`, `balance_suspended`, `validation_error`. */
    approve,

    /** Approves small refunds automatically. Any objection leaves the refund to the merchant. */
    async approveIfSmall(transaction: Transaction, locked: LockedRefund): Promise<LockedRefund> {
      try {
        if (!(await limits.isSmall(transaction, locked.row))) return locked;
        const approved = await approve(transaction, locked);
        await auditLog.record(transaction, {
          ...scopeOf(approved.row),
          actor: 'server, by --auto-refund',
          action: 'refund.approved',
          subjectId: approved.row.id,
          after: { ...auditFields(approved.row), madeBy: approved.row.created_by },
        });
        return approved;
      } catch (error) {
        // Thrown by the checks, before anything was written.
        if (error instanceof Problem) return locked;
        throw error;
      }
    },
  };
}
