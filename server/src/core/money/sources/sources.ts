/** The built-in sources of exchange rates, and the value of `RATES` that picks from them. */
import { binance } from './binance.js';
import { bitstamp } from './bitstamp.js';
import { coinbase } from './coinbase.js';
import { coingecko } from './coingecko.js';
import { erApi } from './er-api.js';
import { kraken } from './kraken.js';
import type { RateSourceAdapter } from './source.js';
import { trimEnd } from '../../shared/trim-end.js';

const adapters: readonly RateSourceAdapter[] = [kraken, coinbase, binance, bitstamp, coingecko, erApi];

export const sourceNames: readonly string[] = adapters.map(({ name }) => name);

/** Used unless `RATES` names others. */
export const defaultSources = adapters;

/**
 * Parses `kraken,coinbase=https://proxy.example.com/coinbase,…`. A URL replaces the source's own, up to the path of its
 * API.
 * @returns undefined if a name is unknown or given twice, a URL is not one, or fewer than two sources price coins in
 *   dollars: a price takes two that agree
 */
export function parseSources(text: string): RateSourceAdapter[] | undefined {
  const chosen: RateSourceAdapter[] = [];
  for (const part of text.split(',')) {
    const [name = '', ...rest] = part.trim().split('=');
    const adapter = adapters.find((candidate) => candidate.name === name);
    const url = rest.length === 0 ? adapter?.url : plainUrl(rest.join('='));
    if (!adapter || url === undefined || chosen.some((other) => other.name === name)) return undefined;
    chosen.push({ ...adapter, url });
  }
  const pricing = chosen.filter(({ dollarPrices }) => dollarPrices === 'crypto' || dollarPrices === 'all');
  return pricing.length >= 2 ? chosen : undefined;
}

/** An http or https URL without credentials, query and trailing slash; undefined for anything else. */
export function plainUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, search, hash } = new URL(text);
  const isPlain = /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
  return isPlain ? trimEnd(text, '/') : undefined;
}
