/** The worth of an amount in another currency, at the newest rates: for display, no price is made of it. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Currency } from './currency-list.js';
import { convert, unitRate, type RateSource } from './rates.js';

export interface Worth {
  readonly currency: string;
  /** A decimal, rounded to the currency's smallest unit; null without a rate, as the next two. */
  readonly amount: string | null;
  /** The worth of one coin, a decimal of at most 8 significant digits. */
  readonly rate: string | null;
  /** The age of the older of the two rates that make it. */
  readonly rateAgeSeconds: number | null;
}

/** @param now real time */
export function worthOf(units: bigint, from: Currency, to: Currency, rates: RateSource, now: number): Worth {
  const { code: currency } = to;
  if (from.code === to.code) {
    return { currency, amount: fromUnits(units, to.decimals), rate: '1', rateAgeSeconds: 0 };
  }
  const [ofAsset, ofCurrency] = [rates.latest(from.code), rates.latest(to.code)];
  if (!ofAsset || !ofCurrency) return { currency, amount: null, rate: null, rateAgeSeconds: null };
  const coin = { rate: ofAsset, decimals: from.decimals };
  const money = { rate: ofCurrency, decimals: to.decimals };
  const size = convert(units < 0n ? -units : units, coin, money, 'nearest');
  return {
    currency,
    amount: fromUnits(units < 0n ? -size : size, to.decimals),
    rate: significant(unitRate({ ...coin, decimals: 0 }, { ...money, decimals: 0 })),
    rateAgeSeconds: Math.max(0, Math.floor((now - Math.min(ofAsset.at, ofCurrency.at)) / 1000)),
  };
}

/** They hold 8 digits of every rate down to a trillionth. */
const mostDecimals = 20;

/** A decimal with 8 significant digits, rounded half up. */
function significant({ numerator, denominator }: { numerator: bigint; denominator: bigint }): string {
  const scaled = (numerator * 10n ** BigInt(mostDecimals)) / denominator;
  const step = 10n ** BigInt(Math.max(scaled.toString().length - 8, 0));
  return fromUnits(((scaled + step / 2n) / step) * step, mostDecimals);
}
