/**
 * Amounts as text that sorts like numbers: as integers with 18 implied decimals, whatever the currency, padded with
 * zeros to one width. So one text index serves sorting and ranges on both engines, neither of which has a wide enough
 * integer. Digits sort the same in every collation.
 */
import { fromUnits, toUnits } from 'crypto-checkout/contract';
import type { Currency } from '../money/currency-list.js';

/** No currency has more decimals. */
const decimals = 18;
/** Amounts have at most 15 digits before the point. */
const width = 15 + decimals;

export function sortableUnits(units: bigint, currency: Currency): string {
  return pad(toUnits(fromUnits(units, currency.decimals), decimals));
}

/** The sortable form of a plain decimal. `rounding` applies if it has more than 18 decimals. */
export function sortableDecimal(decimal: string, rounding: 'up' | 'down'): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const units = toUnits(`${whole}.${fraction.slice(0, decimals) || '0'}`, decimals);
  const isCut = fraction.length > decimals;
  return pad(isCut && rounding === 'up' ? units + 1n : units);
}

function pad(units: bigint): string {
  return units.toString().padStart(width, '0');
}
