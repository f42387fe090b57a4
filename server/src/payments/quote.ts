/** What a payment costs in a currency: exact integers, rounded up once, to what a payer can be asked for. */
import { toUnits, type CurrencyOption } from 'crypto-checkout/contract';
import type { PaymentOption } from '../money/currencies.js';
import { convert, type Rate } from '../money/rates.js';
import { unitsToNumber } from '../money/units.js';
import type { Currency } from '../money/currency-list.js';

/** A sum in a base currency, with its rate. */
export interface BaseSum {
  readonly units: bigint;
  readonly currency: Currency;
  readonly rate: Rate;
}

/**
 * The amount to pay, in the smallest unit of the paying currency: rounded up to its payable decimals,
 * and to 15 significant digits, so that the JSON number is exact.
 */
export function payableAmount(base: BaseSum, currency: Currency, rate: Rate): bigint {
  const exact = convert(
    base.units,
    { rate: base.rate, decimals: base.currency.decimals },
    { rate, decimals: currency.decimals },
    'up',
  );
  const excessDigits = Math.max(0, exact.toString().length - 15);
  const step = 10n ** BigInt(Math.max(currency.decimals - currency.payableDecimals, excessDigits));
  return ((exact + step - 1n) / step) * step;
}

/** The merchant's fee on an amount, rounded down: the smallest unit is never charged twice. */
export function feeOf(units: bigint, basisPoints: number): bigint {
  return (units * BigInt(basisPoints)) / 10_000n;
}

/** The smallest payable amount of an option, in units. */
export function minimumUnits(option: PaymentOption): bigint {
  return toUnits(option.minAmount, option.currency.decimals);
}

/** The options that the sum can be paid with, with indicative amounts. Options without a rate, or above the sum, are left out. */
export function currencyOptions(
  base: BaseSum,
  options: readonly PaymentOption[],
  latest: (currency: string) => Rate | undefined,
  feeBasisPoints: number,
): CurrencyOption[] {
  const amounts = new Map<string, bigint>();
  return options.flatMap((option) => {
    const { currency, network } = option;
    const rate = latest(currency.code);
    if (!rate) return [];
    const amount = amounts.get(currency.code) ?? payableAmount(base, currency, rate);
    amounts.set(currency.code, amount);
    if (amount < minimumUnits(option)) return [];
    return [
      {
        currency: currency.code,
        name: currency.name,
        network: network.code,
        networkName: network.name,
        amount: unitsToNumber(amount, currency),
        fee: unitsToNumber(feeOf(amount, feeBasisPoints), currency),
        minAmount: Number(option.minAmount),
        confirmations: network.confirmations,
      },
    ];
  });
}
