/** Derives a payment's state from its facts: its terms, what arrived and when, and how far the chain was read. */
import {
  paymentFinding,
  statusOf,
  type PaymentFinding,
  type PaymentState,
  type Unaccepted,
} from 'crypto-checkout/contract';
import type { Fraction } from '../money/fractions.js';

/** The parts of a receipt that the state depends on. Similar receipts can be one fact, with their amounts summed. */
export interface ReceiptFact {
  readonly currency: string;
  readonly network: string;
  readonly amount: bigint;
  readonly firstSeenAt: number;
  /** False while it waits for confirmations. Dropped and reversed receipts must be left out. */
  readonly isConfirmed: boolean;
  /** The time until which a payment that the receipt reached in time waits for it; see the column of this name. */
  readonly awaitedUntil: number;
  /** The worth of one unit when first seen, in units of the base currency; null if no rate was known. */
  readonly baseRate: Fraction | null;
}

export interface PaymentFacts {
  readonly currency: string | null;
  readonly network: string | null;
  /** Null until the currency is locked. */
  readonly amount: bigint | null;
  readonly baseAmount: bigint;
  readonly expiresAt: number;
  readonly cancelledAt: number | null;
  readonly settledAt: number | null;
  /** The sum that the shop took as enough; null if it did not. */
  readonly accepted: bigint | null;
  /**
   * The part of the counted coins that was returned, or is about to be, before they were a success. Coins that a
   * success returns later do not undo it.
   */
  readonly returned: bigint;
  readonly receipts: readonly ReceiptFact[];
}

export function countsTowards(
  payment: Pick<PaymentFacts, 'currency' | 'network'>,
  receipt: { currency: string; network: string },
) {
  return receipt.currency === payment.currency && receipt.network === payment.network;
}

/** The sums of the receipts that count, without refunds: of the confirmed ones, and of all. */
export function totals(payment: PaymentFacts) {
  const counting = countingReceipts(payment);
  return { confirmed: sum(counting.filter((receipt) => receipt.isConfirmed)), seen: sum(counting) };
}

/**
 * The receipts in the locked currency on the locked network, less the refunded part of the confirmed ones. It is taken
 * from receipts in time before late ones, and among each of them from those with the highest rate first, so that the
 * rest is never worth more than the kept part.
 */
function countingReceipts(payment: PaymentFacts): readonly ReceiptFact[] {
  const counting = payment.receipts.filter((receipt) => countsTowards(payment, receipt));
  let left = payment.returned;
  if (left === 0n) return counting;
  const deadline = deadlineOf(payment);
  const isLate = ({ firstSeenAt }: ReceiptFact) => (firstSeenAt > deadline ? 1 : 0);
  const inOrder = [...counting].sort((a, b) => isLate(a) - isLate(b) || compareWorth(b, a));
  return inOrder.map((receipt) => {
    const { amount, isConfirmed } = receipt;
    const taken = !isConfirmed ? 0n : amount < left ? amount : left;
    left -= taken;
    return { ...receipt, amount: amount - taken };
  });
}

/** Compares the worth of one unit. Negative if the first is worth less. */
function compareWorth(one: ReceiptFact, other: ReceiptFact): number {
  const [a, b] = [one.baseRate ?? nothing, other.baseRate ?? nothing];
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  return left < right ? -1 : left > right ? 1 : 0;
}

const nothing: Fraction = { numerator: 0n, denominator: 1n };

/** Receipts that were first seen later than this are late. */
export function deadlineOf({ expiresAt, cancelledAt }: Pick<PaymentFacts, 'expiresAt' | 'cancelledAt'>) {
  return cancelledAt === null ? expiresAt : Math.min(expiresAt, cancelledAt);
}

/** True if the state may depend on the value of the receipts: only if they cover the amount, but came late. */
export function dependsOnWorth(payment: PaymentFacts, now: number): boolean {
  if (payment.amount === null || payment.cancelledAt !== null || now < payment.expiresAt) return false;
  const inTime = payment.receipts.filter((receipt) => receipt.firstSeenAt <= payment.expiresAt);
  return (
    totals(payment).confirmed >= payment.amount &&
    totals({ ...payment, receipts: inTime }).confirmed < payment.amount
  );
}

/**
 * @param now time of the merchant's clock
 * @param readUntil time of the merchant's clock up to which every block of the payment's network has been read. A later deadline
 *   has not passed yet, because a payment made in time may still turn up.
 */
export function assess(payment: PaymentFacts, now: number, readUntil: number): PaymentState {
  if (payment.amount === null) {
    if (payment.cancelledAt !== null) return 'cancelled';
    if (now >= payment.expiresAt) return 'expired';
    return payment.currency === null ? 'created' : 'currency_set';
  }
  const { amount, expiresAt, cancelledAt } = payment;
  const deadline = deadlineOf(payment);
  const counting = countingReceipts(payment);
  const inTime = counting.filter((receipt) => receipt.firstSeenAt <= deadline);
  const confirmed = counting.filter((receipt) => receipt.isConfirmed);

  if (sum(inTime.filter((receipt) => receipt.isConfirmed)) >= amount) {
    return sum(confirmed) > amount ? 'settled_over' : 'settled';
  }
  if (payment.accepted !== null && sum(confirmed) >= payment.accepted) {
    return sum(confirmed) > amount ? 'settled_over' : 'settled';
  }
  if (cancelledAt !== null) return payment.receipts.length > 0 ? 'cancelled_paid' : 'cancelled';

  const isOver = now >= expiresAt && readUntil >= expiresAt;
  const isAwaited = inTime.some(({ isConfirmed, awaitedUntil }) => !isConfirmed && awaitedUntil > readUntil);
  if (isOver && !isAwaited) {
    if (sum(confirmed) >= amount && isWorth(confirmed, payment.baseAmount)) return 'settled_late';
    if (payment.settledAt !== null) return 'reversed';
    if (confirmed.some((receipt) => receipt.firstSeenAt > deadline)) return 'expired_late';
    if (confirmed.length > 0) return 'expired_partial';
    return payment.receipts.some((receipt) => !countsTowards(payment, receipt)) ? 'invalid' : 'expired';
  }
  if (payment.settledAt !== null) return 'reversed';
  const seen = sum(counting);
  if (seen >= amount) return 'confirming';
  return seen > 0n ? 'partially_paid' : 'awaiting_funds';
}

/** True if a payment is a success only because the shop took less than was due. See `assess` for the parameters. */
export function isTakenShort(payment: PaymentFacts, now: number, readUntil: number): boolean {
  if (payment.accepted === null) return false;
  const isPaid = (facts: PaymentFacts) => statusOf(assess(facts, now, readUntil)) === 'success';
  return isPaid(payment) && !isPaid({ ...payment, accepted: null });
}

/** Receipts of one asset, of which nothing pays the payment, with their sum. */
export interface AssetSum extends Pick<ReceiptFact, 'currency' | 'network' | 'amount'> {
  readonly reason: Unaccepted['reason'];
}

/** The confirmed sums that pay nothing of a payment, by asset. */
export function unacceptedSums(payment: PaymentFacts, state: PaymentState): readonly AssetSum[] {
  const sums = new Map<string, AssetSum>();
  for (const receipt of payment.receipts) {
    const reason = receipt.isConfirmed ? unacceptedReason(payment, state, receipt) : undefined;
    if (reason === undefined) continue;
    const { currency, network } = receipt;
    const amount = receipt.amount + (sums.get(`${currency} ${network}`)?.amount ?? 0n);
    sums.set(`${currency} ${network}`, { currency, network, amount, reason });
  }
  return [...sums.values()];
}

/** Why a receipt pays nothing of a payment in a state; undefined if it does, or may still do so. */
export function unacceptedReason(
  payment: Pick<PaymentFacts, 'currency' | 'network' | 'expiresAt' | 'cancelledAt'>,
  state: PaymentState,
  receipt: Pick<ReceiptFact, 'currency' | 'network' | 'firstSeenAt'>,
): Unaccepted['reason'] | undefined {
  if (receipt.currency !== payment.currency) return 'wrong_coin';
  if (receipt.network !== payment.network) return 'wrong_network';
  const status = statusOf(state);
  const hasFailed = status === 'error' || status === 'cancelled';
  return hasFailed && receipt.firstSeenAt > deadlineOf(payment) ? 'late' : undefined;
}

/**
 * The findings about a payment's money in addition to its state, in the order of the contract.
 * @param isDust true if a sum of an asset is too small for anyone to look at
 */
export function findingsOf(
  payment: PaymentFacts,
  state: PaymentState,
  isDust: (sum: Pick<ReceiptFact, 'currency' | 'network' | 'amount'>) => boolean,
): PaymentFinding[] {
  const { amount, currency, network } = payment;
  const status = statusOf(state);
  const confirmed = countingReceipts(payment).filter((receipt) => receipt.isConfirmed);
  const received = sum(confirmed);
  const late = sum(confirmed.filter((receipt) => receipt.firstSeenAt > deadlineOf(payment)));
  const isSome = (units: bigint) =>
    units > 0n && !isDust({ currency: currency ?? '', network: network ?? '', amount: units });
  const others = unacceptedSums(payment, state).filter((one) => !isDust(one));
  const found: Readonly<Record<PaymentFinding, boolean>> = {
    late: status !== 'in progress' && isSome(late),
    over: amount !== null && status === 'success' && received > amount,
    short:
      amount !== null &&
      status !== 'in progress' &&
      !(status === 'success' && payment.accepted !== null) &&
      received < amount &&
      isSome(received),
    wrong_coin: others.some(({ reason }) => reason === 'wrong_coin'),
    wrong_network: others.some(({ reason }) => reason === 'wrong_network'),
  };
  return paymentFinding.options.filter((finding) => found[finding]);
}

function sum(receipts: readonly ReceiptFact[]): bigint {
  return receipts.reduce((all, receipt) => all + receipt.amount, 0n);
}

/**
 * True if receipts are together worth at least an amount in the base currency. The sum is exact: rounded one by one,
 * two halves of a full payment could be worth less than the whole.
 */
function isWorth(receipts: readonly ReceiptFact[], baseAmount: bigint): boolean {
  // Most receipts share a denominator, and sums with the same denominator stay small.
  const numerators = new Map<bigint, bigint>();
  for (const { amount, baseRate } of receipts) {
    if (!baseRate) continue;
    const { numerator, denominator } = baseRate;
    numerators.set(denominator, (numerators.get(denominator) ?? 0n) + amount * numerator);
  }
  let worth: Fraction = { numerator: 0n, denominator: 1n };
  for (const [denominator, numerator] of numerators) {
    worth = {
      numerator: worth.numerator * denominator + numerator * worth.denominator,
      denominator: worth.denominator * denominator,
    };
  }
  return worth.numerator >= baseAmount * worth.denominator;
}
