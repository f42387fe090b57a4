/** The checks that currencies and amounts from outside have to pass. */
import { toUnits } from 'crypto-checkout/contract';
import { invalidField, Problem } from '../shared/problem.js';
import type { Currencies } from './currencies.js';
import type { Currency } from './currency-list.js';

/** Finds a currency by its code, in any case. Problem: `unsupported_currency`. */
export function requireCurrency(
  currencies: Pick<Currencies, 'find' | 'all'>,
  code: string,
  param: string,
): Currency {
  const currency = currencies.find(code);
  if (currency) return currency;
  throw new Problem(
    'unsupported_currency',
    `${code} is not a currency of this server. It has ${currencies
      .all()
      .map((one) => one.code)
      .join(', ')}; see GET /v1/currencies`,
    { param },
  );
}

/**
 * Converts a plain decimal to units of its currency.
 * Problem: `validation_error` if the text is not a plain decimal, or has too many decimals.
 * @param allowedDecimals by default the most that a payer can be asked for; `currency.decimals` allows every unit
 */
export function parseAmount(
  decimal: string,
  currency: Currency,
  param: string,
  allowedDecimals?: number,
): bigint {
  const maxDecimals = allowedDecimals ?? currency.payableDecimals;
  try {
    return toUnits(decimal, maxDecimals) * 10n ** BigInt(currency.decimals - maxDecimals);
  } catch {
    // The books of some currencies have more: that list says both.
    const isPayable = allowedDecimals === undefined && maxDecimals < currency.decimals;
    const reason = isPayable ? ', its payableDecimals, which payers can type' : '';
    throw invalidField(
      param,
      `Must be a number with at most ${maxDecimals} decimals in ${currency.code}${reason}. Round it`,
    );
  }
}
