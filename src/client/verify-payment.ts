/** The five checks that a merchant's server makes before it delivers an order. */
import type { Payment } from '../contract/checkout.js';
import { countDecimals, parseDecimal } from '../contract/decimal.js';
import { fromUnits, toUnits } from '../contract/units.js';

/** The order, from the merchant's own records. Never take it from a browser. */
export interface ExpectedPayment {
  /** The order's reference. References of further attempts are accepted too: see `verifyPayment`. */
  readonly txRef: string;
  /** The only paying currency to accept; any currency if absent. */
  readonly currency?: string | undefined;
  /** The order's price, in `baseCurrency`. */
  readonly baseAmount: number | string;
  readonly baseCurrency: string;
  /** Accept test payments, whose money is not real. Set it to "test" in a test environment only; live by default. */
  readonly mode?: 'test' | 'live' | undefined;
  /** Accept only `txRef` itself, not the references of further attempts. */
  readonly isExactReference?: boolean | undefined;
}

/** In the order in which they are checked. */
export const verificationRules = ['reference', 'mode', 'status', 'price', 'amount'] as const;
export type VerificationRule = (typeof verificationRules)[number];

/** The widget does not read these; servers send them with every payment that has refunds, or that was taken short. */
type ReceivedPayment = Payment & {
  readonly refundedAmount?: number | undefined;
  readonly accepted?: { readonly amount: number } | undefined;
};

export interface FailedRule {
  readonly rule: VerificationRule;
  /** For a developer or a log. It contains references and amounts, but no personal data. */
  readonly message: string;
}

export interface Verification {
  /** True if all rules pass: the order can be delivered. */
  readonly verified: boolean;
  /** The rules that failed, in the order of `verificationRules`. */
  readonly failed: readonly FailedRule[];
  /** True if more arrived than was due. The excess is credited to the merchant. */
  readonly isOverpaid: boolean;
}

/**
 * Checks a transaction, fetched with the secret key, against the merchant's order:
 *
 * 1. `reference`: `txRef` is the order's reference.
 * 2. `mode`: it is a live payment, or you expect `mode: "test"`. Anybody can make a test payment succeed.
 * 3. `status`: the status is `success`.
 * 4. `price`: `baseAmount`, `baseCurrency` and, if given, the paying `currency` match. Case does not matter in codes.
 * 5. `amount`: what arrived, less `refundedAmount`, covers `amount`, which is `baseAmount` converted when the currency was locked.
 *    If the payment is in the base currency, it must cover `baseAmount` too. `amountReceived` must cover it as well: it does not have
 *    what refunds have taken, or hold.
 *
 * A reference can be used for one payment only. If a payer starts over, for example after a payment expired, the
 * checkout appends a counter: `order-42`, then `order-42:2`, `order-42:3`. All of these count as `order-42`; nothing
 * else does. If your own references end like that (one order is `42` and another is `42:2`), set `isExactReference`.
 *
 * If your shop took less as paid (`accepted`), that sum is due instead of `amount` and `baseAmount`.
 *
 * Paying more than `amount` passes: the excess is credited to the merchant, and `isOverpaid` is true until it is refunded. Paying
 * less passes only then. Amounts are compared as exact decimals.
 *
 * A verified transaction stays verified, and an order can be paid twice. So record the delivery and its payment in one
 * database transaction, and do not deliver an order that is already recorded.
 *
 * @throws RangeError if `expected` is incomplete
 */
export function verifyPayment(transaction: ReceivedPayment, expected: ExpectedPayment): Verification {
  const baseAmount = parseDecimal(expected.baseAmount);
  if (!expected.txRef || !expected.baseCurrency || baseAmount === undefined || baseAmount === '0') {
    throw new RangeError('verifyPayment needs the txRef, baseCurrency and baseAmount (above 0) of the order');
  }
  const amount = decimal(transaction.amount);
  const received = receivedOf(transaction);
  const problems: Record<VerificationRule, string | undefined> = {
    reference: referenceProblem(transaction, expected),
    mode: modeProblem(transaction, expected),
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
  const isPrefixed = txRef?.startsWith(expected.txRef);
  const suffix = txRef?.slice(expected.txRef.length) ?? '';
  const isAttempt = !expected.isExactReference && /^:([2-9]|[1-9]\d+)$/.test(suffix);
  if (isPrefixed && (suffix === '' || isAttempt)) return undefined;
  return `The reference is "${txRef ?? ''}", not "${expected.txRef}".`;
}

function modeProblem({ mode }: Payment, expected: ExpectedPayment): string | undefined {
  if (mode === 'live' || expected.mode === 'test') return undefined;
  return `The mode is "${mode ?? 'unknown'}", not "live". To accept test payments, expect mode: "test".`;
}

function priceProblem(actual: Payment, expected: ExpectedPayment, baseAmount: string): string | undefined {
  const { baseCurrency, currency = 'no currency' } = actual;
  const isPrice =
    parseDecimal(actual.baseAmount) === baseAmount && isSameCode(baseCurrency, expected.baseCurrency);
  const isAccepted = expected.currency === undefined || isSameCode(currency, expected.currency);
  const problems = [
    ...(isPrice
      ? []
      : [`The price is ${actual.baseAmount} ${baseCurrency}, not ${baseAmount} ${expected.baseCurrency}.`]),
    ...(isAccepted ? [] : [`The paying currency is ${currency}, not ${expected.currency}.`]),
  ];
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** @param minimum the minimum that must have arrived, in the paying currency, regardless of the payment's own amount */
function amountProblem(actual: ReceivedPayment, minimum: string): string | undefined {
  const [amount, received] = [decimal(actual.amount), receivedOf(actual)];
  if (amount === '0') return 'No amount has been set yet.';
  const taken = actual.accepted && decimal(actual.accepted.amount);
  const due = taken !== undefined && taken !== '0' ? taken : compare(amount, minimum) < 0 ? minimum : amount;
  return compare(received, due) < 0
    ? `${received} ${actual.currency ?? ''} of ${due} was received.`
    : undefined;
}

/** Amount received and not refunded, in the paying currency. */
function receivedOf(actual: ReceivedPayment): string {
  const { amountReceived, refundedAmount = 0, receipts, unlistedReceipts = [] } = actual;
  const received = decimal(amountReceived);
  const refunded = decimal(refundedAmount);
  // `amountReceived` excludes refunds. That can be checked only if all transfers are listed.
  if (refunded === '0' || unlistedReceipts.length > 0) return received;
  const arrived = receipts
    ? receipts
        .filter(({ counts, status }) => counts && status === 'confirmed')
        .reduce((sum, { amount }) => add(sum, decimal(amount)), '0')
    : received;
  const left = compare(arrived, refunded) < 0 ? '0' : add(arrived, refunded, -1n);
  return compare(left, received) < 0 ? left : received;
}

function add(a: string, b: string, sign: 1n | -1n = 1n): string {
  const decimals = Math.max(countDecimals(a), countDecimals(b));
  return fromUnits(toUnits(a, decimals) + sign * toUnits(b, decimals), decimals);
}

function isSameCode(code: string | undefined, expected: string): boolean {
  return code?.toUpperCase() === expected.toUpperCase();
}

/** "0" for a missing or invalid amount, so that it covers nothing. */
function decimal(value: number | undefined): string {
  return parseDecimal(value ?? 0) ?? '0';
}

/** Negative if `a` is less than `b`, 0 if they are equal, positive if it is more. */
function compare(a: string, b: string): number {
  const decimals = Math.max(countDecimals(a), countDecimals(b));
  const [unitsOfA, unitsOfB] = [toUnits(a, decimals), toUnits(b, decimals)];
  return unitsOfA < unitsOfB ? -1 : unitsOfA > unitsOfB ? 1 : 0;
}
