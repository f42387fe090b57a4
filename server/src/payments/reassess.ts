/** Brings a payment's state, log and ledger up to its facts: the one way in which what arrived changes it. */
import type { PaymentStatus } from 'crypto-checkout/contract';
import type { Clock } from '../clock.js';
import type { Currencies } from '../currencies/currencies.js';
import type { Transaction } from '../db/database.js';
import type { ReceiptTable } from '../db/schema.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Announcements } from './announcements.js';
import { assess, statusOf, totals, type PaymentFacts } from './assess.js';
import { creditReceipts } from './credit.js';
import { assessDeposit, describeDeposit } from './deposits.js';
import { toText } from './numbers.js';
import * as store from './store.js';
import type { NewLogEntry, PaymentRow } from './store.js';
import { describeTransition, type Sums } from './texts.js';

/** Told of a change of a payment's status, in the transaction that makes it; the payment is locked. */
export type OnStatusChange = (
  transaction: Transaction,
  payment: { readonly id: string; readonly status: PaymentStatus },
) => Promise<void>;

export interface ReassessmentDependencies {
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly ledger: Ledger;
  readonly announcements: Announcements;
  readonly onStatusChange: OnStatusChange;
}

/** @param row as it is stored; locked. @param happenings are logged before what follows from them */
export type Reassess = (
  transaction: Transaction,
  row: PaymentRow,
  happenings: readonly NewLogEntry[],
) => Promise<void>;

export function createReassess(dependencies: ReassessmentDependencies): Reassess {
  const { clock, currencies, ledger, announcements, onStatusChange } = dependencies;

  function sumsOf(row: PaymentRow, facts: PaymentFacts): Sums | undefined {
    if (row.currency === null) return undefined;
    const currency = currencies.known(row.currency);
    const { confirmed, seen } = totals(facts);
    const amount = facts.amount ?? 0n;
    return {
      currency: currency.code,
      amount: toText(amount, currency),
      confirmed: toText(confirmed, currency),
      excess: confirmed > amount ? toText(confirmed - amount, currency) : '0',
      seen: toText(seen, currency),
      confirmations: row.network === null ? 0 : (currencies.network(row.network)?.confirmations ?? 0),
    };
  }

  return async (transaction, row, happenings) => {
    const now = clock.now(row.mode);
    const receipts = await store.readReceipts(transaction, row.id);
    const syncedAt = row.network === null ? undefined : await store.readSyncedAt(transaction, row.network);
    const facts = factsOf(row, receipts);
    const isDeposit = row.wallet_id !== null;
    const state = isDeposit ? assessDeposit(facts) : assess(facts, now, syncedAt ?? Number.NEGATIVE_INFINITY);
    const describe = isDeposit ? describeDeposit : describeTransition;
    const transition = describe(row.state, state, sumsOf(row, facts));
    const isFirstSuccess = statusOf(state) === 'success' && row.settled_at === null;
    if (state !== row.state) {
      await store.updatePayment(transaction, row.id, {
        state,
        updated_at: now,
        ...(isFirstSuccess && { settled_at: now }),
      });
    }
    await store.appendLog(transaction, row.id, now, [...happenings, ...transition]);
    await creditReceipts(transaction, ledger, { ...row, state }, receipts, now);
    const status = statusOf(state);
    if (status !== statusOf(row.state)) await onStatusChange(transaction, { id: row.id, status });
    await announcements.tell(transaction, row, state);
  };
}

function factsOf(row: PaymentRow, receipts: readonly ReceiptTable[]): PaymentFacts {
  return {
    currency: row.currency,
    network: row.network,
    amount: row.locked_at === null || row.amount === null ? null : BigInt(row.amount),
    baseAmount: BigInt(row.base_amount),
    expiresAt: row.expires_at,
    cancelledAt: row.cancelled_at,
    settledAt: row.settled_at,
    receipts: receipts.map((receipt) => ({
      currency: receipt.currency,
      network: receipt.network,
      amount: BigInt(receipt.amount),
      firstSeenAt: receipt.first_seen_at,
      isConfirmed: receipt.status === 'confirmed',
      baseValue: BigInt(receipt.base_value ?? '0'),
    })),
  };
}
