/** Formats amounts for reading. They are never rounded. */
import { intlCurrencies } from '../platform.js';
import { countDecimals, decimalOf } from '../contract/decimal.js';

let fiatCurrencies: ReadonlySet<string> | undefined;

/** True if Intl knows the currency. Every other code is a coin. Called lazily: the list takes time. */
function isFiat(currency: string): boolean {
  fiatCurrencies ??= new Set(intlCurrencies());
  return fiatCurrencies.has(currency);
}

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
  // Every digit, and at least as many as the currency usually has. Older browsers take at most 20.
  const maximumFractionDigits = Math.min(decimals + 4, 20);
  if (isFiat(currency)) {
    const options = { style: 'currency', currency, maximumFractionDigits } as const;
    return new Intl.NumberFormat(locale, options).format(digits);
  }
  const coin = new Intl.NumberFormat(locale, {
    // Latin digits in every language: payers compare them with their wallet.
    numberingSystem: 'latn',
    // As wallets and exchanges show dollar coins: 49.90, not 49.9.
    minimumFractionDigits: currency.startsWith('USD') ? 2 : 0,
    maximumFractionDigits,
  });
  return `${coin.format(digits)}\u00a0${currency}`;
}
