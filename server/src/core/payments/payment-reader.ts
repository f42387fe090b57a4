/** Reads payments: finds them for a merchant, prices them at the latest rates and renders them for the API. */
import { statusOf, type CurrencyOption, type PaymentRecord } from 'crypto-checkout/contract';
import type { PaymentOption } from '../money/currencies.js';
import { notFound, orNotFound } from '../shared/problem.js';
import { requireRate, type Rate } from '../money/rates.js';
import type { PaymentsDeps } from './payments-deps.js';
import { publicView } from './public-view.js';
import { currencyOptions, type BaseSum } from './quote.js';
import * as store from './store.js';
import type { PaymentRow, StoredRecord } from './store.js';
import { viewPayment } from './view.js';
import { remember } from '../shared/remember.js';
import { scopeOf, type Caller, type Scope } from '../shared/scope.js';
import type { Reader, Transaction } from '../db/engine.js';
import { sealed } from '../db/personal-data.js';

/** The number of payments whose public view a server caches. */
const mostKept = 400;

export type PaymentReader = ReturnType<typeof createPaymentReader>;

/** @param isOffered true if a payer can pay the merchant in this way now */
export function createPaymentReader(
  { clock, rates, currencies, depths, pageUrls, personalData }: PaymentsDeps,
  isOffered: (scope: Scope, option: PaymentOption) => boolean,
) {
  const records = store.createRecords();

  /** A payment's base amount, with its currency's rate. */
  const baseSum = (
    row: Pick<PaymentRow, 'base_amount' | 'base_currency'>,
    rateOf: (currency: string) => Rate,
  ): BaseSum => ({
    units: row.base_amount,
    currency: currencies.known(row.base_currency),
    rate: rateOf(row.base_currency),
  });

  /** Problem: `rate_unavailable`. */
  const latestRate = (code: string) => requireRate(rates, code);
  /** A rate that is recent enough to lock a price. Problem: `rate_unavailable`. */
  const freshRate = (code: string) => requireRate(rates, code, clock.real());

  /** The options to choose from: undefined after the lock, and empty while the base currency has no rate. */
  function optionsOf(row: PaymentRow): CurrencyOption[] | undefined {
    if (row.locked_at !== null) return undefined;
    const rate = statusOf(row.state) === 'in progress' ? rates.latest(row.base_currency) : undefined;
    if (!rate) return [];
    return currencyOptions(
      baseSum(row, () => rate),
      currencies
        .options(row.mode)
        .filter((option) => accepts(row, option.currency.code) && isOffered(scopeOf(row), option)),
      (code) => rates.latest(code),
      depths,
      row.fee_basis_points,
    );
  }

  /** @param kind a public key gets less: see `publicView` */
  function view(kind: Caller['kind'], record: StoredRecord): PaymentRecord {
    const payer = personalData.payer(record);
    const opened = personalData.openRow(sealed.payments, record);
    const payment = viewPayment(opened, payer, optionsOf(record), currencies, pageUrls);
    return kind === 'public' ? publicView(payment, record.wallet_id !== null) : payment;
  }

  /**
   * The views of payments for public keys, kept until the payments change: anyone can ask for them as often as the
   * limits allow.
   */
  const kept = new Map<string, { readonly mark: string; readonly payment: PaymentRecord }>();

  return {
    latestRate,
    freshRate,
    baseSum,
    view,

    /**
     * The `view` for a public key, cached: it is the same object until the payment changes. Only for payments that were
     * read outside of transactions: data read inside one may never be committed. A payer's options follow the rates,
     * and are never kept.
     */
    publicView(record: StoredRecord): PaymentRecord {
      const isChoosing = record.locked_at === null && statusOf(record.state) === 'in progress';
      const mark = isChoosing ? undefined : store.markOf(record);
      if (mark === undefined) return view('public', record);
      const cached = kept.get(record.id);
      const payment = cached?.mark === mark ? cached.payment : view('public', record);
      if (payment !== cached?.payment) remember(kept, record.id, { mark, payment }, mostKept);
      return payment;
    },

    /** The `view` of a payment after the change that the running transaction writes. */
    viewWritten(transaction: Transaction, kind: Caller['kind'], record: StoredRecord): PaymentRecord {
      records.keepWritten(transaction, record);
      return view(kind, record);
    },

    /** A payment of any merchant and mode; undefined if the id is unknown. */
    findAnywhere: (reader: Reader, id: string) => records.find(reader, undefined, id),

    /** Problem: `not_found`. */
    async find(reader: Reader, scope: Scope, id: string): Promise<StoredRecord> {
      return orNotFound(await records.find(reader, scope, id), 'payment');
    },

    /** Locks a payment until the transaction ends. Problem: `not_found`. */
    async lock(transaction: Transaction, scope: Scope, id: string): Promise<StoredRecord> {
      const record = await records.lock(transaction, id);
      if (record?.merchant_id !== scope.merchantId || record.mode !== scope.mode) throw notFound('payment');
      return record;
    },
  };
}

/** True if the payment can be paid with a currency. */
export function accepts(row: Pick<PaymentRow, 'accepted_currencies'>, currency: string): boolean {
  return row.accepted_currencies?.includes(currency) ?? true;
}
