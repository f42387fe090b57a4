/** The four checks a merchant's server makes before it gives value for a payment. */
import type { Payment } from '../contract/checkout.js';
import { countDecimals, parseDecimal, toUnits } from '../contract/decimal.js';

/** What the merchant's own records say about the order, never what a browser said. */
export interface ExpectedPayment {
  /** The reference the payment was created with. */
  readonly txRef: string;
  /** The only paying currency to accept; any of the payment's when absent. */
  readonly currency?: string;
  /** The amount and currency the payment was created with. */
  readonly baseAmount: number | string;
  readonly baseCurrency: string;
}

export type FailedCheck = 'reference' | 'status' | 'currency' | 'amount';

export interface Verification {
  /** True when every check passed: the order may be delivered. */
  readonly verified: boolean;
  /** The checks that did not pass, in the order of the rules. */
  readonly failed: readonly FailedCheck[];
  /** True when more arrived than was asked for; the excess is credited to the merchant. */
  readonly isOverpaid: boolean;
}

/**
 * Compares a transaction, fetched with the secret key, with what the merchant expects:
 *
 * 1. `reference`: its `txRef` is the order's.
 * 2. `status`: it is a success.
 * 3. `currency`: `baseCurrency` and, if expected, the paying `currency` are the ones sent, whatever their
 *    case; `amount`: `baseAmount` equals the one sent.
 * 4. `amount`: `amountReceived` covers `amount`, the price of `baseAmount` when the currency was locked, and
 *    so the value to be given. Where both are in one currency it must cover `baseAmount` too.
 *
 * More than `amount` passes: an overpaid payment is a success whose excess is credited to the merchant, and
 * is told by `isOverpaid`. Less never passes. Amounts are compared as exact decimals.
 *
 * A verified transaction stays verified: record in the same database transaction that the order was
 * delivered, so that a second call does not deliver it twice.
 *
 * @throws RangeError when the expectation itself is incomplete, since nothing could be verified by it
 */
export function verifyPayment(transaction: Payment, expected: ExpectedPayment): Verification {
  const baseAmount = parseDecimal(expected.baseAmount);
  if (!expected.txRef || !expected.baseCurrency || baseAmount === undefined || baseAmount === '0') {
    throw new RangeError('verifyPayment needs the txRef, baseCurrency and baseAmount (above 0) of the order');
  }
  const amount = parseDecimal(transaction.amount ?? 0) ?? '0';
  const received = parseDecimal(transaction.amountReceived ?? 0) ?? '0';
  const paidInBaseCurrency = isSameCode(transaction.currency, expected.baseCurrency);

  const passed: Record<FailedCheck, boolean> = {
    reference: transaction.txRef === expected.txRef,
    status: transaction.status === 'success',
    currency:
      isSameCode(transaction.baseCurrency, expected.baseCurrency) &&
      (expected.currency === undefined || isSameCode(transaction.currency, expected.currency)),
    amount:
      parseDecimal(transaction.baseAmount) === baseAmount &&
      amount !== '0' &&
      compare(received, amount) >= 0 &&
      (!paidInBaseCurrency || compare(received, baseAmount) >= 0),
  };
  const failed = (['reference', 'status', 'currency', 'amount'] as const).filter((check) => !passed[check]);
  return {
    verified: failed.length === 0,
    failed,
    isOverpaid: amount !== '0' && compare(received, amount) > 0,
  };
}

function isSameCode(code: string | undefined, expected: string): boolean {
  return code?.toUpperCase() === expected.toUpperCase();
}

/** Below, at or above 0 as `a` is less than, equal to or more than `b`. */
function compare(a: string, b: string): number {
  const decimals = Math.max(countDecimals(a), countDecimals(b));
  const [unitsOfA, unitsOfB] = [toUnits(a, decimals), toUnits(b, decimals)];
  return unitsOfA < unitsOfB ? -1 : unitsOfA > unitsOfB ? 1 : 0;
}
