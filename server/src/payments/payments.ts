/** The life of a payment: it is created, gets a currency, is locked, and is paid, cancelled or expires. */
import type { Payment, PaymentState } from 'crypto-checkout/contract';
import type { DepositAddresses } from '../chains/addresses/deposit-addresses.js';
import type { IsReadable } from '../chains/availability.js';
import type { Clock } from '../shared/clock.js';
import { parseAmount, requireCurrency } from '../money/amounts.js';
import type { Currencies, PaymentOption } from '../money/currencies.js';
import type { Customers } from '../customers/customers.js';
import type { Database } from '../db/database.js';
import type { MerchantTable } from '../db/schema.js';
import { createFailures } from '../shared/failures.js';
import type { NewId } from '../shared/ids.js';
import type { Ledger } from '../ledger/ledger.js';
import { notFound, Problem } from '../shared/problem.js';
import type { Rate, RateSource } from '../money/rates.js';
import type { DepositTarget } from '../wallets/wallets.js';
import type { Outbox } from '../webhooks/outbox.js';
import { createAnnouncements } from './announcements.js';
import { statusOf } from './assess.js';
import { newDeposit, type DepositedTransfer } from './deposits.js';
import { formatUnits } from '../money/units.js';
import { feeOf, minimumUnits, payableAmount } from './quote.js';
import { createReassess, type OnStatusChange } from './reassess.js';
import { accepts, createPaymentReader } from './payment-reader.js';
import * as store from './store.js';
import type { NewLogEntry, PaymentRow, StoredRecord } from './store.js';
import { checkRedirectUrl } from './validate.js';
import { viewBranding, viewLogEntry } from './view.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';

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
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly customers: Pick<Customers, 'link'>;
  /** Reads a merchant. The id comes from an API key or a stored record, so the merchant exists. */
  readonly merchant: (reader: Reader, id: string) => Promise<MerchantTable>;
  /** Reads the wallet of a deposit. It cannot be deleted until the transaction ends. */
  readonly wallet: (transaction: Transaction, id: string) => Promise<DepositTarget>;
  readonly onStatusChange: OnStatusChange;
  readonly times: PaymentTimes;
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
  /** Whether the `duplicate_tx_ref` problem may reveal the id of the existing payment. */
  readonly mayNameDuplicate: boolean;
}

export interface Payments {
  /**
   * Problems: `chain_unavailable`, `validation_error`, `unsupported_currency`, `rate_unavailable`,
   * `duplicate_tx_ref`, `customer_not_allowed`.
   */
  create(transaction: Transaction, scope: Scope, input: NewPayment): Promise<Payment>;
  /** Includes the merchant's branding. Problem: `not_found`. */
  retrieve(scope: Scope, id: string): Promise<Payment>;
  /** Problem: `not_found`. */
  verify(scope: Scope, id: string): Promise<Payment>;
  /** The payment's time log. Problem: `not_found`. */
  events(scope: Scope, id: string): Promise<Payment['transactionTimeLog']>;
  /** The merchant and mode of a payment, for the hosted page; undefined if the id is unknown. */
  owner(id: string): Promise<Scope | undefined>;
  list(scope: Scope, range: PageRequest): Promise<{ payments: Payment[]; total: number }>;
  /** Does nothing if it is already cancelled. Problems: `not_found`, `invalid_state`. */
  cancel(transaction: Transaction, scope: Scope, id: string): Promise<void>;
  /**
   * Problems: `unsupported_currency`, `not_found`, `invalid_state`, `currency_locked`, `rate_unavailable`,
   * `amount_below_minimum`.
   */
  setCurrency(
    transaction: Transaction,
    scope: Scope,
    id: string,
    currency: string,
    network: string,
  ): Promise<Payment>;
  /**
   * Fixes the price. Problems: `not_found`, `invalid_state`, `currency_not_set`, `rate_unavailable`,
   * `chain_unavailable`.
   */
  lockCurrency(transaction: Transaction, scope: Scope, id: string): Promise<Payment>;
  /** Locks the payments until the transaction ends. Call it before locking anything that belongs to them. */
  lock(transaction: Transaction, ids: readonly string[]): Promise<Map<string, StoredRecord>>;
  /** Creates the payment for a transfer to a hosted wallet. */
  deposit(transaction: Transaction, walletId: string, transfer: DepositedTransfer): Promise<StoredRecord>;
  /**
   * Brings a payment's state, log and ledger up to date with its facts.
   * @param record locked, with its current receipts
   * @param notes logged before the transition that they cause
   */
  reassess(transaction: Transaction, record: StoredRecord, notes?: readonly NewLogEntry[]): Promise<void>;
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
  const { customers, wallet, outbox, onStatusChange } = deps;
  const isOffered = (scope: Scope, { network, currency }: PaymentOption) =>
    addresses.canAssign(scope, network) && deps.isReadable(network, currency.code);
  const reader = createPaymentReader({ clock, rates, currencies, isOffered });
  const announcements = createAnnouncements({ reader, outbox, wallet });
  const reassess = createReassess({ clock, currencies, ledger, announcements, onStatusChange });

  async function lockOwn(transaction: Transaction, scope: Scope, id: string): Promise<StoredRecord> {
    const record = await store.lockRecord(transaction, id);
    if (record?.merchant_id !== scope.merchantId || record.mode !== scope.mode) throw notFound('payment');
    return record;
  }

  async function lockPayment(transaction: Transaction, scope: Scope, id: string): Promise<StoredRecord> {
    const record = await lockOwn(transaction, scope, id);
    if (record.wallet_id !== null) {
      throw new Problem('invalid_state', 'This is a deposit to a wallet: it cannot be changed');
    }
    return record;
  }

  /** Stores the changes and a log entry. Returns the changed payment. */
  async function change(
    transaction: Transaction,
    record: StoredRecord,
    now: number,
    changes: Partial<PaymentRow>,
    event: string,
  ): Promise<Payment> {
    if (Object.keys(changes).length > 0) await store.updatePayment(transaction, record.id, changes);
    const logged = await store.appendLog(transaction, record.id, now, [{ type: 'event', event }]);
    return reader.view({ ...record, ...changes, log: [...record.log, ...logged] });
  }

  return {
    owner: (id) => store.findOwner(database.reader, id),

    async create(transaction, scope, input) {
      if (!currencies.networks(scope.mode).some((network) => addresses.canAssign(scope, network))) {
        throw new Problem(
          'chain_unavailable',
          `There is no network with a deposit key in ${scope.mode} mode, so no payment can be created`,
        );
      }
      const currency = requireCurrency(currencies, input.baseCurrency, 'baseCurrency');
      const baseUnits = parseAmount(input.amount, currency, 'amount');
      reader.latestRate(currency.code);
      const redirectUrl = checkRedirectUrl(input.redirectUrl ?? '', scope.mode);
      const { fee_basis_points: feeBasisPoints } = await merchant(transaction, scope.merchantId);
      const now = clock.now(scope.mode);
      const id = newId();
      const row: PaymentRow = {
        id,
        merchant_id: scope.merchantId,
        mode: scope.mode,
        state: 'created',
        tx_ref: input.txRef ?? `tx_${id}`,
        description: `Payment from ${payerName(input)}`,
        redirect_url: redirectUrl,
        base_currency: currency.code,
        base_amount: baseUnits.toString(),
        transaction_fees: feeOf(baseUnits, feeBasisPoints).toString(),
        fee_basis_points: feeBasisPoints,
        accepted_currencies: input.acceptedCurrencies ? JSON.stringify(input.acceptedCurrencies) : null,
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
        created_at: now,
        updated_at: now,
      };
      const { email, fullName, phoneNumber } = input;
      // Both run at once. If the customer is not allowed to pay, the insert is rolled back.
      const [isNew] = await Promise.all([
        store.insertPayment(transaction, row),
        email ? customers.link(transaction, scope, { email, fullName, phoneNumber }) : undefined,
      ]);
      if (!isNew) {
        const existing = await store.findPaymentByReference(transaction, scope, row.tx_ref);
        throw new Problem(
          'duplicate_tx_ref',
          `A payment with the txRef ${row.tx_ref} already exists; choose another txRef`,
          {
            param: 'txRef',
            ...(input.mayNameDuplicate && existing && { paymentId: existing.id }),
          },
        );
      }
      const log = await store.appendLog(transaction, id, now, [{ type: 'event', event: 'Payment started' }]);
      return reader.view({ ...row, ...store.noParts, log });
    },

    async retrieve(scope, id) {
      const record = await reader.find(database.reader, scope, id);
      return {
        ...reader.view(record),
        branding: viewBranding(await merchant(database.reader, record.merchant_id)),
      };
    },

    verify: async (scope, id) => reader.view(await reader.find(database.reader, scope, id)),

    events: async (scope, id) => (await reader.find(database.reader, scope, id)).log.map(viewLogEntry),

    async list(scope, range) {
      const page = await store.listRecords(database.reader, scope, range);
      return { payments: page.records.map(reader.view), total: page.total };
    },

    async cancel(transaction, scope, id) {
      const row = await lockPayment(transaction, scope, id);
      const status = statusOf(row.state);
      if (status === 'cancelled') return;
      if (status !== 'in progress') throw ended(row.state);
      const now = clock.now(row.mode);
      await store.updatePayment(transaction, id, { cancelled_at: now });
      await reassess(transaction, { ...row, cancelled_at: now }, []);
    },

    async setCurrency(transaction, scope, id, currencyCode, networkCode) {
      const option = currencies.option(scope.mode, currencyCode, networkCode);
      const [row, assigned] = await Promise.all([
        lockPayment(transaction, scope, id),
        addresses.ofPayment(transaction, id, option),
      ]);
      if (statusOf(row.state) !== 'in progress') throw ended(row.state);
      if (row.locked_at !== null) {
        throw new Problem(
          'currency_locked',
          'The currency is locked; create a new payment to pay in another currency',
        );
      }
      const { currency, network } = option;
      if (!addresses.canAssign(scope, network)) {
        throw new Problem(
          'unsupported_currency',
          `This merchant cannot be paid on ${network.name}; choose one of the payment's currencyOptions`,
          { param: 'network' },
        );
      }
      if (!accepts(row, option)) {
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
      const now = clock.now(row.mode);
      const address =
        assigned ?? (await addresses.assign(transaction, scope, { paymentId: id }, option, now));
      const changes = {
        state: 'currency_set',
        currency: currency.code,
        network: network.code,
        address_id: address.id,
        address: address.address,
        amount: amount.toString(),
        fee: feeOf(amount, row.fee_basis_points).toString(),
        updated_at: now,
      } as const;
      return change(transaction, row, now, changes, `Currency set to ${currency.code} on ${network.code}`);
    },

    async lockCurrency(transaction, scope, id) {
      const row = await lockPayment(transaction, scope, id);
      if (statusOf(row.state) !== 'in progress') throw ended(row.state);
      if (row.currency === null) {
        throw new Problem('currency_not_set', 'Set a currency and a network before locking');
      }
      const currency = currencies.known(row.currency);
      const now = clock.now(row.mode);
      if (row.locked_at !== null) {
        return change(transaction, row, now, {}, 'Currency already locked');
      }
      if (now >= row.expires_at) throw ended('expired');
      const network = currencies.network(row.mode, row.network ?? '');
      if (!network || !deps.isReadable(network, currency.code))
        throw unreadable(network?.name ?? row.network ?? '');
      const base = reader.baseSum(row, reader.freshRate);
      const rate = reader.freshRate(row.currency);
      const amount = payableAmount(base, currency, rate);
      const changes = {
        state: 'awaiting_funds',
        amount: amount.toString(),
        fee: feeOf(amount, row.fee_basis_points).toString(),
        quote: JSON.stringify({ asset: storedRate(rate), base: storedRate(base.rate) }),
        locked_at: now,
        expires_at: now + times.paySeconds * 1000,
        updated_at: now,
      } as const;
      return change(
        transaction,
        row,
        now,
        changes,
        `Currency locked: ${formatUnits(amount, currency)} ${currency.code} on ${row.network ?? ''}`,
      );
    },

    lock: (transaction, ids) => store.lockRecords(transaction, ids),

    async deposit(transaction, walletId, transfer) {
      const target = await wallet(transaction, walletId);
      const { fee_basis_points: feeBasisPoints } = await merchant(transaction, target.merchantId);
      const row = newDeposit(newId(), target, transfer, feeBasisPoints, clock.now(target.mode));
      if (!(await store.insertPayment(transaction, row))) {
        throw new Error(`The deposit ${row.tx_ref} already exists`);
      }
      return { ...row, ...store.noParts };
    },

    reassess: (transaction, record, notes = []) => reassess(transaction, record, notes),

    async resendWebhook(transaction, scope, id) {
      await announcements.resend(transaction, await lockOwn(transaction, scope, id));
    },

    async expireOverdue(signal) {
      const failures = createFailures();
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        for await (const id of store.findOverdue(database.reader, mode, clock.now(mode))) {
          if (signal.aborted) return;
          await failures.collect(() =>
            database.write(async (transaction) => {
              const record = await store.lockRecord(transaction, id);
              if (record) await reassess(transaction, record, []);
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
