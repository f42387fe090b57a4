/** The four checks a merchant's server makes before it gives value for a payment. */
import type { Payment } from '../contract/checkout.js';
import { countDecimals, parseDecimal, toUnits } from '../contract/decimal.js';

/** What the merchant's own records say about the order, never what a browser said. */
export interface ExpectedPayment {
  /** The order's reference, as the payment was created with. Those of further attempts are its own too: see below. */
  readonly txRef: string;
  /** The only paying currency to accept; any of the payment's when absent. */
  readonly currency?: string | undefined;
  /** The amount and currency the payment was created with. */
  readonly baseAmount: number | string;
  readonly baseCurrency: string;
  /** Accept `txRef` alone, and no further attempt's. */
  readonly isExactReference?: boolean | undefined;
}

/** The rules in their order: whose payment, how it ended, what was asked for, what was paid. */
export const verificationRules = ['reference', 'status', 'price', 'amount'] as const;
export type VerificationRule = (typeof verificationRules)[number];

export interface FailedRule {
  readonly rule: VerificationRule;
  /** One sentence for a developer or a log. It names references and amounts, but no person. */
  readonly message: string;
}

export interface Verification {
  /** True when every rule holds: the order may be delivered. */
  readonly verified: boolean;
  /** The rules that do not hold, in their order. */
  readonly failed: readonly FailedRule[];
  /** True when more arrived than was asked for; the excess is credited to the merchant. */
  readonly isOverpaid: boolean;
}

/**
 * Compares a transaction, fetched with the secret key, with what the merchant expects:
 *
 * 1. `reference`: its `txRef` is the order's.
 * 2. `status`: it is a success.
 * 3. `price`: `baseAmount`, `baseCurrency` and, if expected, the paying `currency` are the ones sent; codes
 *    whatever their case.
 * 4. `amount`: `amountReceived` covers `amount`, the price of `baseAmount` when the currency was locked, and
 *    so the value to be given. Where both are in one currency it must cover `baseAmount` too.
 *
 * A reference is good for one payment only, for ever. So when a payer starts anew after a payment that expired, the
 * checkout puts a count behind the order's reference: `order-42`, then `order-42:2`, `order-42:3`. These are taken for
 * `order-42`; nothing else is. A shop whose own references end like that, one order being `42` and another
 * `42:2`, sets `isExactReference`.
 *
 * More than `amount` passes: an overpaid payment is a success whose excess is credited to the merchant, and
 * is told by `isOverpaid`. Less never passes. Amounts are compared as exact decimals.
 *
 * A verified transaction stays verified, and an order can be paid twice: record in the same database transaction
 * that the order was delivered, and by which payment, so that a second call does not deliver it again.
 *
 * @throws RangeError when the expectation itself is incomplete, since nothing could be verified by it
 */
export function verifyPayment(transaction: Payment, expected: ExpectedPayment): Verification {
  const baseAmount = parseDecimal(expected.baseAmount);
  if (!expected.txRef || !expected.baseCurrency || baseAmount === undefined || baseAmount === '0') {
    throw new RangeError('verifyPayment needs the txRef, baseCurrency and baseAmount (above 0) of the order');
  }
  const amount = decimal(transaction.amount);
  const received = decimal(transaction.amountReceived);
  const problems: Record<VerificationRule, string | undefined> = {
    reference: referenceProblem(transaction, expected),
    status: transaction.status === 'success' ? undefined : `The status is "${transaction.status}".`,
    price: priceProblem(transaction, expected, baseAmount),
    amount: amountProblem(
      transaction,
      isSameCode(transaction.currency, expected.baseCurrency) ? baseAmount : '0',
    ),
  };
  const failed = verificationRules.flatMap((rule) => {
    const message = problems[rule];
    return message === undefined ? [] : [{ rule, message }];
  });
  return {
    verified: failed.length === 0,
    failed,
    isOverpaid: amount !== '0' && compare(received, amount) > 0,
  };
}

function referenceProblem({ txRef }: Payment, expected: ExpectedPayment): string | undefined {
  const isOwn = txRef?.startsWith(expected.txRef);
  const rest = txRef?.slice(expected.txRef.length) ?? '';
  const isAttempt = !expected.isExactReference && /^:([2-9]|[1-9]\d+)$/.test(rest);
  if (isOwn && (rest === '' || isAttempt)) return undefined;
  return `The reference is "${txRef ?? ''}", not "${expected.txRef}".`;
}

function priceProblem(actual: Payment, expected: ExpectedPayment, baseAmount: string): string | undefined {
  const { baseCurrency, currency = 'no currency' } = actual;
  const isPrice =
    parseDecimal(actual.baseAmount) === baseAmount && isSameCode(baseCurrency, expected.baseCurrency);
  if (!isPrice) {
    return `The price is ${actual.baseAmount} ${baseCurrency}, not ${baseAmount} ${expected.baseCurrency}.`;
  }
  const isPaying = expected.currency === undefined || isSameCode(currency, expected.currency);
  return isPaying ? undefined : `It is paid in ${currency}, not in ${expected.currency}.`;
}

/** @param least what must have arrived whatever the payment says of itself, in the paying currency */
function amountProblem(actual: Payment, least: string): string | undefined {
  const [amount, received] = [decimal(actual.amount), decimal(actual.amountReceived)];
  if (amount === '0') return 'No amount has been set yet.';
  const due = compare(amount, least) < 0 ? least : amount;
  return compare(received, due) < 0
    ? `${received} ${actual.currency ?? ''} of ${due} was received.`
    : undefined;
}

function isSameCode(code: string | undefined, expected: string): boolean {
  return code?.toUpperCase() === expected.toUpperCase();
}

/** 0 for what is absent or no amount, so that it covers nothing. */
function decimal(value: number | undefined): string {
  return parseDecimal(value ?? 0) ?? '0';
}

/** Below, at or above 0 as `a` is less than, equal to or more than `b`. */
function compare(a: string, b: string): number {
  const decimals = Math.max(countDecimals(a), countDecimals(b));
  const [unitsOfA, unitsOfB] = [toUnits(a, decimals), toUnits(b, decimals)];
  return unitsOfA < unitsOfB ? -1 : unitsOfA > unitsOfB ? 1 : 0;
}
