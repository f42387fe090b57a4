/** Prices a payment in a currency, with exact integers that are rounded up once to the currency's payable decimals. */
import type { CurrencyOption } from 'crypto-checkout/contract';
import { usageOf } from '../chains/networks.js';
import type { PaymentOption } from '../money/currencies.js';
import { convert, type Rate } from '../money/rates.js';
import { exactNumber, roundUpToPayable, unitsToNumber } from '../money/units.js';
import type { Currency } from '../money/currency-list.js';
import { shownConfirmations, type Depths } from './depth.js';

/** An amount in a base currency, and that currency's rate. */
export interface BaseSum {
  readonly units: bigint;
  readonly currency: Currency;
  readonly rate: Rate;
}

/** The worth of a price, in the smallest unit of the paying currency, rounded up. Minimums are compared with it. */
export function exactAmount(base: BaseSum, currency: Currency, rate: Rate): bigint {
  return convert(
    base.units,
    { rate: base.rate, decimals: base.currency.decimals },
    { rate, decimals: currency.decimals },
    'up',
  );
}

/**
 * The amount to pay, in the smallest unit of the paying currency: rounded up to its payable decimals
 * and to 15 significant digits, so that it is exact as a JSON number.
 */
export function payableAmount(base: BaseSum, currency: Currency, rate: Rate): bigint {
  return roundUpToPayable(exactAmount(base, currency, rate), currency);
}

/** The fee on an amount, rounded down in the merchant's favour. */
export function feeOf(units: bigint, basisPoints: number): bigint {
  return (units * BigInt(basisPoints)) / 10_000n;
}

/**
 * Splits the fee on a sum among its amounts, by the largest remainder, so that the shares add up to the fee exactly.
 * @returns the shares in the order of the amounts, each at most its amount
 */
export function feeShares(amounts: readonly bigint[], basisPoints: number): bigint[] {
  const shares = amounts.map((amount) => feeOf(amount, basisPoints));
  const total = feeOf(
    amounts.reduce((sum, amount) => sum + amount, 0n),
    basisPoints,
  );
  const missing = Number(total - shares.reduce((sum, share) => sum + share, 0n));
  if (missing === 0) return shares;
  const remainderOf = (index: number) => ((amounts[index] ?? 0n) * BigInt(basisPoints)) % 10_000n;
  const largest = [...amounts.keys()].sort((a, b) => {
    const difference = remainderOf(b) - remainderOf(a);
    return difference === 0n ? a - b : difference > 0n ? 1 : -1;
  });
  for (const index of largest.slice(0, missing)) shares[index] = (shares[index] ?? 0n) + 1n;
  return shares;
}

/**
 * The smallest base amount that one of the options takes, if the price is too low for all of them. Undefined if one
 * takes it, or has no rate and so may take it later. Rounded up to the base currency's payable decimals.
 */
export function minimumOfAll(
  base: BaseSum,
  options: readonly PaymentOption[],
  latest: (currency: string) => Rate | undefined,
): bigint | undefined {
  let least: bigint | undefined;
  for (const option of options) {
    const { decimals, code } = option.currency;
    const rate = latest(code);
    if (!rate || exactAmount(base, option.currency, rate) >= option.minUnits) return undefined;
    const units = convert(
      option.minUnits,
      { rate, decimals },
      { rate: base.rate, decimals: base.currency.decimals },
      'up',
    );
    if (least === undefined || units < least) least = units;
  }
  return least === undefined ? undefined : roundUpToPayable(least, base.currency);
}

/**
 * The options that a payment can be paid with, with indicative amounts. Leaves out options without a rate, and those
 * whose minimum is above the price.
 */
export function currencyOptions(
  base: BaseSum,
  options: readonly PaymentOption[],
  latest: (currency: string) => Rate | undefined,
  depths: Depths,
  feeBasisPoints: number,
): CurrencyOption[] {
  const priceIn = (currency: Currency) => {
    const rate = latest(currency.code);
    if (!rate) return undefined;
    const exact = exactAmount(base, currency, rate);
    const units = roundUpToPayable(exact, currency);
    const fee = exactNumber(feeOf(units, feeBasisPoints), currency.decimals);
    return { exact, units, amount: unitsToNumber(units, currency), fee };
  };
  // A currency has the same price on each of its networks.
  const prices = new Map<string, ReturnType<typeof priceIn>>();
  return options.flatMap((option) => {
    const { currency, network } = option;
    if (!prices.has(currency.code)) prices.set(currency.code, priceIn(currency));
    const price = prices.get(currency.code);
    if (!price || price.exact < option.minUnits) return [];
    return [
      {
        currency: currency.code,
        name: currency.name,
        network: network.code,
        networkName: network.name,
        amount: price.amount,
        fee: price.fee,
        minAmount: Number(option.minAmount),
        confirmations: shownConfirmations(
          depths.depthOf(network, [{ units: price.units, currency: currency.code }]),
          network,
        ),
        ...usageOf(network, currency.code),
      },
    ];
  });
}
