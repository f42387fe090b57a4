/** Exchange rates from a file, for test mode and for merchants who set their own. They are always current. */
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import { parseOperatorJson, readOperatorFile } from '../operator-file.js';
import type { Clock } from '../shared/clock.js';
import { orStartError } from '../shared/start-error.js';
import { inverse, parsePositive } from './fractions.js';
import type { RateSource } from './rates.js';

/** The file that comes with the package. */
export const shippedRatesFile = fileURLToPath(new URL('../../../data/rates.json', import.meta.url));

const priceForm = 'must be a decimal above 0, in quotes';
const price = z.pipe(
  z.string({ error: priceForm }),
  z.transform((text, { issues }) => {
    const parsed = parsePositive(text);
    if (!parsed) issues.push({ code: 'custom', message: priceForm, input: text });
    return parsed ?? z.NEVER;
  }),
);

const prices = z.record(z.string(), price, {
  error: 'is required: an object, from currency code to a decimal in quotes',
});

const ratesFile = z.object(
  {
    source: z.string({ error: 'is required: where the rates are from' }),
    /** Fiat: how many units of the currency one US dollar buys. */
    unitsPerDollar: prices,
    /** Crypto: the price of one coin in US dollars. */
    dollarsPerUnit: prices,
  },
  {
    error:
      'must be an object with source, unitsPerDollar and dollarsPerUnit, as in the file data/rates.json of the server',
  },
);

/** @param path that of RATES_FILE; undefined for the file that comes with the package. @throws StartError */
export function openFixedRates(path: string | undefined, clock: Pick<Clock, 'real'>): Promise<RateSource> {
  const file = path ?? shippedRatesFile;
  return orStartError(`RATES_FILE: ${file} cannot be used`, () => readFixedRates(file, clock));
}

function readFixedRates(path: string, clock: Pick<Clock, 'real'>): RateSource {
  const parsed = ratesFile.safeParse(parseOperatorJson(readOperatorFile(path)));
  if (!parsed.success) {
    const sentences = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
    );
    throw new Error(sentences.join('; '));
  }
  const { source, unitsPerDollar, dollarsPerUnit } = parsed.data;
  const rates = new Map([
    ...Object.entries(unitsPerDollar).map(([code, units]) => [code, inverse(units)] as const),
    ...Object.entries(dollarsPerUnit),
  ]);
  return {
    latest(currency) {
      const rate = rates.get(currency);
      return rate && { ...rate, source, at: clock.real() };
    },
  };
}
