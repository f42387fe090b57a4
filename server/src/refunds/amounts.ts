/** How much a refund gives back. Pure; all amounts are units of one coin of a payment. */
import type { RefundTable } from '../db/schema.js';
import type { Fraction } from '../money/fractions.js';
import { isLive } from './states.js';

/** The coins of a payment in one currency on one network. */
export interface Refundable {
  /** What the merchant was credited with, before the service fee. */
  readonly credited: bigint;
  readonly fee: bigint;
  /** What of it is above the price, or 0. */
  readonly excess: bigint;
  /** What refunds that have not ended give back or gave back already, and what of it as an excess. */
  readonly live: bigint;
  readonly liveExcess: bigint;
}

/** What a refund counts as, whoever bears the network's fee. */
export function countedOf(row: Pick<RefundTable, 'amount' | 'fee' | 'network_fee'>): bigint {
  return BigInt(row.amount) + (row.network_fee === 'payer' ? BigInt(row.fee) : 0n);
}

/** The sums of a payment's refunds of a coin that have not ended. */
export function liveSums(rows: readonly RefundTable[]): Pick<Refundable, 'live' | 'liveExcess'> {
  const sum = (refunds: readonly RefundTable[]) =>
    refunds.reduce((total, refund) => total + countedOf(refund), 0n);
  const live = rows.filter(({ status }) => isLive(status));
  return { live: sum(live), liveExcess: sum(live.filter(({ kind }) => kind === 'excess')) };
}

/**
 * The most that a refund of a kind can give back, at least 0. The service fee is left out unless the merchant gives it back as
 * well, so that a refund never costs more than the payment brought.
 */
export function mostOf(
  kind: RefundTable['kind'],
  { credited, fee, excess, live, liveExcess }: Refundable,
  withFee: boolean,
): bigint {
  const left = credited - (withFee ? 0n : fee) - live;
  if (kind !== 'excess') return atLeast0(left);
  const share = withFee || credited === 0n ? excess : excess - divideUp(fee * excess, credited);
  return atLeast0(left < share - liveExcess ? left : share - liveExcess);
}

/** How many coins are worth today what so many were worth when they came; never more. */
export function worthToday(units: bigint, then: Fraction, today: Fraction): bigint {
  const asMany = (units * then.numerator * today.denominator) / (then.denominator * today.numerator);
  return asMany < units ? asMany : units;
}

function atLeast0(units: bigint): bigint {
  return units > 0n ? units : 0n;
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
