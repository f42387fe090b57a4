/** Units as the JSON numbers and the texts that the API answers with. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Currency } from '../chains/assets.js';

/**
 * A JSON number that a double holds exactly: rounded down to the payable decimals and to 15 significant
 * digits. What a payer owes is rounded to both before it is stored, so it comes out whole.
 */
export function toNumber(units: bigint, currency: Currency): number {
  return Number(toText(units, currency));
}

/** The same as a plain decimal, for texts. */
export function toText(units: bigint, currency: Currency): string {
  const excessDigits = Math.max(0, units.toString().length - 15);
  const step = 10n ** BigInt(Math.max(currency.decimals - currency.payableDecimals, excessDigits));
  return fromUnits(units - (units % step), currency.decimals);
}

/** Values in naira and dollars are kept in hundredths. */
export function toMoney(hundredths: bigint): number {
  return Number(fromUnits(hundredths, 2));
}
