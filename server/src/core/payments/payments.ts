/** The life of a payment: it is created, gets a currency, is locked, and is paid, cancelled or expires. */
import type { PaymentRecord } from 'crypto-checkout/contract';
import { asShown } from '../addresses/formats.js';
import type { Transaction } from '../db/engine.js';
import type { PaymentOption } from '../money/currencies.js';
import { createFailures } from '../shared/failures.js';
import type { Job } from '../shared/feature.js';
import { orNotFound } from '../shared/problem.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { scopeOf, type Actor, type Mode, type Scope } from '../shared/scope.js';
import { createAcceptPayment } from './accept-payment.js';
import { createAnnouncements } from './announcements.js';
import { createPaymentChanges } from './change-payment.js';
import { checkTransfer } from './check-transfer.js';
import { newDeposit, type DepositedTransfer } from './deposits.js';
import { findOverdue } from './overdue-store.js';
import { createPaymentReader } from './payment-reader.js';
import type { PaymentsDeps } from './payments-deps.js';
import { createPaymentSearch } from './search.js';
import { createStartPayment } from './start-payment.js';
import { listRecords, type PaymentFilter } from './list-store.js';
import * as store from './store.js';
import type { StoredRecord } from './store.js';
import { createUpdatePayment } from './update-payment.js';
import { viewReceipts } from './receipts/view.js';
import { viewBranding, viewLogEntry } from './view.js';

export interface PaymentQuery extends PageRequest, Omit<PaymentFilter, 'payerIndexes' | 'ids'> {
  /** The beginning of one of the payment's texts, or a sum: `search.ts`. */
  readonly search?: string | undefined;
  /** The customer's email, in any case. */
  readonly customer?: string | undefined;
}

export type Payments = ReturnType<typeof createPayments>;

export function createPayments(deps: PaymentsDeps) {
  const { database, clock, newId, rates, currencies, depths, addresses, personalData } = deps;
  const { merchant, wallet } = deps;
  const isOffered = (scope: Scope, { network, currency }: PaymentOption) =>
    addresses.canAssign(scope, network) && deps.isReadable(network, currency.code);
  const reader = createPaymentReader(deps, isOffered);
  const announcements = createAnnouncements(deps, reader);
  const updatePayment = createUpdatePayment(deps, announcements);
  const search = createPaymentSearch(currencies, personalData);

  /** A public key gets the same object until the payment changes. */
  const viewFor = (kind: Actor['kind'], record: StoredRecord) =>
    kind === 'public' ? reader.publicView(record) : reader.view(kind, record);

  /** Views that were made of kept payments. */
  const brandedViews = new WeakMap<
    PaymentRecord,
    { readonly mark: string; readonly payment: PaymentRecord }
  >();

  /** With the merchant's branding. Of a payment that was read outside of transactions. */
  async function branded(kind: Actor['kind'], record: StoredRecord): Promise<PaymentRecord> {
    const branding = viewBranding(await merchant(database.reader, record.merchant_id));
    const view = viewFor(kind, record);
    const mark = JSON.stringify(branding);
    const cached = brandedViews.get(view);
    if (cached?.mark === mark) return cached.payment;
    const payment = { ...view, branding };
    brandedViews.set(view, { mark, payment });
    return payment;
  }

  /** Ends the payments whose deadline has passed. One that fails does not stop the others. */
  async function expireOverdue(signal: AbortSignal): Promise<void> {
    const failures = createFailures();
    for (const mode of ['test', 'live'] satisfies Mode[]) {
      for await (const id of findOverdue(database.reader, mode, clock.real())) {
        if (signal.aborted) return;
        await failures.collect(() =>
          database.write(async (transaction) => {
            const payment = await store.lockPayment(transaction, id);
            if (payment) await updatePayment(transaction, payment);
          }),
        );
      }
    }
    failures.report('payments could not be expired');
  }

  return {
    ...createPaymentChanges(deps, reader, updatePayment),
    ...createStartPayment(deps, reader),
    accept: createAcceptPayment(deps, reader, updatePayment),

    /**
     * The options that a merchant’s payers have now: the coins, most used first, and the time for which their price
     * stays fixed.
     */
    offer(scope: Scope) {
      const offered = currencies.options(scope.mode).filter((option) => isOffered(scope, option));
      const codes = new Set(offered.map(({ currency }) => currency.code));
      return {
        coins: [...codes].filter((code) => rates.latest(code)),
        minutes: Math.floor(deps.times.paySeconds / 60),
      };
    },

    /** The merchant and mode of a payment, for the hosted page; undefined if the id is unknown. */
    owner: (id: string) => store.findOwner(database.reader, id),

    /** Includes the merchant's branding. Problem: `not_found`. */
    async retrieve(actor: Actor, id: string): Promise<PaymentRecord> {
      return branded(actor.kind, await reader.find(database.reader, actor, id));
    },

    /** The payment for a public key, with its merchant and mode, for pages that know only the id; undefined if the id is unknown. */
    async retrieveAnywhere(id: string) {
      const record = await reader.findAnywhere(database.reader, id);
      return record && { scope: scopeOf(record), payment: await branded('public', record) };
    },

    /** Problem: `not_found`. */
    verify: async (actor: Actor, id: string) =>
      viewFor(actor.kind, await reader.find(database.reader, actor, id)),

    /** The payment's whole time log, oldest entry first. Problem: `not_found`. */
    events: async (scope: Scope, id: string) =>
      orNotFound(await store.listLog(database.reader, scope, id), 'payment').map(viewLogEntry),

    /** All transfers to the payment's address, with dust, oldest first. Problem: `not_found`. */
    async receipts(scope: Scope, id: string, page: PageRequest) {
      const found = orNotFound(await store.listReceipts(database.reader, scope, id, page), 'payment');
      return { rows: viewReceipts(found.payment, found.rows, currencies), total: found.total };
    },

    /** Relates a transaction to a payment. Problems: `not_found`, `currency_not_set`, `chain_unavailable`. */
    checkTransfer: async (actor: Actor, id: string, hash: string, signal: AbortSignal) =>
      checkTransfer(deps, await reader.find(database.reader, actor, id), hash, signal),

    async list(
      scope: Scope,
      { customer, search: text, ...query }: PaymentQuery,
    ): Promise<Page<PaymentRecord>> {
      const ids = text === undefined ? undefined : await search(database.reader, scope, text);
      if (ids?.length === 0) return { rows: [], total: 0 };
      const payerIndexes =
        customer === undefined ? undefined : personalData.payerIndexes(scope.merchantId, customer);
      const address = query.address === undefined ? undefined : asShown(query.address);
      const page = await listRecords(database.reader, scope, { ...query, payerIndexes, address, ids });
      return { rows: page.records.map((record) => reader.view('secret', record)), total: page.total };
    },

    /** Creates the payment for a transfer to a hosted wallet. */
    async deposit(transaction: Transaction, walletId: string, transfer: DepositedTransfer) {
      const target = await wallet(transaction, walletId);
      const { fee_basis_points: feeBasisPoints } = await merchant(transaction, target.merchantId);
      const { network, currency, amount: units } = transfer;
      const onNetwork = currencies.network(target.mode, network);
      const depth = onNetwork ? depths.depthOf(onNetwork, [{ units, currency }]) : null;
      const now = clock.now(target);
      const row = newDeposit(newId(), target, transfer, feeBasisPoints, now, depth, personalData);
      if (!(await store.insertPayment(transaction, row))) {
        throw new Error(`The deposit ${row.tx_ref} already exists`);
      }
      return row;
    },

    /** Brings a payment's state, log and ledger up to date with its facts. */
    updatePayment,

    /**
     * Sends the newest event of a payment again, or a new one if none has reported the current status.
     * Problems: `not_found`, `invalid_state`, `webhook_not_configured`.
     */
    async resendWebhook(transaction: Transaction, scope: Scope, id: string): Promise<undefined> {
      await announcements.resend(transaction, await reader.lock(transaction, scope, id));
    },

    expireOverdue,
    jobs: (): readonly Job[] => [{ name: 'expiry', intervalMs: 1000, run: expireOverdue }],
  };
}
