/** The currencies of BASE_CURRENCIES: those that a shop has prices in, in addition to the built-in ones. */
import type { Logger } from 'pino';
import { StartError } from '../shared/start-error.js';
import { currencies, fiatCurrency, type Currency } from './currency-list.js';
import type { RateSource } from './rates.js';
import { needed, type WorldRates } from './world-rates.js';

/** @param codes those that the configuration has accepted */
export function currenciesWith(codes: readonly string[]): readonly Currency[] {
  const isBuiltIn = (code: string) => currencies.some((one) => one.code === code);
  return [
    ...currencies,
    ...codes.filter((code) => !isBuiltIn(code)).flatMap((code) => fiatCurrency(code) ?? []),
  ];
}

interface Quotes {
  readonly rates: RateSource;
  /** Undefined if rates come from a file. */
  readonly worldRates: WorldRates | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Refuses a currency that nobody could pay a price in. A source that does not answer now may quote it later, and the log
 * says so.
 * @throws StartError
 */
export async function ensureQuoted(
  codes: readonly string[],
  { rates, worldRates, log }: Quotes,
  signal: AbortSignal,
): Promise<void> {
  if (!worldRates) return ensureInFile(codes, rates);
  if (codes.length === 0) return;
  await worldRates.refresh(signal);
  const problems = codes.flatMap((code) => {
    const { quoting, silent } = worldRates.quotes(code);
    if (code === 'USD' || quoting.length >= needed) return [];
    if (quoting.length + silent.length >= needed) {
      log.warn(
        { currency: code, silent },
        'Too few sources say yet if they quote a currency of BASE_CURRENCIES',
      );
      return [];
    }
    const found = quoting.length === 0 ? 'no source quotes' : `only ${quoting.join(', ')} quotes`;
    return [`${found} ${code}, and a price takes ${needed}: leave it out, or add sources to RATES`];
  });
  refuse(problems);
}

/** Refuses a currency that the file of rates does not have. @throws StartError */
export function ensureInFile(codes: readonly string[], rates: RateSource): void {
  const hint = 'add it to unitsPerDollar of RATES_FILE, or set RATES to sources that quote it';
  refuse(codes.filter((code) => !rates.latest(code)).map((code) => `there is no rate of ${code}: ${hint}`));
}

/** @throws StartError */
function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new StartError(problems.map((one) => `BASE_CURRENCIES: ${one}`).join('\n'));
}
