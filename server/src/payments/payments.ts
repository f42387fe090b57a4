/** The life of a payment: it is created, gets a currency, is locked, and is paid, cancelled or expires. */
import { statusOf, type PaymentRecord, type PaymentState } from 'crypto-checkout/contract';
import type { DepositAddresses } from '../addresses/deposit-addresses.js';
import type { IsReadable } from '../chains/availability.js';
import type { Clock } from '../shared/clock.js';
import { parseAmount, requireCurrency } from '../money/amounts.js';
import type { Currencies, PaymentOption } from '../money/currencies.js';
import type { Customers } from '../customers/customers.js';
import type { Database } from '../db/database.js';
import type { MerchantTable } from '../db/schema.js';
import { together } from '../db/send.js';
import { createFailures } from '../shared/failures.js';
import type { NewId } from '../shared/ids.js';
import type { Ledger } from '../ledger/ledger.js';
import { invalidField, notFound, Problem } from '../shared/problem.js';
import type { Rate, RateSource } from '../money/rates.js';
import type { DepositTarget } from '../wallets/wallets.js';
import type { Outbox } from '../webhooks/outbox.js';
import { createAnnouncements } from './announcements.js';
import { countChange } from './change-budget.js';
import { newDeposit, type DepositedTransfer } from './deposits.js';
import { formatUnits } from '../money/units.js';
import { feeOf, minimumOfAll, minimumUnits, payableAmount } from './quote.js';
import { createUpdatePayment, type OnStatusChange, type UpdatePayment } from './update-payment.js';
import { accepts, createPaymentReader } from './payment-reader.js';
import { findOverdue } from './overdue-store.js';
import * as store from './store.js';
import type { NewLogEntry, PaymentFilter, PaymentRow, StoredRecord } from './store.js';
import { checkRedirect, readOrigins } from './validate.js';
import { viewBranding, viewLogEntry } from './view.js';
import { scopeOf, type Actor, type Mode, type Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';

export interface PaymentTimes {
  /** Time to choose a currency, from creation. */
  readonly chooseSeconds: number;
  /** Time to pay, from the lock. */
  readonly paySeconds: number;
}

export interface PaymentsDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly rates: RateSource;
  readonly currencies: Currencies;
  readonly addresses: DepositAddresses;
  readonly isReadable: IsReadable;
  /** Hosted pages are at `{checkoutUrl}/{payment id}`. */
  readonly checkoutUrl: string;
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly customers: Pick<Customers, 'link'>;
  /** Reads a merchant. The id comes from an API key or a stored record, so the merchant exists. */
  readonly merchant: (reader: Reader, id: string) => Promise<MerchantTable>;
  /** Reads the wallet of a deposit. It cannot be deleted until the transaction ends. */
  readonly wallet: (transaction: Transaction, id: string) => Promise<DepositTarget>;
  readonly onStatusChange: OnStatusChange;
  readonly times: PaymentTimes;
  /** How often one payment can be changed with a public key in an hour; undefined if there is no limit. */
  readonly publicChangesPerHour: number | undefined;
}

/** The input for a new payment. */
export interface NewPayment {
  /** A plain decimal in the base currency. */
  readonly amount: string;
  readonly baseCurrency: string;
  readonly txRef?: string | undefined;
  readonly redirectUrl?: string | undefined;
  readonly email?: string | undefined;
  readonly fullName?: string | undefined;
  readonly phoneNumber?: string | undefined;
  /** Codes of the currencies that it may be paid in; all if left out. */
  readonly acceptedCurrencies?: readonly string[] | undefined;
  /** The merchant's own keys and values. Only for secret keys. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Whether an amount that is too small for every currency is an error. A subscription's is created all the same. */
  readonly refusesUnpayable?: true;
}

export interface Payments {
  /**
   * Problems: `chain_unavailable`, `validation_error`, `unsupported_currency`, `rate_unavailable`,
   * `duplicate_tx_ref`, `customer_not_allowed`.
   */
  create(transaction: Transaction, actor: Actor, input: NewPayment): Promise<PaymentRecord>;
  /** Includes the merchant's branding. Problem: `not_found`. */
  retrieve(actor: Actor, id: string): Promise<PaymentRecord>;
  /** Problem: `not_found`. */
  verify(actor: Actor, id: string): Promise<PaymentRecord>;
  /** The payment's time log. Problem: `not_found`. */
  events(scope: Scope, id: string): Promise<PaymentRecord['transactionTimeLog']>;
  /** The merchant and mode of a payment, for the hosted page; undefined if the id is unknown. */
  owner(id: string): Promise<Scope | undefined>;
  list(scope: Scope, query: PageRequest & PaymentFilter): Promise<Page<PaymentRecord>>;
  /** Does nothing if it is already cancelled. Problems: `not_found`, `invalid_state`, `rate_limited`. */
  cancel(transaction: Transaction, actor: Actor, id: string): Promise<void>;
  /**
   * Problems: `unsupported_currency`, `not_found`, `invalid_state`, `currency_locked`, `rate_unavailable`,
   * `amount_below_minimum`, `rate_limited`.
   */
  setCurrency(
    transaction: Transaction,
    actor: Actor,
    id: string,
    currency: string,
    network: string,
  ): Promise<PaymentRecord>;
  /**
   * Fixes the price. Problems: `not_found`, `invalid_state`, `currency_not_set`, `rate_unavailable`, `chain_unavailable`,
   * `rate_limited`.
   */
  lockCurrency(transaction: Transaction, actor: Actor, id: string): Promise<PaymentRecord>;
  /** Locks the payments until the transaction ends. Call it before locking anything that belongs to them. */
  lock(transaction: Transaction, ids: readonly string[]): Promise<Map<string, PaymentRow>>;
  /** Creates the payment for a transfer to a hosted wallet. */
  deposit(transaction: Transaction, walletId: string, transfer: DepositedTransfer): Promise<PaymentRow>;
  /** Brings a payment's state, log and ledger up to date with its facts. */
  readonly updatePayment: UpdatePayment;
  /**
   * Sends the newest event of a payment again, or a new one if none has reported the current status.
   * Problems: `not_found`, `invalid_state`, `webhook_not_configured`.
   */
  resendWebhook(transaction: Transaction, scope: Scope, id: string): Promise<void>;
  /** Ends the payments whose deadline has passed. One that fails does not stop the others. */
  expireOverdue(signal: AbortSignal): Promise<void>;
}

export function createPayments(deps: PaymentsDeps): Payments {
  const { database, clock, newId, rates, currencies, addresses, ledger, merchant, times } = deps;
  const { customers, wallet, outbox, onStatusChange, publicChangesPerHour } = deps;
  const isOffered = (scope: Scope, { network, currency }: PaymentOption) =>
    addresses.canAssign(scope, network) && deps.isReadable(network, currency.code);
  const reader = createPaymentReader({ clock, rates, currencies, isOffered, checkoutUrl: deps.checkoutUrl });
  const announcements = createAnnouncements({ reader, outbox, wallet });
  const updatePayment = createUpdatePayment({ clock, currencies, ledger, announcements, onStatusChange });

  async function lockOwn(transaction: Transaction, scope: Scope, id: string): Promise<StoredRecord> {
    const record = await store.lockRecord(transaction, id);
    if (record?.merchant_id !== scope.merchantId || record.mode !== scope.mode) throw notFound('payment');
    return record;
  }

  /** Locks a payment that the actor may change now. The change has to store `counted`. */
  async function lockPayment(
    transaction: Transaction,
    actor: Actor,
    id: string,
  ): Promise<{ row: StoredRecord; counted: Partial<PaymentRow> }> {
    const row = await lockOwn(transaction, actor, id);
    if (row.wallet_id !== null) {
      throw new Problem('invalid_state', 'This is a deposit to a wallet: it cannot be changed');
    }
    const limit = actor.kind === 'public' ? publicChangesPerHour : undefined;
    return { row, counted: countChange(row, clock.now(scopeOf(row)), limit) };
  }

  /**
   * Stores the changes, and a log entry unless the last one says the same: what is repeated must not grow the log.
   * Returns the changed payment.
   */
  async function change(
    transaction: Transaction,
    actor: Actor,
    record: StoredRecord,
    now: number,
    changes: Partial<PaymentRow>,
    entry: NewLogEntry,
  ): Promise<PaymentRecord> {
    const isRepeated = record.log.at(-1)?.event === entry.event;
    const logged = await together(transaction, async () => {
      if (Object.keys(changes).length > 0) await store.updatePayment(transaction, record.id, changes);
      return isRepeated ? [] : store.appendLog(transaction, record.id, now, [entry]);
    });
    return reader.view(actor.kind, {
      ...record,
      ...changes,
      log: [...record.log, ...logged],
    });
  }

  /** Refuses an amount that no currency can be paid in. Problem: `validation_error`. */
  function checkPayable(row: PaymentRow): void {
    const base = reader.baseSum(row, reader.latestRate);
    const options = currencies.options(row.mode).filter(({ currency }) => accepts(row, currency.code));
    const minimum = minimumOfAll(base, options, (code) => rates.latest(code));
    if (minimum === undefined) return;
    const least = formatUnits(minimum, base.currency);
    throw invalidField(
      'amount',
      `Must be at least ${least} ${base.currency.code}: no currency can be paid in smaller amounts`,
    );
  }

  return {
    owner: (id) => store.findOwner(database.reader, id),

    async create(transaction, actor, input) {
      if (!currencies.networks(actor.mode).some((network) => addresses.canAssign(actor, network))) {
        throw new Problem(
          'chain_unavailable',
          `There is no network with a deposit key in ${actor.mode} mode, so no payment can be created`,
        );
      }
      const currency = requireCurrency(currencies, input.baseCurrency, 'baseCurrency');
      const baseUnits = parseAmount(input.amount, currency, 'amount');
      reader.latestRate(currency.code);
      if (input.metadata !== undefined && actor.kind !== 'secret') {
        throw invalidField('metadata', 'Can only be set with a secret key');
      }
      const { fee_basis_points: feeBasisPoints, redirect_origins: origins } = await merchant(
        transaction,
        actor.merchantId,
      );
      const redirect = checkRedirect(input.redirectUrl ?? '', actor, readOrigins(origins));
      const now = clock.now(actor);
      const id = newId();
      const row: PaymentRow = {
        id,
        merchant_id: actor.merchantId,
        mode: actor.mode,
        state: 'created',
        created_by: actor.kind,
        tx_ref: input.txRef ?? `tx_${id}`,
        description: `Payment from ${payerName(input)}`,
        redirect_url: redirect.url,
        is_redirect_trusted: redirect.isTrusted ? 1 : 0,
        metadata: input.metadata ? JSON.stringify(input.metadata) : null,
        base_currency: currency.code,
        base_amount: baseUnits.toString(),
        transaction_fees: feeOf(baseUnits, feeBasisPoints).toString(),
        fee_basis_points: feeBasisPoints,
        accepted_currencies: input.acceptedCurrencies
          ? JSON.stringify(input.acceptedCurrencies)
          : await currenciesOfReplaced(transaction, actor, input.txRef),
        customer_email: input.email || null,
        customer_name: input.fullName || null,
        customer_phone: input.phoneNumber || null,
        currency: null,
        network: null,
        address_id: null,
        address: null,
        amount: null,
        fee: null,
        quote: null,
        locked_at: null,
        expires_at: now + times.chooseSeconds * 1000,
        cancelled_at: null,
        settled_at: null,
        wallet_id: null,
        public_changes: 0,
        public_changes_since: null,
        created_at: now,
        updated_at: now,
      };
      if (input.refusesUnpayable) checkPayable(row);
      const { email, fullName, phoneNumber } = input;
      // All run at once. If the customer is not allowed to pay, or the reference is taken, the inserts are rolled back.
      const [isNew, , log] = await Promise.all([
        store.insertPayment(transaction, row),
        email ? customers.link(transaction, actor, { email, fullName, phoneNumber }) : undefined,
        store.appendLog(transaction, id, now, [
          { type: 'event', event: 'Payment started', code: 'payment_started', values: {} },
        ]),
      ]);
      if (!isNew) {
        const existing = await store.findPaymentByReference(transaction, actor, row.tx_ref, actor.kind);
        throw new Problem(
          'duplicate_tx_ref',
          `A payment with the txRef ${row.tx_ref} already exists; choose another txRef`,
          // A public key may not learn the id of another payer's payment.
          { param: 'txRef', ...(actor.kind === 'secret' && existing && { paymentId: existing.id }) },
        );
      }
      return reader.view(actor.kind, { ...row, ...store.noParts, log });
    },

    async retrieve(actor, id) {
      const record = await reader.find(database.reader, actor, id);
      return {
        ...reader.view(actor.kind, record),
        branding: viewBranding(await merchant(database.reader, record.merchant_id)),
      };
    },

    verify: async (actor, id) => reader.view(actor.kind, await reader.find(database.reader, actor, id)),

    events: async (scope, id) => (await reader.find(database.reader, scope, id)).log.map(viewLogEntry),

    async list(scope, query) {
      const page = await store.listRecords(database.reader, scope, query);
      return { rows: page.records.map((record) => reader.view('secret', record)), total: page.total };
    },

    async cancel(transaction, actor, id) {
      const { row, counted } = await lockPayment(transaction, actor, id);
      const status = statusOf(row.state);
      if (status === 'cancelled') {
        if (Object.keys(counted).length > 0) await store.updatePayment(transaction, id, counted);
        return;
      }
      if (status !== 'in progress') throw ended(row.state);
      const now = clock.now(actor);
      await store.updatePayment(transaction, id, { ...counted, cancelled_at: now });
      await updatePayment(transaction, { ...row, cancelled_at: now }, [], actor.kind);
    },

    async setCurrency(transaction, actor, id, currencyCode, networkCode) {
      const option = currencies.option(actor.mode, currencyCode, networkCode);
      const { row, counted } = await lockPayment(transaction, actor, id);
      if (statusOf(row.state) !== 'in progress') throw ended(row.state);
      if (row.locked_at !== null) {
        throw new Problem(
          'currency_locked',
          'The currency is locked; create a new payment to pay in another currency',
        );
      }
      const { currency, network } = option;
      if (!addresses.canAssign(actor, network)) {
        throw new Problem(
          'unsupported_currency',
          `This merchant cannot be paid on ${network.name}; choose one of the payment's currencyOptions`,
          { param: 'network' },
        );
      }
      if (!accepts(row, currency.code)) {
        throw new Problem(
          'unsupported_currency',
          `This payment cannot be paid in ${currency.code}; choose one of its currencyOptions`,
          { param: 'currency' },
        );
      }
      const amount = payableAmount(
        reader.baseSum(row, reader.latestRate),
        currency,
        reader.latestRate(currency.code),
      );
      if (amount < minimumUnits(option)) {
        throw new Problem(
          'amount_below_minimum',
          `This payment is ${formatUnits(amount, currency)} ${currency.code}, below the minimum of ${option.minAmount} on ${network.name}; choose another currency or network`,
          { param: 'currency' },
        );
      }
      const now = clock.now(actor);
      // A payment's first address is copied into its row.
      const assigned =
        row.address_id === null ? undefined : await addresses.ofPayment(transaction, id, option);
      return together(transaction, async () => {
        const address =
          assigned ?? (await addresses.assign(transaction, actor, { paymentId: id }, option, now));
        const changes = {
          ...counted,
          state: 'currency_set',
          currency: currency.code,
          network: network.code,
          address_id: address.id,
          address: address.address,
          amount: amount.toString(),
          fee: feeOf(amount, row.fee_basis_points).toString(),
          updated_at: now,
        } as const;
        return change(transaction, actor, row, now, changes, {
          type: 'event',
          event: `Currency set to ${currency.code} on ${network.code}`,
          code: 'currency_set',
          values: { currency: currency.code, network: network.code },
        });
      });
    },

    async lockCurrency(transaction, actor, id) {
      const { row, counted } = await lockPayment(transaction, actor, id);
      if (statusOf(row.state) !== 'in progress') throw ended(row.state);
      if (row.currency === null) {
        throw new Problem('currency_not_set', 'Set a currency and a network before locking');
      }
      const currency = currencies.known(row.currency);
      const now = clock.now(actor);
      if (row.locked_at !== null) {
        return change(transaction, actor, row, now, counted, {
          type: 'event',
          event: 'Currency already locked',
          code: 'currency_already_locked',
          values: {},
        });
      }
      if (now >= row.expires_at) throw ended('expired');
      const network = currencies.network(row.mode, row.network ?? '');
      if (!network || !deps.isReadable(network, currency.code))
        throw unreadable(network?.name ?? row.network ?? '');
      const base = reader.baseSum(row, reader.freshRate);
      const rate = reader.freshRate(row.currency);
      const amount = payableAmount(base, currency, rate);
      const changes = {
        ...counted,
        state: 'awaiting_funds',
        amount: amount.toString(),
        fee: feeOf(amount, row.fee_basis_points).toString(),
        quote: JSON.stringify({ asset: storedRate(rate), base: storedRate(base.rate) }),
        locked_at: now,
        expires_at: now + times.paySeconds * 1000,
        updated_at: now,
      } as const;
      const values = {
        amount: formatUnits(amount, currency),
        currency: currency.code,
        network: row.network ?? '',
      };
      return change(transaction, actor, row, now, changes, {
        type: 'event',
        event: `Currency locked: ${values.amount} ${values.currency} on ${values.network}`,
        code: 'currency_locked',
        values,
      });
    },

    lock: (transaction, ids) => store.lockPayments(transaction, ids),

    async deposit(transaction, walletId, transfer) {
      const target = await wallet(transaction, walletId);
      const { fee_basis_points: feeBasisPoints } = await merchant(transaction, target.merchantId);
      const row = newDeposit(newId(), target, transfer, feeBasisPoints, clock.now(target));
      if (!(await store.insertPayment(transaction, row))) {
        throw new Error(`The deposit ${row.tx_ref} already exists`);
      }
      return row;
    },

    updatePayment,

    async resendWebhook(transaction, scope, id) {
      await announcements.resend(transaction, await lockOwn(transaction, scope, id));
    },

    async expireOverdue(signal) {
      const failures = createFailures();
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        for await (const id of findOverdue(database.reader, mode, clock.real())) {
          if (signal.aborted) return;
          await failures.collect(() =>
            database.write(async (transaction) => {
              const payment = await store.lockPayment(transaction, id);
              if (payment) await updatePayment(transaction, payment, []);
            }),
          );
        }
      }
      failures.report('payments could not be expired');
    },
  };
}

function payerName(payer: Pick<NewPayment, 'fullName' | 'email'>): string {
  return payer.fullName || payer.email || 'anonymous';
}

function ended(state: PaymentState): Problem {
  return new Problem(
    'invalid_state',
    `The payment has ended (${statusOf(state)}) and can no longer be changed`,
  );
}

function unreadable(network: string): Problem {
  return new Problem(
    'chain_unavailable',
    `${network} cannot be read at the moment, so a payment on it would not be seen; choose another network, or try again shortly`,
    { retryAfterSeconds: 30 },
  );
}

function storedRate({ numerator, denominator, source, at }: Rate) {
  return { dollars: `${numerator}/${denominator}`, source, at };
}

/**
 * What a payment in place of another one accepts: a page's `order-42:2` takes the coins of the server's `order-42`. Payers
 * could otherwise pay in a coin that the merchant does not accept.
 */
async function currenciesOfReplaced(
  transaction: Transaction,
  actor: Actor,
  txRef: string | undefined,
): Promise<string | null> {
  const [, replaced] = /^(.+):\d+$/.exec(txRef ?? '') ?? [];
  if (replaced === undefined || actor.kind === 'secret') return null;
  const payment = await store.findPaymentByReference(transaction, actor, replaced, 'secret');
  return payment?.accepted_currencies ?? null;
}
