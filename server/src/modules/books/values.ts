/** The worth of bookings: rates are kept soon after something is booked, and never change. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Database } from '../../core/db/database.js';
import type { Reader } from '../../core/db/engine.js';
import { lockName } from '../../core/db/locks.js';
import type { Currencies } from '../../core/money/currencies.js';
import type { Currency } from '../../core/money/currency-list.js';
import { parseFraction, writeFraction, type Fraction } from '../../core/money/fractions.js';
import { isCurrent, type RateSource } from '../../core/money/rates.js';
import type { Clock } from '../../core/shared/clock.js';
import { groupBy } from '../../core/shared/group-by.js';
import * as store from './books-store.js';
import type { BookRateTable } from './tables.js';

/** Rates are kept at most this often, and only after bookings. */
const betweenMs = 5 * 60_000;
/** A booking is valued at the nearest rates that are at most so far from it. */
const nearMs = 10 * 60_000;
/** Decimals of a unit value. */
const unitDecimals = 18;

/** The currency in which all rates are. */
const quoted = 'USD';

interface RatesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly rates: RateSource;
  readonly currencies: Pick<Currencies, 'all'>;
}

/**
 * Keeps the rates of coins that were booked since their own last rates, and of all currencies that books can be kept in. A coin
 * that had no rate the last time gets one then. Nothing is kept while none of the coins has a rate: another server may reach one.
 */
export async function keepCurrentRates({ database, clock, rates, currencies }: RatesDeps): Promise<void> {
  const now = clock.real();
  const newest = async (reader: Reader) => (await store.newestRates(reader)) ?? Number.NEGATIVE_INFINITY;
  const last = await newest(database.reader);
  if (now - last < betweenMs) return;
  const booked = await store.lastBooked(database.reader, now - nearMs, now);
  if (booked.size === 0) return;
  const kept = await store.readRates(database.reader, [...booked.keys()], now - nearMs, now);
  const keptAt = new Map(kept.map(({ currency, at }) => [currency, at]));
  const isDue = (code: string) => (booked.get(code) ?? 0) > (keptAt.get(code) ?? 0);
  const wanted = currencies.all().filter(({ code, type }) => type === 'fiat' || isDue(code));
  const rows = wanted.flatMap(({ code }): BookRateTable[] => {
    const rate = code === quoted ? undefined : rates.latest(code);
    if (!rate || !isCurrent(rate, now)) return [];
    return [{ at: now, currency: code, price: writeFraction(rate), source: rate.source, rate_at: rate.at }];
  });
  if (!rows.some(({ currency }) => booked.has(currency))) return;
  await database.write(async (transaction) => {
    // Another server may have kept them meanwhile.
    await lockName(transaction, 'book rates');
    if (now - (await newest(transaction)) >= betweenMs) await store.keepRates(transaction, rows);
  });
}

export interface Valuation {
  /** In 10^-18 of the currency, for one whole coin. */
  readonly unit: bigint;
  readonly source: string;
  /** The time of the rate, epoch milliseconds. */
  readonly at: number;
}

/** The rates around some times, in a currency. @param times in ascending order */
export async function ratesNear(
  reader: Reader,
  currency: Currency,
  assets: readonly string[],
  times: readonly number[],
): Promise<(asset: string, time: number) => Valuation | undefined> {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const rows = await store.readRates(
    reader,
    [...new Set([...assets, currency.code])],
    first - nearMs,
    last + nearMs,
  );
  const byCurrency = groupBy(rows, (row) => row.currency);
  // Both rates are of the same moment.
  const others = new Map(byCurrency.get(currency.code)?.map((row) => [row.at, row]));

  return (asset, time) => {
    if (asset === currency.code) return { unit: scale, source: 'the same currency', at: time };
    const one = nearest(
      byCurrency.get(asset) ?? [],
      time,
      (row) => currency.code === quoted || others.has(row.at),
    );
    if (!one) return undefined;
    const other = currency.code === quoted ? undefined : others.get(one.at);
    const price = fractionOf(one);
    const base = other ? fractionOf(other) : par;
    return {
      unit: halfUp(price.numerator * base.denominator * scale, price.denominator * base.numerator),
      source: [...new Set([one.source, ...(other ? [other.source] : [])])].join('; '),
      at: one.rate_at,
    };
  };
}

const scale = 10n ** BigInt(unitDecimals);
const par: Fraction = { numerator: 1n, denominator: 1n };
const fractionOf = ({ price }: BookRateTable): Fraction => parseFraction(price) ?? par;

/** The earlier one of two that are as near. @param rows oldest first */
function nearest(
  rows: readonly BookRateTable[],
  time: number,
  isUsable: (row: BookRateTable) => boolean,
): BookRateTable | undefined {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.at ?? 0) < time - nearMs) low = middle + 1;
    else high = middle;
  }
  let found: BookRateTable | undefined;
  for (let index = low; index < rows.length; index += 1) {
    const row = rows[index];
    if (!row || row.at > time + nearMs) break;
    if (!isUsable(row)) continue;
    if (!found || Math.abs(row.at - time) < Math.abs(found.at - time)) found = row;
  }
  return found;
}

/** The value of one whole coin by a receipt's own rate. @param rate units of `currency` for a unit of the asset */
export function valuationOf(rate: Fraction, asset: Currency, currency: Currency, at: number): Valuation {
  const unit = halfUp(
    rate.numerator * scale * 10n ** BigInt(asset.decimals),
    rate.denominator * 10n ** BigInt(currency.decimals),
  );
  return { unit, source: 'receipt', at };
}

/** The amount times the unit value, rounded half up, away from 0, in units of the currency. @param units of the asset */
export function valueOf(units: bigint, { unit }: Valuation, asset: Currency, currency: Currency): bigint {
  const size = units < 0n ? -units : units;
  const value = halfUp(size * unit * 10n ** BigInt(currency.decimals), 10n ** BigInt(asset.decimals) * scale);
  return units < 0n ? -value : value;
}

/** With all decimals of the currency: `23.00`. */
export function valueText(units: bigint, { decimals }: Currency): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals);
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

export const unitText = ({ unit }: Valuation) => fromUnits(unit, unitDecimals);

/** @param numerator and denominator above or at 0 */
function halfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}
