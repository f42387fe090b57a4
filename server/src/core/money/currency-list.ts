/** The currencies of the server, from `data/currencies.json`. To add one, add a row there. */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly type: 'crypto' | 'fiat';
  /** Decimals of the smallest unit, in which amounts are stored. */
  readonly decimals: number;
  /** The most decimals that a payer is asked for. Few for stablecoins: people type them from a screen into an exchange. */
  readonly payableDecimals: number;
}

const coin = z.strictObject({
  name: z.string(),
  decimals: z.int(),
  payableDecimals: z.int(),
  /** The coin's name at each exchange that is asked by name. One that does not trade it is left out. */
  symbols: z.strictObject({
    kraken: z.optional(z.string()),
    binance: z.optional(z.string()),
    coingecko: z.optional(z.string()),
  }),
  exampleDollars: z.string(),
  // The widget's own: `npm run lists`.
  uriScheme: z.optional(z.string()),
  icon: z.optional(z.looseObject({ colour: z.string() })),
});
const fiat = z.strictObject({ name: z.string(), exampleUnitsPerDollar: z.string() });
const file = z.strictObject({
  about: z.string(),
  coins: z.record(z.string(), coin),
  fiat: z.record(z.string(), fiat),
});

const { coins, fiat: fiatCurrencies } = file.parse(
  JSON.parse(readFileSync(new URL('../../../data/currencies.json', import.meta.url), 'utf8')),
);

/** Most used first, the order in which pickers show them. */
export const currencies: readonly Currency[] = [
  ...Object.entries(coins).map(([code, { name, decimals, payableDecimals }]): Currency => {
    return { code, name, type: 'crypto', decimals, payableDecimals };
  }),
  ...Object.entries(fiatCurrencies).map(([code, { name }]): Currency => {
    return { code, name, type: 'fiat', decimals: 2, payableDecimals: 2 };
  }),
];

const ofWorld: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const englishNames = new Intl.DisplayNames('en', { type: 'currency' });

/**
 * A currency of the world by its code, such as CHF, with the decimals that it has there. For BASE_CURRENCIES, and for
 * records in one that was taken out of them.
 */
export function fiatCurrency(code: string): Currency | undefined {
  const known = currencies.find((one) => one.code === code);
  if (known) return known.type === 'fiat' ? known : undefined;
  if (!ofWorld.has(code)) return undefined;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code });
  const { maximumFractionDigits: decimals = 2 } = format.resolvedOptions();
  const name = englishNames.of(code) ?? code;
  return { code, name, type: 'fiat', decimals, payableDecimals: decimals };
}

/** The coins that an exchange trades, with their names there. */
export function symbolsOf(exchange: keyof z.output<typeof coin>['symbols']) {
  return Object.entries(coins).flatMap(([currency, { symbols }]) => {
    const symbol = symbols[exchange];
    return symbol === undefined ? [] : [{ currency, symbol }];
  });
}
