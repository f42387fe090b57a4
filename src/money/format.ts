/** Amounts as text: for people in their language, and plain for copying. Neither ever rounds. */
import { countDecimals, decimalOf } from '../contract/decimal.js';

/** The currencies that have a symbol and minor digits of their own; every other code is a coin. */
const fiatCurrencies = new Set(Intl.supportedValuesOf('currency'));

/**
 * The amount as a person in `locale` reads it, with every digit that it has: 0.0000007 BTC, $1,234.50.
 * Fiat gets its symbol and at least its minor digits, a coin its code.
 *
 * @param value an amount as the API gives it, or a plain decimal string
 * @param currency a currency's code
 * @param locale a BCP 47 tag; the reader's own language when absent
 * @throws RangeError when `locale` is not a language tag
 */
export function formatAmount(value: number | string, currency: string, locale?: string): string {
  const decimal = typeof value === 'number' ? decimalOf(value) : value;
  const decimals = countDecimals(decimal);
  // A string is formatted digit by digit where Intl knows how, and has at most a double's 15 digits elsewhere.
  const digits = decimal as Intl.StringNumericLiteral;
  if (!fiatCurrencies.has(currency)) {
    const coin = new Intl.NumberFormat(locale, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    return `${coin.format(digits)}\u00a0${currency}`;
  }
  const fiat = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const minorDigits = fiat.resolvedOptions().maximumFractionDigits ?? decimals;
  if (decimals <= minorDigits) return fiat.format(digits);
  const exact = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    maximumFractionDigits: decimals,
  });
  return exact.format(digits);
}

/** The amount as a wallet's input field takes it, and as it is copied: 7e-7 → "0.0000007", whatever the locale. */
export function plainAmount(value: number): string {
  return decimalOf(value);
}
