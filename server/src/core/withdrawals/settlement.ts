/** Ends transfers: pays out or gives back what was held, once, and notifies the merchant. */
import type { TransferRow } from '../db/schema.js';
import type { LedgerEntry } from '../ledger/ledger.js';
import type { PostingKey, PostingKind } from '../ledger/posting-kinds.js';
import type { WithdrawalsDeps } from './deps.js';
import type { Payouts } from './payouts.js';
import * as store from './transfer-store.js';
import { viewTransfer } from './transfer-view.js';
import { scopeOf } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface Sent {
  readonly txHash: string;
  /** The amount that the network charged custody in the currency that was sent. */
  readonly networkFee: bigint;
  /**
   * The amount that reached the receiver, if the network's fee was deducted from it. That part becomes a fee of the
   * transfer.
   */
  readonly paid?: bigint | undefined;
  readonly paidFrom?: 'treasury' | undefined;
}

export type Settlement = ReturnType<typeof createSettlement>;

/**
 * Changes a transfer that the transaction has locked, and its payout with it. Each change returns the transfer as it
 * is then. The posting at its end follows from where the books have the money before and after it.
 */
export function createSettlement(deps: WithdrawalsDeps, payouts: Payouts) {
  const { clock, newId, currencies, ledger, outbox, onTransfer } = deps;

  /** @param key of the posting; undefined for a step on the way, which leaves the money where it is */
  async function change(
    transaction: Transaction,
    previous: TransferRow,
    changes: Partial<TransferRow>,
    key?: PostingKey,
  ): Promise<TransferRow> {
    const scope = scopeOf(previous);
    const now = clock.now(scope);
    const row = { ...previous, ...changes, updated_at: now };
    // Before anything of the ledger is locked: it may lock a payment.
    await onTransfer(transaction, row);
    if (key !== undefined) {
      const { mode, currency, merchant_id: merchantId } = row;
      const entries = [...booked(previous).map(reversed), ...booked(row)];
      // Other decisions about the merchant's coins need this lock, and must not see half of this change.
      await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
      const txHash = row.tx_hash ?? previous.tx_hash;
      await ledger.post(transaction, { key, mode, currency, txHash, entries });
    }
    await store.updateTransfer(transaction, row);
    await payouts.syncWithTransfer(transaction, row);
    if (row.status !== previous.status && (row.status === 'success' || row.status === 'failed')) {
      await outbox.add(transaction, {
        ...scope,
        type: `transfer.${row.status}`,
        subjectId: row.id,
        data: viewTransfer(row, currencies),
      });
    }
    return row;
  }

  /** Reserves an amount that was paid already. A part that the merchant no longer has becomes a debt. */
  async function reservePaid(transaction: Transaction, row: TransferRow, key: PostingKey): Promise<void> {
    const { mode, currency, merchant_id: merchantId } = row;
    const held = row.amount + row.fee;
    const account = { kind: 'available', merchantId } as const;
    const available = await ledger.balance(transaction, mode, currency, account);
    const taken = held < available ? held : available;
    const entries = [
      { account, debit: taken },
      { account: { kind: 'unallocated', merchantId, isDebt: true }, debit: held - taken },
      ...booked({ ...row, status: 'processing' }),
    ] as const;
    await ledger.post(transaction, { key, mode, currency, entries });
  }

  /**
   * It has failed, perhaps because a transaction was lost, and was paid anyway: the released amount is reserved again.
   * A part that the merchant has withdrawn meanwhile becomes a debt that later credits repay.
   */
  async function reopen(transaction: Transaction, row: TransferRow): Promise<TransferRow> {
    const wasSent = row.settled_at !== null;
    const reopened: TransferRow = {
      ...row,
      status: 'processing',
      failure_reason: null,
      settled_at: null,
      reversals: row.reversals + (wasSent ? 1 : 0),
    };
    await onTransfer(transaction, reopened);
    await reservePaid(transaction, row, keyOf(wasSent ? 'back' : 'undo', row));
    return reopened;
  }

  /** Its transaction is final. The merchant's fee is income and the network's fee is a cost, even if they are equal. */
  async function succeed(transaction: Transaction, row: TransferRow, sent: Sent): Promise<TransferRow> {
    const open = row.status === 'failed' ? await reopen(transaction, row) : row;
    const ended = {
      ...paidBy(open, sent),
      status: 'success' as const,
      paid_from: sent.paidFrom ?? null,
      settled_at: clock.now(scopeOf(row)),
    };
    return change(transaction, open, ended, keyOf('post', open));
  }

  return {
    /** It waits again, or is on its way, perhaps in another transaction than before. */
    move: (
      transaction: Transaction,
      row: TransferRow,
      to: Pick<TransferRow, 'status' | 'tx_hash'>,
    ): Promise<TransferRow> => change(transaction, row, to),

    succeed,

    /** It was not sent, and never will be. */
    fail: (transaction: Transaction, row: TransferRow, reason: string): Promise<TransferRow> =>
      change(transaction, row, { status: 'failed', failure_reason: reason }, keyOf('void', row)),

    /**
     * It has succeeded with another transaction, and this one has paid it once more: the second payment becomes a
     * transfer of its own, without a fee, taken from the merchant's present or future balance. Returns that.
     */
    async payAgain(transaction: Transaction, row: TransferRow, sent: Sent): Promise<TransferRow> {
      const now = clock.now(scopeOf(row));
      const second: TransferRow = {
        ...row,
        id: newId(),
        status: 'processing',
        refund_id: null,
        reversals: 0,
        pays_again: row.id,
        amount: sent.paid ?? row.amount,
        fee: 0n,
        ...unsent,
        created_at: now,
        updated_at: now,
      };
      await reservePaid(transaction, second, `hold:${second.id}`);
      await store.insertTransfer(transaction, second);
      return succeed(transaction, second, sent);
    },

    /** It has succeeded, but the network has dropped its transaction, and confirmed another one that pays it. */
    correct(transaction: Transaction, row: TransferRow, sent: Sent): Promise<TransferRow> {
      // A reorganisation can go back and forth between two transactions: each change is posted.
      const key = `network-fee:${row.id}:${sent.txHash}:${clock.real()}` as const;
      return change(transaction, row, paidBy(row, sent), key);
    },

    /**
     * It has succeeded, but the network has dropped its transaction, and may have it in a block again: it waits, and
     * is reserved. Merchants are notified when it succeeds again: until then, nothing is lost.
     */
    unsettle(transaction: Transaction, row: TransferRow): Promise<TransferRow> {
      // Its payment may come back in a block below those that had been read.
      const from_height = null;
      const waiting = { ...unsent, from_height, status: 'pending', reversals: row.reversals + 1 } as const;
      return change(transaction, row, waiting, keyOf('back', row));
    },

    /**
     * It has succeeded, but the network has dropped its transaction and will never accept it again: undoes what `succeed` posted,
     * and gives back the amount and the merchant's fee.
     */
    lose: (transaction: Transaction, row: TransferRow, reason: string): Promise<TransferRow> =>
      change(transaction, row, { status: 'failed', failure_reason: reason }, keyOf('lost', row)),
  };
}

const unsent = { tx_hash: null, network_fee: null, paid_from: null, settled_at: null };

/**
 * The changes that a transaction makes to a transfer: the part of the amount that does not reach the receiver is a
 * part of the fee.
 */
function paidBy(row: TransferRow, { txHash, networkFee, paid = row.amount }: Sent) {
  return {
    amount: paid,
    fee: row.fee + row.amount - paid,
    tx_hash: txHash,
    network_fee: networkFee,
  };
}

/** The place in the books of the amount that a transfer took from the merchant's available balance. */
function booked(row: TransferRow): LedgerEntry[] {
  const { network, merchant_id: merchantId, paid_from: place, amount, fee } = row;
  const networkFee = row.network_fee ?? 0n;
  switch (row.status) {
    case 'pending':
    case 'processing':
      return [{ account: { kind: 'reserved', network, merchantId }, credit: amount + fee }];
    case 'success':
      return [
        {
          account: { kind: 'custody', network, merchantId, ...(place && { place }) },
          credit: amount + networkFee,
        },
        { account: { kind: 'network_fee' }, debit: networkFee },
        { account: { kind: 'fee_income' }, credit: fee },
      ];
    case 'failed':
      return [{ account: { kind: 'available', merchantId }, credit: amount + fee }];
    default:
      return row.status satisfies never;
  }
}

const reversed = ({ account, debit = 0n, credit = 0n }: LedgerEntry): LedgerEntry => ({
  account,
  debit: credit,
  credit: debit,
});

/** A transfer that waited again after a success is posted each time that it ends, so the key counts reversals. */
const keyOf = (kind: PostingKind, { id, reversals }: TransferRow): PostingKey =>
  reversals === 0 ? `${kind}:${id}` : `${kind}:${id}:${reversals}`;
