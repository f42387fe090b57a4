/** Writes a price as Intl does, without it: a browser's first use of Intl.NumberFormat takes a slow phone 100 ms. */
import { countDecimals, decimalOf } from '../contract/decimal.js';

/** A locale's price format. The tests compare every one with Intl. */
export interface PriceStyle {
  /** Any price, with `¤` in place of the currency: `¤12,345.67`. */
  readonly sample: string;
  /** Exceptions, by currency code. */
  readonly symbols?: Readonly<Record<string, string>>;
  /** The least number of digits that are grouped; 4 by default. */
  readonly groupsFrom?: number;
}

const mostSymbols: Readonly<Record<string, string>> = {
  USD: 'US$',
  EUR: '€',
  GBP: '£',
  NGN: 'NGN',
  GHS: 'GHS',
  KES: 'KES',
  ZAR: 'ZAR',
};

const sample = '¤12,345.67';
const american: PriceStyle = { sample, symbols: { USD: '$' } };

/** By tag. Styles of other languages ship with their texts. */
export const englishPrices: Readonly<Record<string, PriceStyle>> = {
  en: american,
  'en-US': american,
  'en-GB': { sample },
  'en-NG': { sample, symbols: { NGN: '₦' } },
};

/**
 * A price for reading, with all of its digits: $1,234.50. As formatAmount.
 *
 * @returns undefined for a currency that is not known here, an amount that is not a plain decimal, or without a style
 */
export function priceText(
  value: number | string,
  currency: string,
  style: PriceStyle | undefined,
): string | undefined {
  const decimal = typeof value === 'number' ? decimalOf(value) : value;
  const symbol = style?.symbols?.[currency] ?? mostSymbols[currency];
  if (!style || symbol === undefined || !/^\d+(\.\d{1,16})?$/.test(decimal)) return undefined;
  const [before = '', group = '', point = '', after = ''] = style.sample.split(/12|345|67/);
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = whole.replace(/^0+(?=\d)/, '');
  const isGrouped = digits.length >= (style.groupsFrom ?? 4);
  const grouped = isGrouped ? digits.replace(/\B(?=(\d{3}){1,10}$)/g, group) : digits;
  const minor = fraction.replace(/0{1,20}$/, '').padEnd(2, '0');
  // A code never touches the number.
  const name = before === '¤' && /[A-Z]$/.test(symbol) ? `${symbol}\u00a0` : symbol;
  return `${before}${grouped}${point}${minor}${after}`.replace('¤', () => name);
}

/** A price in a style that is not known yet: 49.90 USD. Shown until the browser has time for Intl. */
export function roughPrice(value: number | string, currency: string): string {
  const decimal = typeof value === 'number' ? decimalOf(value) : value;
  const decimals = countDecimals(decimal);
  // Dollar coins too have two decimals: 20.00 USDT.
  const missing = decimals === 1 ? '0' : decimals === 0 && currency.startsWith('USD') ? '.00' : '';
  return `${decimal}${missing}\u00a0${currency}`;
}
