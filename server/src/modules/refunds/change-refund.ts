/** Changes a refund: its row, what it reserves, its payment's log, and the webhook, in one transaction. */
import type { LogCode } from 'crypto-checkout/contract';
import type { AcceptsSignature } from './contract-signatures.js';
import type { Transaction } from '../../core/db/engine.js';
import type { RoomDeps } from '../../core/db/room-deps.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import type { PaymentRow } from '../../core/db/schema.js';
import { moved, type AccountName, type Ledger, type Posting } from '../../core/ledger/ledger.js';
import type { Hooks } from '../../core/hooks.js';
import type { AuditLog } from '../../core/merchants/audit-log.js';
import type { Merchants } from '../../core/merchants/merchants.js';
import type { RateSource } from '../../core/money/rates.js';
import { formatUnits } from '../../core/money/units.js';
import { hasTaken } from '../../core/payments/has-taken.js';
import type { PaymentRefunds } from '../../core/payments/refundable.js';
import { invalidState, notFound, orNotFound } from '../../core/shared/problem.js';
import { isWithin, scopeOf, type Scope } from '../../core/shared/scope.js';
import type { Outbox } from '../../core/webhooks/outbox.js';
import type { Balances } from '../../core/withdrawals/balances.js';
import type { Transfers } from '../../core/withdrawals/transfers.js';
import type { CheckAddress } from './address-rules.js';
import { eventTypes, isLive, isReserved, nextStatus, type RefundEvent } from './states.js';
import { createRefundStore } from './store.js';
import { viewRefund } from './view.js';
import type { RefundRow } from './tables.js';

/** The dependencies of refunds. */
export interface RefundsDeps extends RoomDeps {
  readonly rates: RateSource;
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly personalData: PersonalData;
  readonly payments: PaymentRefunds;
  readonly balances: Balances;
  readonly merchants: Merchants;
  readonly transfers: Pick<Transfers, 'createForRefund' | 'refundedSince'>;
  readonly auditLog: AuditLog;
  readonly checkAddress: CheckAddress;
  readonly acceptsSignature: AcceptsSignature;
  readonly hooks: Pick<Hooks, 'onRefundLink'>;
  /** The claim page is at `{publicUrl}/refund`. */
  readonly publicUrl: string;
}

/** A refund and its payment, both locked. */
export interface LockedRefund {
  readonly row: RefundRow;
  readonly payment: PaymentRow;
}

type Changes = Partial<
  Pick<
    RefundRow,
    | ('address' | 'same_wallet' | 'browser_digest' | 'transfer_id' | 'tx_hash')
    | ('amount' | 'fee' | 'base_amount' | 'of_success' | 'cancel_reason')
  >
>;

export type RefundChanges = ReturnType<typeof createRefundChanges>;

export function createRefundChanges(deps: RefundsDeps) {
  const { clock, currencies, ledger, outbox, payments } = deps;
  const store = createRefundStore(deps.personalData);
  /** Moves what a refund takes between the available balance and what is reserved. */
  function move(row: RefundRow, kind: 'hold' | 'void'): Posting {
    const { id, mode, currency, network, merchant_id: merchantId } = row;
    const units = row.amount + row.fee;
    const available: AccountName = { kind: 'available', merchantId };
    const reserved: AccountName = { kind: 'reserved', network, merchantId };
    const [from, to] = kind === 'hold' ? [available, reserved] : [reserved, available];
    return { key: `refund-${kind}:${id}`, mode, currency, entries: moved(from, to, units) };
  }

  /**
   * Returns the service fee on an excess while the refund lives, and charges it again if it ends unpaid. A sum that
   * the merchant does not have at that moment becomes a debt, which the refund's end repays.
   * @param gained the merchant's gain before it in the same transaction
   */
  async function returnFee(
    transaction: Transaction,
    { id, mode, currency, network, merchant_id: merchantId, ...row }: RefundRow,
    gained: bigint,
  ): Promise<Posting> {
    const fee = row.service_fee;
    const key =
      row.fee_returns === 0
        ? (`refund-fee:${id}` as const)
        : (`refund-fee:${id}:${row.fee_returns}` as const);
    const account = { kind: 'available', merchantId } as const;
    if (row.fee_returns % 2 === 0) {
      return { key, mode, currency, entries: moved({ kind: 'fee_income' }, account, fee) };
    }
    const before = await ledger.balance(transaction, mode, currency, account);
    // A debt is repaid first.
    const { debt } = await ledger.holdings(transaction, { merchantId, mode }, currency, network);
    const available = before + (gained > debt ? gained - debt : 0n);
    const taken = fee < available ? fee : available;
    const entries = [
      { account, debit: taken },
      { account: { kind: 'unallocated', merchantId, isDebt: true }, debit: fee - taken },
      { account: { kind: 'fee_income' }, credit: fee },
    ] as const;
    return { key, mode, currency, entries };
  }

  /** True if the fee on the refund must be moved for its next state. */
  const movesFee = (row: RefundRow) =>
    row.kind === 'excess' && row.service_fee !== 0n && isLive(row.status) !== (row.fee_returns % 2 === 1);

  /** Updates the payment's state: money set apart from a payment that was no success does not count as received. */
  async function updatePayment(
    transaction: Transaction,
    before: RefundRow | undefined,
    after: RefundRow,
    payment: PaymentRow,
  ): Promise<PaymentRow> {
    const holds = (row: RefundRow | undefined) => row?.of_success === false && hasTaken(row.status);
    const isCounting = after.currency === payment.currency && after.network === payment.network;
    if (!isCounting || holds(before) === holds(after)) return payment;
    await payments.update(transaction, await payments.lock(transaction, payment.id));
    return payments.lock(transaction, payment.id);
  }

  async function report(
    transaction: Transaction,
    { row, payment }: LockedRefund,
    event: RefundEvent | 'create',
  ): Promise<void> {
    const entry = logEntries[event];
    const currency = currencies.known(row.currency);
    const amount = formatUnits(row.amount, currency);
    const kept = row.refund_fee ? 0n : row.service_fee;
    const values = {
      amount,
      currency: row.currency,
      network: row.network,
      ...(kept > 0n && { feeKept: formatUnits(kept, currency) }),
    };
    const why = row.cancel_reason === null ? '' : ', because the payment was completed';
    const text = `${entry?.text ?? ''}: ${amount} ${row.currency}${why}`;
    const type = event === 'pay' ? 'success' : event === 'fail' ? 'error' : 'event';
    await payments.log(
      transaction,
      payment.id,
      clock.now(scopeOf(row)),
      entry ? [{ type, event: text, code: entry.code, values }] : [],
    );
    const webhook = event === 'create' ? 'refund.created' : eventTypes[event];
    if (!webhook) return;
    await outbox.add(transaction, {
      ...scopeOf(row),
      type: webhook,
      subjectId: row.id,
      data: viewRefund(row, payment.tx_ref, currencies),
    });
  }

  return {
    /** @param paymentId locked first, as all that changes payments does. Problem: `not_found` */
    async lock(transaction: Transaction, id: string, scope?: Scope): Promise<LockedRefund> {
      const found = orNotFound(await store.findAnyRefund(transaction, id), 'refund');
      if (scope && !isWithin(found, scope)) throw notFound('refund');
      const payment = await payments.lock(transaction, found.payment_id);
      return { row: orNotFound(await store.lockRefund(transaction, id), 'refund'), payment };
    },

    /** Stores a new refund of a locked payment, and reserves what it takes. */
    async start(transaction: Transaction, { row: given, payment }: LockedRefund): Promise<LockedRefund> {
      const hasFee = movesFee(given);
      const postings = hasFee ? [await returnFee(transaction, given, 0n)] : [];
      const row = hasFee ? { ...given, fee_returns: 1 } : given;
      await ledger.postAll(transaction, [...postings, move(row, 'hold')]);
      await store.insertRefund(transaction, row);
      await report(transaction, { row, payment }, 'create');
      return { row, payment: await updatePayment(transaction, undefined, row, payment) };
    },

    /** Problem: `invalid_state` if the event is not possible now. */
    async apply(
      transaction: Transaction,
      { row, payment }: LockedRefund,
      event: RefundEvent,
      changes: Changes = {},
    ): Promise<LockedRefund> {
      const status = nextStatus(row.status, event);
      if (status === undefined)
        throw invalidState(`${refusals[event] ?? 'This refund cannot change so'}: it is ${row.status}`);
      const moved = { ...row, ...changes, status, updated_at: clock.now(scopeOf(row)) };
      const hasFee = movesFee(moved);
      const changed = hasFee ? { ...moved, fee_returns: row.fee_returns + 1 } : moved;
      await store.updateRefund(transaction, changed);
      // The chain can confirm another version of a transaction than the one that was reported.
      const isOther = changed.amount !== row.amount || (status === 'paid' && changed.tx_hash !== row.tx_hash);
      const isNews = status !== row.status || changes.address !== undefined || isOther;
      if (isNews) await report(transaction, { row: changed, payment }, event);
      const isGivenBack = isReserved(row.status) && !isReserved(status) && event !== 'approve';
      const gained = isGivenBack ? row.amount + row.fee : 0n;
      const postings = [
        ...(isGivenBack ? [move(row, 'void')] : []),
        ...(hasFee ? [await returnFee(transaction, moved, gained)] : []),
      ];
      await ledger.postAll(transaction, postings);
      return { row: changed, payment: await updatePayment(transaction, row, changed, payment) };
    },
  };
}

/** Entries of the payment's log, which its payer reads. They never name the destination. */
const logEntries: Readonly<
  Partial<Record<RefundEvent | 'create', { readonly code: LogCode; readonly text: string }>>
> = {
  create: { code: 'refund_created', text: 'Refund started' },
  approve: { code: 'refund_sending', text: 'Refund approved' },
  wait: { code: 'refund_sending', text: 'Refund waits to be sent' },
  pay: { code: 'refund_paid', text: 'Refunded' },
  fail: { code: 'refund_ended', text: 'Refund failed' },
  cancel: { code: 'refund_ended', text: 'Refund cancelled' },
  expire: { code: 'refund_ended', text: 'Refund expired' },
};

/** The refusals of events in a state that does not allow them. */
const refusals: Readonly<Partial<Record<RefundEvent, string>>> = {
  address: 'The address can no longer be changed',
  cancel: 'This refund can no longer be cancelled',
};
