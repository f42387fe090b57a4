/** `rates …`: shows the exchange rates, and what each source says. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Currency } from '../money/currency-list.js';
import type { Rate, RateSource } from '../money/rates.js';
import type { Fraction } from '../money/fractions.js';
import type { WorldRates } from '../money/world-rates.js';
import { isoTime } from '../shared/clock.js';
import { command, type Group, type Output } from './command.js';

export const rateCommands: Group = {
  name: 'rates',
  summary: 'Exchange rates.',
  commands: {
    show: command({
      summary:
        'Fetches the exchange rates now, and shows for each currency the rate that a payment would be locked at, and what each source says.',
      details: 'Exits with 1 if a source does not answer, or a currency has no rate.',
      async run({ worldRates, rates, currencies, signal }) {
        if (!worldRates) return showFixed(rates, currencies.all());
        await worldRates.refresh(signal);
        return showWorld(worldRates, currencies.all());
      },
    }),
  },
};

function showFixed(rates: RateSource, currencies: readonly Currency[]): Output {
  const rows = currencies.map(({ code }) => ({ currency: code, ...rateJson(rates.latest(code)) }));
  const lines = rows.map(({ currency, dollars }) => `${currency.padEnd(5)} ${dollars ?? 'no rate'}`);
  return {
    json: { rates: rows },
    text: `In US dollars, from a file:\n\n${lines.join('\n')}`,
    hasFailed: rows.some(({ dollars }) => dollars === null),
  };
}

function showWorld(rates: WorldRates, currencies: readonly Currency[]): Output {
  const sources = rates.sources();
  const rows = currencies.map(({ code }) => ({
    currency: code,
    ...rateJson(rates.latest(code)),
    prices: rates.prices(code).map(({ source, price, at }) => ({
      source,
      dollars: decimalOf(price),
      at: isoTime(at),
    })),
  }));
  const rateLines = rows.map(({ currency, dollars, prices }) => {
    const each = prices.map((price) => `${price.source} ${price.dollars} (${price.at})`).join(', ');
    return `${currency.padEnd(5)} ${dollars ?? 'no rate'}${each && `   ${each}`}`;
  });
  const out = rates.marketsOut();
  const outLines = out.map(({ source, market, problem }) => `${source.padEnd(10)} ${market}: ${problem}`);
  const sourceLines = sources.map(({ name, problem }) => `${name.padEnd(10)} ${problem ?? 'answers'}`);
  return {
    json: {
      sources: sources.map(({ name, answeredAt, problem }) => ({
        name,
        answeredAt: answeredAt === undefined ? null : isoTime(answeredAt),
        problem: problem ?? null,
        marketsOut: out
          .filter(({ source }) => source === name)
          .map(({ market, problem: why }) => ({ market, problem: why })),
      })),
      rates: rows,
    },
    text: `${[...sourceLines, ...outLines].join('\n')}\n\nIn US dollars:\n\n${rateLines.join('\n')}`,
    hasFailed:
      sources.some(({ problem }) => problem !== undefined) || rows.some(({ dollars }) => dollars === null),
  };
}

function rateJson(rate: Rate | undefined) {
  return {
    dollars: rate ? decimalOf(rate) : null,
    source: rate?.source ?? null,
    at: rate ? isoTime(rate.at) : null,
  };
}

/** For people: cut off after 10 decimals. */
function decimalOf({ numerator, denominator }: Fraction): string {
  return fromUnits((numerator * 10n ** 10n) / denominator, 10);
}
