/** Exchange rates from a file, for test mode and for merchants who set their own. They are always current. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { countDecimals, parseDecimal, toUnits } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { Clock } from '../shared/clock.js';
import { inverse, type Fraction } from './fractions.js';
import type { Rate, RateSource } from './rates.js';

/** The file that comes with the package. */
export const shippedRatesFile = fileURLToPath(new URL('../../data/rates.json', import.meta.url));

const price = z.string().check(
  z.refine((value) => (parseDecimal(value) ?? '0') !== '0', {
    error: 'Must be a decimal above 0, as a string',
  }),
);

const ratesFile = z.object({
  source: z.string(),
  /** Fiat: how many units of the currency one US dollar buys. */
  unitsPerDollar: z.record(z.string(), price),
  /** Crypto: the price of one coin in US dollars. */
  dollarsPerUnit: z.record(z.string(), price),
});

/** @throws if the file is missing, or does not have the shape of `data/rates.json` */
export function readFixedRates(path: string, clock: Clock): RateSource {
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const parsed = ratesFile.safeParse(content);
  if (!parsed.success) {
    const sentences = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
    );
    throw new Error(sentences.join('; '));
  }
  const file = parsed.data;
  const rates = new Map<string, Omit<Rate, 'at'>>();
  for (const [code, value] of Object.entries(file.unitsPerDollar)) {
    rates.set(code, { ...inverse(fraction(value)), source: file.source });
  }
  for (const [code, value] of Object.entries(file.dollarsPerUnit)) {
    rates.set(code, { ...fraction(value), source: file.source });
  }
  return {
    latest(currency) {
      const rate = rates.get(currency);
      return rate && { ...rate, at: clock.real() };
    },
  };
}

function fraction(value: string): Fraction {
  const decimals = countDecimals(value);
  return { numerator: toUnits(value, decimals), denominator: 10n ** BigInt(decimals) };
}
