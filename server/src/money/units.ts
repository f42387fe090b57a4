/** Units as the JSON numbers and the texts that the API answers with. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Currency } from './currency-list.js';

/**
 * A JSON number that a double holds exactly: rounded down to the payable decimals and to 15 significant
 * digits, away from 0 where it is owed. What a payer owes is rounded to both before it is stored, so it comes
 * out whole.
 */
export function unitsToNumber(units: bigint, currency: Currency): number {
  return Number(formatUnits(units, currency));
}

/** The same as a plain decimal, for texts. */
export function formatUnits(units: bigint, currency: Currency): string {
  const digits = (units < 0n ? -units : units).toString().length;
  const step = 10n ** BigInt(Math.max(currency.decimals - currency.payableDecimals, digits - 15));
  const rest = ((units % step) + step) % step;
  return fromUnits(units - rest, currency.decimals);
}

/** Values in naira and dollars are kept in hundredths. */
export function centsToNumber(hundredths: bigint): number {
  return Number(fromUnits(hundredths, 2));
}
