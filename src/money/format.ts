/** Formats amounts for reading and for copying. Neither ever rounds. */
import { countDecimals, decimalOf } from '../contract/decimal.js';

/** Currencies that Intl knows. Every other code is a coin. */
const fiatCurrencies = new Set(Intl.supportedValuesOf('currency'));

/**
 * Formats an amount for reading in `locale`, with all of its digits: 0.0000007 BTC, $1,234.50.
 * Fiat amounts get their symbol and at least their minor digits, coins their code.
 *
 * @param value an amount from the API, or a plain decimal string
 * @param currency a currency code
 * @param locale a BCP 47 tag; defaults to the user's language
 * @throws RangeError if `locale` is not a language tag
 */
export function formatAmount(value: number | string, currency: string, locale?: string): string {
  const decimal = typeof value === 'number' ? decimalOf(value) : value;
  const decimals = countDecimals(decimal);
  // Intl formats strings digit by digit. Older browsers convert them to a number, which is exact up to 15 digits.
  const digits = decimal as Intl.StringNumericLiteral;
  if (!fiatCurrencies.has(currency)) {
    // Latin digits in every language: payers compare them with what their wallet shows.
    const coin = new Intl.NumberFormat(locale, { numberingSystem: 'latn', maximumFractionDigits: decimals });
    return `${coin.format(digits)}\u00a0${currency}`;
  }
  const options = { style: 'currency', currency } as const;
  const fiat = new Intl.NumberFormat(locale, options);
  const { maximumFractionDigits = decimals } = fiat.resolvedOptions();
  if (decimals <= maximumFractionDigits) return fiat.format(digits);
  return new Intl.NumberFormat(locale, { ...options, maximumFractionDigits: decimals }).format(digits);
}

/** The amount for a wallet's input field, in any locale: 7e-7 → "0.0000007". */
export function plainAmount(value: number): string {
  return decimalOf(value);
}
