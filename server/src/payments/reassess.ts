/** Brings a payment's state, log and ledger up to date with its facts. Receipts change a payment only through here. */
import type { PaymentStatus } from 'crypto-checkout/contract';
import type { Clock } from '../shared/clock.js';
import { scopeOf } from '../shared/scope.js';
import type { Currencies } from '../money/currencies.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Announcements } from './announcements.js';
import { assess, statusOf, totals, type PaymentFacts } from './assess.js';
import { creditReceipts } from './credit.js';
import { assessDeposit, describeDeposit } from './deposits.js';
import { parseFraction } from './base-rate.js';
import { formatUnits } from '../money/units.js';
import * as store from './store.js';
import { isLive } from './receipt-store.js';
import type { NewLogEntry, PaymentRow, StoredRecord } from './store.js';
import { describeTransition, type Sums } from './log-messages.js';
import type { Transaction } from '../db/engine.js';

/** Called when a payment's status changes, in the same transaction. The payment is locked. */
export type OnStatusChange = (
  transaction: Transaction,
  payment: { readonly id: string; readonly status: PaymentStatus },
) => Promise<void>;

export interface ReassessDeps {
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly ledger: Ledger;
  readonly announcements: Announcements;
  readonly onStatusChange: OnStatusChange;
}

/**
 * @param record locked, as it is stored, with its current receipts
 * @param notes logged before the transition that they cause
 */
export type Reassess = (
  transaction: Transaction,
  record: StoredRecord,
  notes: readonly NewLogEntry[],
) => Promise<void>;

export function createReassess(deps: ReassessDeps): Reassess {
  const { clock, currencies, ledger, announcements, onStatusChange } = deps;

  function sumsOf(row: PaymentRow, facts: PaymentFacts): Sums | undefined {
    if (row.currency === null) return undefined;
    const currency = currencies.known(row.currency);
    const { confirmed, seen } = totals(facts);
    const amount = facts.amount ?? 0n;
    return {
      currency: currency.code,
      amount: formatUnits(amount, currency),
      confirmed: formatUnits(confirmed, currency),
      excess: confirmed > amount ? formatUnits(confirmed - amount, currency) : '0',
      seen: formatUnits(seen, currency),
      confirmations:
        row.network === null ? 0 : (currencies.network(row.mode, row.network)?.confirmations ?? 0),
    };
  }

  return async (transaction, record, notes) => {
    const { id } = record;
    const scope = scopeOf(record);
    const now = clock.now(scope);
    const facts = factsOf(record);
    const isDeposit = record.wallet_id !== null;
    const state = isDeposit
      ? assessDeposit(facts)
      : assess(facts, now, clock.at(scope, record.synced_at ?? Number.NEGATIVE_INFINITY));
    const describe = isDeposit ? describeDeposit : describeTransition;
    const transition = describe(record.state, state, sumsOf(record, facts));
    const isFirstSuccess = statusOf(state) === 'success' && record.settled_at === null;
    const changes = { state, updated_at: now, ...(isFirstSuccess && { settled_at: now }) };
    if (state !== record.state) await store.updatePayment(transaction, id, changes);
    const logged = await store.appendLog(transaction, id, now, [...notes, ...transition]);
    const receipts = await creditReceipts(transaction, ledger, { ...record, state }, now);
    const status = statusOf(state);
    if (status !== statusOf(record.state)) await onStatusChange(transaction, { id, status });
    if (state === record.state) return;
    await announcements.publish(transaction, record.state, {
      ...record,
      ...changes,
      receipts,
      log: [...record.log, ...logged],
    });
  };
}

function factsOf(row: StoredRecord): PaymentFacts {
  return {
    currency: row.currency,
    network: row.network,
    amount: row.locked_at === null || row.amount === null ? null : BigInt(row.amount),
    baseAmount: BigInt(row.base_amount),
    expiresAt: row.expires_at,
    cancelledAt: row.cancelled_at,
    settledAt: row.settled_at,
    receipts: row.receipts.filter(isLive).map((receipt) => ({
      currency: receipt.currency,
      network: receipt.network,
      amount: BigInt(receipt.amount),
      firstSeenAt: receipt.first_seen_at,
      isConfirmed: receipt.status === 'confirmed',
      baseRate: parseFraction(receipt.base_rate),
    })),
  };
}
