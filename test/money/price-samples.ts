/** The prices that are written without Intl, for the tests that hold them against the Intl of each engine. */
import { translations } from '../../src/messages/sources.js';
import { englishPrices, type PriceStyle } from '../../src/money/price.js';

const loaded = await Promise.all(Object.values(translations).map(({ first }) => first()));

export const styles: Readonly<Record<string, PriceStyle>> = Object.fromEntries(
  [englishPrices, ...loaded.map(({ prices = {} }) => prices)].flatMap(Object.entries<PriceStyle>),
);

export const currencies = ['USD', 'NGN', 'EUR', 'GBP', 'GHS', 'KES', 'ZAR'];
export const amounts = [
  0,
  0.5,
  '7',
  49.9,
  '49.90',
  '049.900',
  999.99,
  1234.5,
  12345,
  1234567.891,
  '123456789012.345',
];
