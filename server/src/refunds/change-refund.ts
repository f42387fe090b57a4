/** Changes a refund: its row, what it reserves, its payment's log, and the webhook, in one transaction. */
import type { LogCode } from 'crypto-checkout/contract';
import type { AcceptsSignature } from '../chains/contract-signatures.js';
import type { Transaction } from '../db/engine.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { PersonalData } from '../db/personal-data.js';
import type { PaymentTable, RefundTable } from '../db/schema.js';
import { moved, type AccountName, type Ledger } from '../ledger/ledger.js';
import type { AuditLog } from '../merchants/audit-log.js';
import type { Merchants } from '../merchants/merchants.js';
import type { RateSource } from '../money/rates.js';
import { formatUnits } from '../money/units.js';
import type { PaymentRefunds } from '../payments/refundable.js';
import { invalidState, notFound, orNotFound } from '../shared/problem.js';
import { isWithin, scopeOf, type Scope } from '../shared/scope.js';
import type { Outbox } from '../webhooks/outbox.js';
import type { Balances } from '../withdrawals/balances.js';
import type { Transfers } from '../withdrawals/transfers.js';
import type { CheckAddress } from './address-rules.js';
import { eventTypes, isReserved, nextStatus, type RefundEvent } from './states.js';
import { createRefundStore } from './store.js';
import { viewRefund } from './view.js';

/** What refunds depend on. */
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
  /** The claim page is at `{publicUrl}/refund`. */
  readonly publicUrl: string;
}

/** A refund and its payment, both locked. */
export interface LockedRefund {
  readonly row: RefundTable;
  readonly payment: PaymentTable;
}

type Changes = Partial<
  Pick<
    RefundTable,
    | ('address' | 'same_wallet' | 'browser_digest' | 'transfer_id' | 'tx_hash')
    | ('amount' | 'fee' | 'base_amount')
  >
>;

export type RefundChanges = ReturnType<typeof createRefundChanges>;

export function createRefundChanges(deps: RefundsDeps) {
  const { clock, currencies, ledger, outbox, payments } = deps;
  const store = createRefundStore(deps.personalData);
  /** Moves what a refund takes between the available balance and what is reserved. */
  async function move(transaction: Transaction, row: RefundTable, kind: 'hold' | 'void'): Promise<void> {
    const { id, mode, currency, network, merchant_id: merchantId } = row;
    const units = BigInt(row.amount) + BigInt(row.fee);
    const available: AccountName = { kind: 'available', merchantId };
    const reserved: AccountName = { kind: 'reserved', network, merchantId };
    const [from, to] = kind === 'hold' ? [available, reserved] : [reserved, available];
    const posting = { key: `refund-${kind}:${id}`, mode, currency, entries: moved(from, to, units) };
    await ledger.post(transaction, posting, clock.now(scopeOf(row)));
  }

  async function report(
    transaction: Transaction,
    { row, payment }: LockedRefund,
    event: RefundEvent | 'create',
  ): Promise<void> {
    const entry = logEntries[event];
    const amount = formatUnits(BigInt(row.amount), currencies.known(row.currency));
    const values = { amount, currency: row.currency, network: row.network };
    const text = `${entry?.text ?? ''}: ${amount} ${row.currency}`;
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
    async start(transaction: Transaction, locked: LockedRefund): Promise<void> {
      await move(transaction, locked.row, 'hold');
      await store.insertRefund(transaction, locked.row);
      await report(transaction, locked, 'create');
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
      const changed = { ...row, ...changes, status, updated_at: clock.now(scopeOf(row)) };
      await store.updateRefund(transaction, changed);
      // The chain can confirm another version of a transaction than the one that was reported.
      const isOther = changed.amount !== row.amount || (status === 'paid' && changed.tx_hash !== row.tx_hash);
      const isNews = status !== row.status || changes.address !== undefined || isOther;
      if (isNews) await report(transaction, { row: changed, payment }, event);
      if (isReserved(row.status) && !isReserved(status) && event !== 'approve') {
        await move(transaction, row, 'void');
      }
      return { row: changed, payment };
    },
  };
}

/** What the payment's log says, which its payer reads. Never where to. */
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

/** What a caller may try in a state that does not allow it. */
const refusals: Readonly<Partial<Record<RefundEvent, string>>> = {
  address: 'The address can no longer be changed',
  cancel: 'This refund can no longer be cancelled',
};
