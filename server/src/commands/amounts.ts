/** Formats amounts for the output of commands. */
import { fromUnits } from 'crypto-checkout/contract';
import { currencies } from '../money/currency-list.js';

/** Formats units as a decimal with every digit: an amount that is paid by hand must be exact. */
export function amountOf(units: string | bigint, code: string): string {
  const currency = currencies.find((known) => known.code === code);
  if (!currency) throw new Error(`Unknown currency ${code}`);
  return fromUnits(BigInt(units), currency.decimals);
}

/** `12.5 USDT`. */
export function amountText(units: string | bigint, code: string): string {
  return `${amountOf(units, code)} ${code}`;
}
