/** The amounts that a refund gives back. Pure; all amounts are units of one coin of a payment. */
import { hasTaken } from '../../core/payments/has-taken.js';
import type { Fraction } from '../../core/money/fractions.js';
import { isLive } from './states.js';
import type { RefundRow } from './tables.js';

/** The coins of a payment in one currency on one network. */
export interface Refundable {
  /** The sum that the merchant was credited with, before the service fee. */
  readonly credited: bigint;
  readonly fee: bigint;
  /** The part of it above the price, or 0. */
  readonly excess: bigint;
  /** The part that refunds that have not ended use up, the fee on that, and the part of it that is an excess. */
  readonly used: bigint;
  readonly usedFee: bigint;
  readonly usedExcess: bigint;
}

/** The coins that a refund uses up, and the service fee on them. */
export interface Share {
  readonly used: bigint;
  readonly fee: bigint;
}

/** The sums of a payment's refunds of a coin that have not ended. */
export function liveSums(rows: readonly RefundRow[]): Pick<Refundable, 'used' | 'usedFee' | 'usedExcess'> {
  const live = rows.filter(({ status }) => isLive(status));
  return {
    used: sum(live.map((row) => row.used)),
    usedFee: sum(live.map((row) => row.service_fee)),
    usedExcess: sum(live.filter(({ kind }) => kind === 'excess').map((row) => row.used)),
  };
}

/** The coins that refunds used up before they were a success. */
export function takenBefore(rows: readonly RefundRow[]): bigint {
  return sum(rows.filter((row) => hasTaken(row.status) && !row.of_success).map((row) => row.used));
}

/** The most coins that a refund of a kind can use up, at least 0. */
export function mostOf(kind: RefundRow['kind'], facts: Refundable): bigint {
  const left = atLeast0(facts.credited - facts.used);
  if (kind !== 'excess') return left;
  const excess = atLeast0(facts.excess - facts.usedExcess);
  return left < excess ? left : excess;
}

/**
 * The coins that a refund uses up so that the payer gets all that is left, or `wanted` coins; undefined if there is
 * less. A fee that is kept includes its share of the returned coins, so that all refunds together keep the whole fee,
 * and cost no more than the payment brought.
 */
export function shareOf(
  kind: RefundRow['kind'],
  facts: Refundable,
  withFee: boolean,
  wanted?: bigint,
): Share | undefined {
  const most = mostOf(kind, facts);
  const left = atLeast0(facts.credited - facts.used);
  const leftFee = least(left, atLeast0(facts.fee - facts.usedFee));
  if (most === 0n) return undefined;
  if (kind === 'excess') return { used: most, fee: (leftFee * most) / left };
  if (wanted === undefined) return { used: left, fee: leftFee };
  const payable = withFee ? left : left - leftFee;
  if (wanted > payable || payable === 0n) return undefined;
  const fee = (leftFee * wanted) / payable;
  return { used: withFee ? wanted : wanted + fee, fee };
}

/** The number of coins that have the same worth today as `units` had when they came; never more. */
export function worthToday(units: bigint, then: Fraction, today: Fraction): bigint {
  const asMany = (units * then.numerator * today.denominator) / (then.denominator * today.numerator);
  return least(asMany, units);
}

const atLeast0 = (units: bigint): bigint => (units > 0n ? units : 0n);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

function sum(units: readonly bigint[]): bigint {
  return units.reduce((total, one) => total + one, 0n);
}
