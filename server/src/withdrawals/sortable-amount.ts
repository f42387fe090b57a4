/**
 * Amounts as text that sorts like the numbers: in billionths of a billionth, whatever the currency, padded with
 * zeros to one width. So one index of text serves sorting and ranges on both engines, neither of which has an
 * integer that is wide enough; digits sort the same under every collation.
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

/** Where a plain decimal lies among the amounts; one between two neighbours is taken up or down. */
export function sortableDecimal(decimal: string, rounding: 'up' | 'down'): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const units = toUnits(`${whole}.${fraction.slice(0, decimals) || '0'}`, decimals);
  const isBetween = fraction.length > decimals;
  return pad(isBetween && rounding === 'up' ? units + 1n : units);
}

function pad(units: bigint): string {
  return units.toString().padStart(width, '0');
}
