/** Approves refunds: checks once more what they rest on, and makes the transfers that pay them. */
import { parseDecimal } from 'crypto-checkout/contract';
import type { Transaction } from '../db/engine.js';
import type { RefundTable } from '../db/schema.js';
import { parseAmount } from '../money/amounts.js';
import { convert, isCurrent } from '../money/rates.js';
import { invalidState, Problem } from '../shared/problem.js';
import { scopeOf } from '../shared/scope.js';
import { parseAddress } from '../addresses/formats.js';
import { liveSums } from './amounts.js';
import type { LockedRefund, RefundChanges, RefundsDeps } from './change-refund.js';
import { listOfPayment } from './store.js';

/** The audit log is for ever, so it never has the payer's address. The transfer of the refund has it. */
export function auditFields({ status, amount, currency, network, transfer_id: transferId }: RefundTable) {
  return { status, units: amount, currency, network, transferId };
}

export type Approval = ReturnType<typeof createApproval>;

export function createApproval(deps: RefundsDeps, changes: RefundChanges) {
  const { clock, currencies, rates, merchants, payments, transfers, checkAddress, auditLog } = deps;

  /** The chain can have taken back, since the refund began, what it gives back. Problem: `invalid_state`. */
  async function ensureStillCredited(transaction: Transaction, { row, payment }: LockedRefund) {
    const { payment_id, currency, network } = row;
    const { live } = liveSums(await listOfPayment(transaction, { payment_id, currency, network }));
    const coins = (await payments.creditedCoins(transaction, payment)).find(
      (one) => one.currency === currency && one.network === network,
    );
    if (coins && live <= coins.amount) return;
    throw invalidState('The network took back what this refund would give back. Wait for it, or cancel');
  }

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
    await ensureStillCredited(transaction, locked);
    const address = await checkAddress(transaction, network, row.address);
    const transfer = await transfers.createForRefund(transaction, { ...row, address });
    return changes.apply(transaction, locked, 'approve', { transfer_id: transfer.id });
  }

  /** A rate of yesterday does not say what a coin is worth. */
  function currentRate(code: string) {
    const rate = rates.latest(code);
    return rate && isCurrent(rate, clock.real()) ? rate : undefined;
  }

  /** Whether the merchant lets a refund through unseen. Without a current rate, none is. */
  async function isSmall(transaction: Transaction, row: RefundTable): Promise<boolean> {
    if (row.kind !== 'excess' && row.kind !== 'unaccepted') return false;
    const { autoRefund } = await merchants.retrieve(transaction, row.merchant_id);
    const coin = currencies.known(row.currency);
    const rate = currentRate(coin.code);
    return Object.entries(autoRefund).some(([code, text]) => {
      const currency = currencies.find(code);
      const limit = parseDecimal(text);
      // A limit in a coin is for that coin; one in money is for all.
      if (!currency || limit === undefined || (currency.type === 'crypto' && code !== coin.code))
        return false;
      const limitUnits = parseAmount(limit, currency, 'autoRefund', currency.decimals);
      if (code === coin.code) return BigInt(row.amount) <= limitUnits;
      const limitRate = currentRate(code);
      if (!rate || !limitRate) return false;
      const from = { rate, decimals: coin.decimals };
      return (
        convert(BigInt(row.amount), from, { rate: limitRate, decimals: currency.decimals }, 'up') <=
        limitUnits
      );
    });
  }

  return {
    /** Problems: `invalid_state`, `invalid_address`, `balance_suspended`, `validation_error`. */
    approve,

    /** Approves by itself what is small enough. What stands against it leaves the refund to the merchant. */
    async approveIfSmall(transaction: Transaction, locked: LockedRefund): Promise<LockedRefund> {
      if (!(await isSmall(transaction, locked.row))) return locked;
      try {
        const approved = await approve(transaction, locked);
        await auditLog.record(transaction, {
          ...scopeOf(approved.row),
          ...{ actor: 'server, by --auto-refund', action: 'refund.approved', subjectId: approved.row.id },
          after: auditFields(approved.row),
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
