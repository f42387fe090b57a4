/** Starts payments: checks the request, and stores the payment with its first log entry. */
import { sealed, sealedJson } from '../db/personal-data.js';
import { tables } from '../db/schema.js';
import type { PaymentRecord } from 'crypto-checkout/contract';
import type { Transaction } from '../db/engine.js';
import { parseAmount, requireCurrency } from '../money/amounts.js';
import { formatUnits } from '../money/units.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { Actor } from '../shared/scope.js';
import { accepts, type PaymentReader } from './payment-reader.js';
import type { PaymentsDeps } from './payments-deps.js';
import { minimumOfAll } from './quote.js';
import * as store from './store.js';
import type { PaymentRow } from './store.js';
import { checkRedirect } from './validate.js';

/** The input for a new payment. */
export interface NewPayment {
  /** Its id, if the caller has stored something under it; a new one by default. */
  readonly id?: string | undefined;
  /** In the smallest units of the base currency, from an amount that `parseAmount` accepts. */
  readonly baseUnits: bigint;
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
  /**
   * The time that made the caller create it, in epoch milliseconds of its mode: this server may not have heard yet that the test
   * clock was moved, and would create a payment that has expired. The server's own by default.
   */
  readonly now?: number | undefined;
  /** True if an amount that is too small for every currency is an error. A subscription's is created anyway. */
  readonly refusesUnpayable?: true;
}

export function createStartPayment(deps: PaymentsDeps, reader: PaymentReader) {
  const { clock, newId, rates, currencies, addresses, merchant, customers, times, personalData } = deps;

  /** Refuses while no network could give a payment an address. Problem: `chain_unavailable`. */
  function checkNetworks(actor: Actor): void {
    if (currencies.networks(actor.mode).some((network) => addresses.canAssign(actor, network))) return;
    throw new Problem(
      'chain_unavailable',
      `There is no network with a deposit key in ${actor.mode} mode, so no payment can be created`,
    );
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

  /**
   * The base amount of a request for a new payment. It checks for a network first, as `create` does.
   * Problems: `chain_unavailable`, `unsupported_currency`, `validation_error`.
   * @param amount a plain decimal in the base currency
   */
  function parseBase(
    actor: Actor,
    amount: string,
    baseCurrency: string,
  ): Pick<NewPayment, 'baseUnits' | 'baseCurrency'> {
    checkNetworks(actor);
    const currency = requireCurrency(currencies, baseCurrency, 'baseCurrency');
    return { baseUnits: parseAmount(amount, currency, 'amount'), baseCurrency: currency.code };
  }

  /**
   * Problems: `chain_unavailable`, `validation_error`, `unsupported_currency`, `rate_unavailable`,
   * `duplicate_tx_ref`, `customer_not_allowed`.
   */
  async function create(transaction: Transaction, actor: Actor, input: NewPayment): Promise<PaymentRecord> {
    checkNetworks(actor);
    const currency = requireCurrency(currencies, input.baseCurrency, 'baseCurrency');
    reader.latestRate(currency.code);
    if (input.metadata !== undefined && actor.kind !== 'secret') {
      throw invalidField('metadata', 'Can only be set with a secret key');
    }
    const { fee_basis_points: feeBasisPoints, redirect_origins: origins } = await merchant(
      transaction,
      actor.merchantId,
    );
    const redirect = checkRedirect(
      input.redirectUrl ?? '',
      actor,
      tables.merchants.columns.redirect_origins.read(origins),
    );
    const now = Math.max(clock.now(actor), input.now ?? 0);
    const { id = newId() } = input;
    const row: PaymentRow = {
      merchant_id: actor.merchantId,
      mode: actor.mode,
      state: 'created',
      created_by: actor.kind,
      tx_ref: input.txRef ?? `tx_${id}`,
      ...personalData.sealRow(sealed.payments, {
        id,
        redirect_url: redirect.url,
        metadata: input.metadata ? sealedJson.paymentMetadata.write(input.metadata) : null,
      }),
      is_redirect_trusted: redirect.isTrusted,
      base_currency: currency.code,
      base_amount: input.baseUnits,
      fee_basis_points: feeBasisPoints,
      accepted_currencies:
        input.acceptedCurrencies ?? (await currenciesOfReplaced(transaction, actor, input.txRef)),
      ...personalData.payerColumns(
        { id, merchant_id: actor.merchantId },
        {
          description: `Payment from ${input.fullName || input.email || 'anonymous'}`,
          email: input.email || undefined,
          fullName: input.fullName || undefined,
          phoneNumber: input.phoneNumber || undefined,
        },
      ),
      ...store.unlocked,
      expires_at: now + times.chooseSeconds * 1000,
      wallet_id: null,
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
    const fields = await deps.onCreate(transaction, row);
    return reader.viewWritten(transaction, actor.kind, {
      ...row,
      ...store.noParts,
      fields,
      log,
      log_count: log.length,
    });
  }

  return { parseBase, create };
}

/**
 * The currencies that a payment in place of another one accepts: a page's `order-42:2` accepts the coins of the
 * server's `order-42`. Payers could otherwise pay in a coin that the merchant does not accept.
 */
async function currenciesOfReplaced(
  transaction: Transaction,
  actor: Actor,
  txRef: string | undefined,
): Promise<readonly string[] | null> {
  const [, replaced] = /^(.+):\d+$/.exec(txRef ?? '') ?? [];
  if (replaced === undefined || actor.kind === 'secret') return null;
  const payment = await store.findPaymentByReference(transaction, actor, replaced, 'secret');
  return payment?.accepted_currencies ?? null;
}
