/** Ends transfers: pays out or gives back what was held, once, and notifies the merchant. */
import type { TransferTable } from '../db/schema.js';
import { moved, type AccountName, type LedgerEntry } from '../ledger/ledger.js';
import type { WithdrawalsDeps } from './deps.js';
import type { Payouts } from './payouts.js';
import * as store from './transfer-store.js';
import { viewTransfer } from './transfer-view.js';
import { scopeOf } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface Sent {
  readonly txHash: string;
  /** What the network took from custody in the currency that was sent. */
  readonly networkFee: bigint;
  /** What the receiver got, if the network's fee was taken out of the amount. That part becomes a fee of the transfer. */
  readonly paid?: bigint | undefined;
  readonly paidFrom?: 'treasury' | undefined;
}

export type Settlement = ReturnType<typeof createSettlement>;

/**
 * Changes a transfer that the transaction has locked, and its payout with it. What ends it must find it not ended yet, except for
 * `lose`, and returns the ended one.
 */
export function createSettlement(deps: WithdrawalsDeps, payouts: Payouts) {
  const { clock, newId, currencies, ledger, outbox, onTransfer } = deps;

  /** Stores a changed transfer. Before `post`, nothing of the ledger may be locked. */
  async function write(
    transaction: Transaction,
    row: TransferTable,
    post?: () => Promise<unknown>,
  ): Promise<void> {
    await onTransfer(transaction, row);
    await post?.();
    await store.updateTransfer(transaction, row);
    await payouts.syncWithTransfer(transaction, row);
  }

  async function end(
    transaction: Transaction,
    row: TransferTable,
    kind: 'post' | 'void' | 'lost',
    entries: readonly LedgerEntry[],
  ): Promise<TransferTable> {
    const { id, mode, merchant_id: merchantId, currency } = row;
    const now = clock.now({ merchantId, mode });
    const ended = { ...row, updated_at: now };
    await write(transaction, ended, async () => {
      // Whoever decides about the merchant's coins holds this lock, and must not see half of this change.
      await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
      await ledger.post(transaction, { key: keyOf(kind, row), mode, currency, entries }, now);
    });
    await outbox.add(transaction, {
      merchantId,
      mode,
      type: kind === 'post' ? 'transfer.success' : 'transfer.failed',
      subjectId: id,
      data: viewTransfer(ended, currencies),
    });
    return ended;
  }

  /** Reserves what was paid already. What the merchant no longer has is owed. */
  async function reservePaid(transaction: Transaction, row: TransferTable, key: string): Promise<void> {
    const { mode, currency, merchant_id: merchantId } = row;
    const held = BigInt(row.amount) + BigInt(row.fee);
    const account = { kind: 'available', merchantId } as const;
    const available = await ledger.balance(transaction, mode, currency, account);
    const taken = held < available ? held : available;
    const entries = [
      { account, debit: taken },
      { account: { kind: 'unallocated', merchantId, isDebt: true }, debit: held - taken },
      { account: reservedOf(row), credit: held },
    ] as const;
    await ledger.post(transaction, { key, mode, currency, entries }, clock.now(scopeOf(row)));
  }

  /**
   * Its transaction is final. Reserved is debited with the amount and the merchant's fee, custody is credited with the amount and
   * the network's fee. The merchant's fee is income and the network's fee is a cost, even if they are equal.
   */
  function succeed(transaction: Transaction, row: TransferTable, sent: Sent): Promise<TransferTable> {
    const { txHash, networkFee, paid, paidFrom = null } = sent;
    const { amount, fee } = splitOf(row, paid);
    const ended = {
      ...row,
      status: 'success',
      amount: amount.toString(),
      fee: fee.toString(),
      tx_hash: txHash,
      network_fee: networkFee.toString(),
      paid_from: paidFrom,
      settled_at: clock.now(scopeOf(row)),
    } as const;
    return end(transaction, ended, 'post', [
      { account: reservedOf(row), debit: amount + fee },
      { account: { kind: 'network_fee' }, debit: networkFee },
      { account: custodyOf(ended), credit: amount + networkFee },
      { account: { kind: 'fee_income' }, credit: fee },
    ]);
  }

  return {
    /** Locks a transfer and reads it anew; undefined if there is none. */
    lock: store.lockTransfer,

    /** It waits again, or is on its way, perhaps in another transaction than before. */
    move: (
      transaction: Transaction,
      row: TransferTable,
      change: Pick<TransferTable, 'status' | 'tx_hash'>,
    ): Promise<void> => write(transaction, { ...row, ...change, updated_at: clock.now(scopeOf(row)) }),

    succeed,

    /** It was not sent, and never will be. */
    fail(transaction: Transaction, row: TransferTable, reason: string): Promise<TransferTable> {
      const held = BigInt(row.amount) + BigInt(row.fee);
      const failed = { ...row, status: 'failed', failure_reason: reason } as const;
      const available = { kind: 'available', merchantId: row.merchant_id } as const;
      return end(transaction, failed, 'void', moved(reservedOf(row), available, held));
    },

    /**
     * It has failed, perhaps because a transaction was lost, and was paid all the same: what was given back is reserved again.
     * What the merchant has withdrawn meanwhile becomes a debt that later credits repay. `succeed` has to follow.
     */
    async reopen(transaction: Transaction, row: TransferTable): Promise<TransferTable> {
      const wasSent = row.settled_at !== null;
      const reopened = {
        ...row,
        ...({ status: 'processing', failure_reason: null, settled_at: null } as const),
        reversals: row.reversals + (wasSent ? 1 : 0),
      };
      await onTransfer(transaction, reopened);
      await reservePaid(transaction, row, keyOf(wasSent ? 'back' : 'undo', row));
      return reopened;
    },

    /**
     * It has succeeded with another transaction, and this one has paid it once more: the second payment becomes a transfer of its
     * own, without a fee, taken from what the merchant has or will get. Returns that.
     */
    async payAgain(transaction: Transaction, row: TransferTable, sent: Sent): Promise<TransferTable> {
      const now = clock.now(scopeOf(row));
      const second: TransferTable = {
        ...row,
        ...({ id: newId(), status: 'processing', refund_id: null, reversals: 0 } as const),
        ...{ amount: (sent.paid ?? BigInt(row.amount)).toString(), fee: '0' },
        ...{ tx_hash: null, network_fee: null, paid_from: null, settled_at: null },
        ...{ created_at: now, updated_at: now },
      };
      await reservePaid(transaction, second, `hold:${second.id}`);
      await store.insertTransfer(transaction, second);
      return succeed(transaction, second, sent);
    },

    /**
     * It has succeeded, but the network has dropped its transaction, and confirmed another one that pays it. The difference
     * of the network's fee is posted. Returns the transfer.
     */
    async correct(transaction: Transaction, row: TransferTable, sent: Sent): Promise<TransferTable> {
      const { id, mode, currency } = row;
      const { txHash, networkFee } = sent;
      const now = clock.now(scopeOf(row));
      const more = networkFee - BigInt(row.network_fee ?? '0');
      const { amount, fee } = splitOf(row, sent.paid);
      const income = fee - BigInt(row.fee);
      const corrected = {
        ...row,
        ...{ amount: amount.toString(), fee: fee.toString() },
        ...{ tx_hash: txHash, network_fee: networkFee.toString(), updated_at: now },
      };
      const entries = [
        grown({ kind: 'network_fee' }, more),
        grown(custodyOf(row), income - more),
        grown({ kind: 'fee_income' }, -income),
      ];
      // A reorganisation can go back and forth between two transactions: each change is posted.
      const key = `network-fee:${id}:${txHash}:${clock.real()}`;
      await write(transaction, corrected, () =>
        ledger.post(transaction, { key, mode, currency, entries }, now),
      );
      return corrected;
    },

    /**
     * It has succeeded, but the network has dropped its transaction, and may have it in a block again: it waits, and is reserved.
     * Merchants are told when it succeeds again: until then, nothing is lost.
     */
    async unsettle(transaction: Transaction, row: TransferTable): Promise<TransferTable> {
      const { mode, currency, merchant_id: merchantId } = row;
      const now = clock.now(scopeOf(row));
      const waiting = {
        ...row,
        status: 'pending',
        ...{ tx_hash: null, network_fee: null, paid_from: null, settled_at: null },
        ...{ reversals: row.reversals + 1, updated_at: now },
      } as const;
      const posting = { key: keyOf('back', row), mode, currency, entries: undone(row, reservedOf(row)) };
      await write(transaction, waiting, async () => {
        await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
        await ledger.post(transaction, posting, now);
      });
      return waiting;
    },

    /**
     * It has succeeded, but the network has dropped its transaction and will never accept it again: undoes what `succeed` posted,
     * and gives back the amount and the merchant's fee.
     */
    lose(transaction: Transaction, row: TransferTable, reason: string): Promise<TransferTable> {
      const failed = { ...row, status: 'failed', failure_reason: reason } as const;
      const available = { kind: 'available', merchantId: row.merchant_id } as const;
      return end(transaction, failed, 'lost', undone(row, available));
    },
  };
}

/** What reaches the receiver, and the rest of what is reserved. */
function splitOf(row: TransferTable, paid = BigInt(row.amount)): { amount: bigint; fee: bigint } {
  return { amount: paid, fee: BigInt(row.fee) + BigInt(row.amount) - paid };
}

/** What takes the end of a transfer back that has succeeded. @param held gets the amount and the merchant's fee */
function undone(row: TransferTable, held: AccountName): LedgerEntry[] {
  const [amount, fee] = [BigInt(row.amount), BigInt(row.fee)];
  const networkFee = BigInt(row.network_fee ?? '0');
  return [
    { account: custodyOf(row), debit: amount + networkFee },
    { account: { kind: 'fee_income' }, debit: fee },
    { account: { kind: 'network_fee' }, credit: networkFee },
    { account: held, credit: amount + fee },
  ];
}

/** A debit, or a credit of what is below 0. */
function grown(account: AccountName, units: bigint): LedgerEntry {
  return units < 0n ? { account, credit: -units } : { account, debit: units };
}

/** Of a transfer that waited again after it had succeeded, each end is posted. */
const keyOf = (kind: string, { id, reversals }: TransferTable): string =>
  reversals === 0 ? `${kind}:${id}` : `${kind}:${id}:${reversals}`;

function reservedOf({ network, merchant_id: merchantId }: TransferTable): AccountName {
  return { kind: 'reserved', network, merchantId };
}

function custodyOf({ network, merchant_id: merchantId, paid_from: place }: TransferTable): AccountName {
  return { kind: 'custody', network, merchantId, ...(place && { place }) };
}
