/** The life of a payment: created, priced, locked, paid or not, and what the merchant gets. */
import { countDecimals, toUnits, type Payment, type PaymentState } from 'crypto-checkout/contract';
import type { Addresses } from '../addresses/addresses.js';
import type { Clock } from '../clock.js';
import type { Currencies } from '../currencies/currencies.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import type { MerchantTable, Mode, ReceiptTable } from '../db/schema.js';
import type { NewId } from '../ids.js';
import type { Ledger } from '../ledger/ledger.js';
import { invalidField, notFound, Problem } from '../problems.js';
import type { Rate, RateSource } from '../rates/rates.js';
import { assess, counts, statusOf, totals, type PaymentFacts } from './assess.js';
import { creditReceipts } from './credit.js';
import { checkRedirectUrl, describeTransition, payerName } from './texts.js';
import { toText } from './numbers.js';
import { currencyOptions, feeOf, minimumUnits, payableAmount, type BaseSum } from './quote.js';
import * as store from './store.js';
import type { NewLogEntry, PageRequest, PaymentRow, Scope, StoredRecord } from './store.js';
import { viewBranding, viewLogEntry, viewPayment } from './view.js';

export interface PaymentTimes {
  /** To choose a currency, after creation. */
  readonly chooseSeconds: number;
  /** To pay, after the lock. */
  readonly paySeconds: number;
}

export interface PaymentsDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly rates: RateSource;
  readonly currencies: Currencies;
  readonly addresses: Addresses;
  readonly ledger: Ledger;
  /** The merchant of an id that a key or a payment named. */
  readonly merchant: (reader: Reader, id: string) => Promise<MerchantTable>;
  readonly times: PaymentTimes;
}

/** What a payment is created from; amounts are plain decimals in the base currency. */
export interface NewPayment {
  readonly amount: string;
  readonly baseCurrency: string;
  readonly txRef?: string | undefined;
  readonly redirectUrl?: string | undefined;
  readonly email?: string | undefined;
  readonly fullName?: string | undefined;
  readonly phoneNumber?: string | undefined;
  /** Whether a duplicate reference may name the payment that has it. */
  readonly mayNameDuplicate: boolean;
}

/** A payment as far as the receipts that pay it need to know. */
export interface PaymentToPay {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly baseCurrency: string;
  /** Whether a receipt is in the currency and on the network that the payment is to be paid in. */
  counts(receipt: { currency: string; network: string }): boolean;
  feeOn(amount: bigint): bigint;
}

export interface Payments {
  create(transaction: Transaction, scope: Scope, input: NewPayment): Promise<Payment>;
  /** With the merchant's branding. */
  retrieve(scope: Scope, id: string): Promise<Payment>;
  verify(scope: Scope, id: string): Promise<Payment>;
  events(scope: Scope, id: string): Promise<Payment['transactionTimeLog']>;
  /** Whose payment an id is, for the hosted page; undefined for an unknown one. */
  owner(id: string): Promise<Scope | undefined>;
  list(scope: Scope, page: PageRequest): Promise<{ payments: Payment[]; total: number }>;
  cancel(transaction: Transaction, scope: Scope, id: string): Promise<void>;
  setCurrency(
    transaction: Transaction,
    scope: Scope,
    id: string,
    currency: string,
    network: string,
  ): Promise<Payment>;
  lockCurrency(transaction: Transaction, scope: Scope, id: string): Promise<Payment>;
  /** Locks payments until the transaction ends, before anything else of theirs is. */
  lock(transaction: Transaction, ids: readonly string[]): Promise<Map<string, PaymentToPay>>;
  /** Brings a payment's state, log and ledger up to its facts, after these happenings. */
  reassess(transaction: Transaction, id: string, happenings?: readonly NewLogEntry[]): Promise<void>;
  /** Ends the payments whose time is over. */
  expireOverdue(signal: AbortSignal): Promise<void>;
}

/** A rate older than this does not fix a price. */
const maximumRateAgeMilliseconds = 60_000;

export function createPayments(dependencies: PaymentsDependencies): Payments {
  const { database, clock, newId, rates, currencies, addresses, ledger, merchant, times } = dependencies;

  const baseSum = (row: Pick<PaymentRow, 'base_amount' | 'base_currency'>, latest = latestRate): BaseSum => ({
    units: BigInt(row.base_amount),
    currency: currencies.known(row.base_currency),
    rate: latest(row.base_currency),
  });

  function latestRate(code: string): Rate {
    const rate = rates.latest(code);
    if (!rate) throw rateUnavailable(code);
    return rate;
  }

  function freshRate(code: string): Rate {
    const rate = latestRate(code);
    if (clock.now('live') - rate.at > maximumRateAgeMilliseconds) throw rateUnavailable(code);
    return rate;
  }

  /** What a payer may choose from: nothing while no rate of the base currency is known. */
  function optionsOf(row: PaymentRow) {
    if (row.locked_at !== null) return undefined;
    const rate = statusOf(row.state) === 'in progress' ? rates.latest(row.base_currency) : undefined;
    if (!rate) return [];
    return currencyOptions(
      baseSum(row),
      currencies.options(row.mode),
      (code) => rates.latest(code),
      row.fee_basis_points,
    );
  }

  const view = (record: StoredRecord): Payment => viewPayment(record, optionsOf(record), currencies);

  async function find(reader: Reader, scope: Scope, id: string): Promise<StoredRecord> {
    const record = await store.findRecord(reader, scope, id);
    if (!record) throw notFound('payment');
    return record;
  }

  async function lockRow(transaction: Transaction, scope: Scope, id: string): Promise<PaymentRow> {
    const row = await store.lockPayment(transaction, id);
    if (row?.merchant_id !== scope.merchantId || row.mode !== scope.mode) throw notFound('payment');
    return row;
  }

  async function reassessRow(
    transaction: Transaction,
    row: PaymentRow,
    happenings: readonly NewLogEntry[],
  ): Promise<void> {
    const now = clock.now(row.mode);
    const receipts = await store.readReceipts(transaction, row.id);
    const syncedAt = row.network === null ? undefined : await store.readSyncedAt(transaction, row.network);
    const facts = factsOf(row, receipts);
    const state = assess(facts, now, syncedAt ?? Number.NEGATIVE_INFINITY);
    const transition = describeTransition(row.state, state, sumsOf(row, facts));
    if (state !== row.state) {
      const isFirstSuccess = statusOf(state) === 'success' && row.settled_at === null;
      await store.updatePayment(transaction, row.id, {
        state,
        updated_at: now,
        ...(isFirstSuccess && { settled_at: now }),
      });
    }
    await store.appendLog(transaction, row.id, now, [...happenings, ...transition]);
    await creditReceipts(transaction, ledger, { ...row, state }, receipts, now);
  }

  function sumsOf(row: PaymentRow, facts: PaymentFacts) {
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

  return {
    owner: (id) => store.findOwner(database.reader, id),

    async create(transaction, scope, input) {
      if (currencies.networks(scope.mode).length === 0) {
        throw new Problem('chain_unavailable', `This server has no ${scope.mode} networks to be paid on`);
      }
      const currency = currencies.find(input.baseCurrency);
      if (!currency) {
        throw new Problem('unsupported_currency', `${input.baseCurrency} is not a currency of this server`, {
          param: 'baseCurrency',
        });
      }
      if (countDecimals(input.amount) > currency.payableDecimals) {
        throw invalidField(
          'amount',
          `Must have at most ${currency.payableDecimals} decimals in ${currency.code}`,
        );
      }
      latestRate(currency.code);
      const redirectUrl = checkRedirectUrl(input.redirectUrl ?? '', scope.mode);
      const { fee_basis_points: feeBasisPoints } = await merchant(transaction, scope.merchantId);
      const now = clock.now(scope.mode);
      const baseUnits = toUnits(input.amount, currency.decimals);
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
        created_at: now,
        updated_at: now,
      };
      if (!(await store.insertPayment(transaction, row))) {
        const existing = await store.findPaymentByReference(transaction, scope, row.tx_ref);
        throw new Problem('duplicate_tx_ref', `There is a payment with the txRef ${row.tx_ref}`, {
          param: 'txRef',
          ...(input.mayNameDuplicate && existing && { paymentId: existing.id }),
        });
      }
      const started = { type: 'event', event: 'Payment started' } as const;
      await store.appendLog(transaction, id, now, [started]);
      return view({ ...row, log: [{ time: now, ...started }], receipts: [], scanned_height: null });
    },

    async retrieve(scope, id) {
      const record = await find(database.reader, scope, id);
      return { ...view(record), branding: viewBranding(await merchant(database.reader, record.merchant_id)) };
    },

    verify: async (scope, id) => view(await find(database.reader, scope, id)),

    events: async (scope, id) => (await find(database.reader, scope, id)).log.map(viewLogEntry),

    async list(scope, page) {
      const { records, total } = await store.listRecords(database.reader, scope, page);
      return { payments: records.map(view), total };
    },

    async cancel(transaction, scope, id) {
      const row = await lockRow(transaction, scope, id);
      const status = statusOf(row.state);
      if (status === 'cancelled') return;
      if (status !== 'in progress') throw ended(row.state);
      const now = clock.now(row.mode);
      await store.updatePayment(transaction, id, { cancelled_at: now });
      await reassessRow(transaction, { ...row, cancelled_at: now }, []);
    },

    async setCurrency(transaction, scope, id, currencyCode, networkCode) {
      const option = currencies.option(scope.mode, currencyCode, networkCode);
      const row = await lockRow(transaction, scope, id);
      if (statusOf(row.state) !== 'in progress') throw ended(row.state);
      if (row.locked_at !== null) {
        throw new Problem(
          'currency_locked',
          'The currency is locked; create a new payment to pay with another',
        );
      }
      const { currency, network } = option;
      const amount = payableAmount(baseSum(row), currency, latestRate(currency.code));
      if (amount < minimumUnits(option)) {
        throw new Problem(
          'amount_below_minimum',
          `${currency.code} on ${network.name} takes ${option.minAmount} or more; this payment is ${toText(amount, currency)}`,
          { param: 'currency' },
        );
      }
      const now = clock.now(row.mode);
      const address = await addresses.assign(transaction, id, option, now);
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
      await store.updatePayment(transaction, id, changes);
      await store.appendLog(transaction, id, now, [
        { type: 'event', event: `Currency set to ${currency.code} on ${network.code}` },
      ]);
      return view(await find(transaction, scope, id));
    },

    async lockCurrency(transaction, scope, id) {
      const row = await lockRow(transaction, scope, id);
      if (statusOf(row.state) !== 'in progress') throw ended(row.state);
      if (row.currency === null) {
        throw new Problem('currency_not_set', 'Set a currency and a network before locking');
      }
      const currency = currencies.known(row.currency);
      const now = clock.now(row.mode);
      if (row.locked_at !== null) {
        await store.appendLog(transaction, id, now, [
          { type: 'event', event: 'Currency was locked already' },
        ]);
        return view(await find(transaction, scope, id));
      }
      if (now >= row.expires_at) throw ended('expired');
      const base = baseSum(row, freshRate);
      const rate = freshRate(row.currency);
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
      await store.updatePayment(transaction, id, changes);
      await store.appendLog(transaction, id, now, [
        {
          type: 'event',
          event: `Currency locked: ${toText(amount, currency)} ${currency.code} on ${row.network ?? ''}`,
        },
      ]);
      return view(await find(transaction, scope, id));
    },

    async lock(transaction, ids) {
      const locked = new Map<string, PaymentToPay>();
      for (const id of [...new Set(ids)].sort()) {
        const row = await store.lockPayment(transaction, id);
        if (!row) continue;
        locked.set(id, {
          id,
          merchantId: row.merchant_id,
          mode: row.mode,
          baseCurrency: row.base_currency,
          counts: (receipt) => counts(row, receipt),
          feeOn: (amount) => feeOf(amount, row.fee_basis_points),
        });
      }
      return locked;
    },

    async reassess(transaction, id, happenings = []) {
      const row = await store.lockPayment(transaction, id);
      if (row) await reassessRow(transaction, row, happenings);
    },

    async expireOverdue(signal) {
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        let ids: string[];
        do {
          ids = await store.findOverdue(database.reader, mode, clock.now(mode), 100);
          for (const id of ids) {
            if (signal.aborted) return;
            await database.write((transaction) => this.reassess(transaction, id));
          }
        } while (ids.length > 0);
      }
    },
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

function ended(state: PaymentState): Problem {
  return new Problem('invalid_state', `The payment is ${statusOf(state)}: it cannot be changed any more`);
}

function rateUnavailable(code: string): Problem {
  return new Problem('rate_unavailable', `There is no current rate for ${code}; try again shortly`, {
    retryAfterSeconds: 5,
  });
}

function storedRate({ numerator, denominator, source, at }: Rate) {
  return { dollars: `${numerator}/${denominator}`, source, at };
}
