/** Converts units to the JSON numbers and decimal strings of the API's replies. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Currency } from './currency-list.js';

/** The most decimals of an amount in a reply, and of one that a merchant sends: what arrived may have more than a payer is asked for. */
export const replyDecimals = ({ decimals }: Currency): number => Math.min(decimals, 8);

/** Rounds down to as many decimals, and to 15 significant digits, which survive as a JSON number. Negative amounts go away from 0. */
function roundDown(units: bigint, decimals: number, kept: number): bigint {
  const digits = (units < 0n ? -units : units).toString().length;
  const step = 10n ** BigInt(Math.max(decimals - kept, digits - 15));
  return units - (((units % step) + step) % step);
}

/**
 * An amount with the decimals of a reply. The amount that a payer owes is rounded further when it is stored, so it
 * does not change.
 */
export function unitsToNumber(units: bigint, currency: Currency): number {
  return Number(formatUnits(units, currency));
}

/** Writes units as a plain decimal string. */
export function formatUnits(units: bigint, currency: Currency): string {
  return fromUnits(roundDown(units, currency.decimals, replyDecimals(currency)), currency.decimals);
}

/** Rounds up to an amount that a payer can be asked for: the payable decimals, and 15 significant digits. */
export function roundUpToPayable(units: bigint, { decimals, payableDecimals }: Currency): bigint {
  const step = 10n ** BigInt(Math.max(decimals - payableDecimals, units.toString().length - 15));
  return ((units + step - 1n) / step) * step;
}

/** Keeps every unit that 15 significant digits can hold, for charged and credited amounts. Rounds the rest down. */
export function exactNumber(units: bigint, decimals: number): number {
  return Number(fromUnits(roundDown(units, decimals, decimals), decimals));
}

/** Naira and dollar values are stored in hundredths. Rounds down to 15 significant digits, as above. */
export function centsToNumber(hundredths: bigint): number {
  return exactNumber(hundredths, 2);
}
