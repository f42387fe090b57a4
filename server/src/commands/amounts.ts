/** Amounts as commands print them. */
import { fromUnits } from 'crypto-checkout/contract';
import { currencies } from '../money/currency-list.js';

/** Every digit, as a plain decimal: what is paid by hand must be exact. */
export function amountOf(units: string, code: string): string {
  const currency = currencies.find((one) => one.code === code);
  if (!currency) throw new Error(`The currency ${code} is not configured`);
  return fromUnits(BigInt(units), currency.decimals);
}
