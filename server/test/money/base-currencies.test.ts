/** Prices in further currencies, by one line of the configuration, at the rates of real sources on this machine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/core/config.js';
import { currenciesWith } from '../../src/core/money/base-currencies.js';
import { createCurrencies } from '../../src/core/money/currencies.js';
import { fiatCurrency } from '../../src/core/money/currency-list.js';
import { sqlite } from '../support/engines.js';
import { openShop } from '../support/shop.js';
import { startServer } from '../support/server.js';
import { market, openExchanges, type Exchanges, type Market } from './exchanges.js';

const names = ['kraken', 'coinbase', 'bitstamp', 'er-api'];
const more: Market = { ...market, fiat: { ...market.fiat, CHF: '0.8', SEK: '9.5', JPY: '150' } };

let exchanges: Exchanges;
beforeAll(async () => {
  exchanges = await openExchanges();
});
afterAll(() => exchanges.close());

const startQuoting = async (baseCurrencies: string, sources = names) =>
  startServer({
    engine: sqlite,
    env: { BASE_CURRENCIES: baseCurrencies, RATES: exchanges.setting(...sources) },
  });
function quote(prices: Readonly<Record<string, Market>>): void {
  for (const name of names) exchanges.quote(name, prices[name] ?? more);
}

describe('A currency of BASE_CURRENCIES', () => {
  it('a currency of BASE_CURRENCIES has prices, which are locked at the rate of the sources that quote it', async () => {
    quote({});
    const server = await startQuoting('chf, JPY');
    try {
      const merchant = openShop(server);
      const { amount } = await merchant.lock({
        amount: 8,
        baseCurrency: 'CHF',
        currency: 'USDC',
        network: 'ethereum',
      });
      // 8 francs are 10 dollars, and one USDC is 1.0001 of them; rounded up to cents.
      expect(amount).toBe(10);
      const { amount: ofYen } = await merchant.lock({ amount: 1500, baseCurrency: 'jpy' });
      expect(ofYen).toBe(10.02);
      const half = { body: { amount: 10.5, baseCurrency: 'JPY' } };
      expect(await server.api('POST', '/v1/payments/checkout', half)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('at most 0 decimals in JPY') as string },
      });
      const all = await merchant.ask<{ code: string; name: string; decimals: number }[]>(
        'GET',
        '/v1/currencies',
      );
      expect(all.filter(({ code }) => ['CHF', 'JPY', 'SEK'].includes(code))).toMatchObject([
        { code: 'CHF', name: 'Swiss Franc', decimals: 2, type: 'fiat' },
        { code: 'JPY', name: 'Japanese Yen', decimals: 0 },
      ]);
    } finally {
      await server.stop();
    }
  });

  it('a currency of BASE_CURRENCIES is refused at the start if only one source quotes it, or none', async () => {
    quote({ 'er-api': market });
    await expect(startQuoting('CHF')).rejects.toThrow(
      'BASE_CURRENCIES: only coinbase quotes CHF, and a price takes 2: leave it out, or add sources to RATES',
    );
    quote({ 'er-api': market, coinbase: market });
    await expect(startQuoting('SEK,CHF')).rejects.toThrow(
      /no source quotes SEK, .*\nBASE_CURRENCIES: no source quotes CHF, /,
    );
    quote({});
    await expect(startQuoting('CHF', ['kraken', 'coinbase', 'bitstamp'])).rejects.toThrow(
      'only coinbase quotes CHF',
    );
  });

  it('a currency of BASE_CURRENCIES is accepted while a source that may quote it does not answer', async () => {
    quote({});
    exchanges.answer('er-api', (response) => response.writeHead(503).end());
    const server = await startQuoting('CHF');
    await server.stop();
    expect(exchanges.asked('er-api')).toBeGreaterThan(0);
  });

  it('a currency of BASE_CURRENCIES needs a rate in the file, where rates come from one', async () => {
    await expect(startServer({ engine: sqlite, env: { BASE_CURRENCIES: 'CHF' } })).rejects.toThrow(
      'BASE_CURRENCIES: there is no rate of CHF: add it to unitsPerDollar of RATES_FILE, or set RATES to sources that quote it',
    );
  });

  it.each(['XYZ', 'USDT', 'CH', 'CHF,,SEK', 'CHF;SEK'])('BASE_CURRENCIES does not allow %s', (text) => {
    expect(() => readConfig({ BASE_CURRENCIES: text })).toThrow(
      `BASE_CURRENCIES: "${text}" is not allowed; it must be ISO 4217 codes such as CHF,SEK, separated by commas`,
    );
  });

  it('a fiat currency has its ISO 4217 decimals', () => {
    expect(['CHF', 'JPY', 'KWD', 'EUR', 'BTC'].map((code) => fiatCurrency(code)?.decimals)).toEqual([
      ...[2, 0, 3, 2, undefined],
    ]);
  });
});

it('records in a currency that was taken out stay readable, and no new ones are made', () => {
  const without = createCurrencies(currenciesWith([]), []);
  expect([without.known('CHF').decimals, without.find('CHF')]).toEqual([2, undefined]);
  expect(() => without.known('XYZ')).toThrow('The currency XYZ is not configured');
});

it('a currency that the server does not have is refused with those that it has', async () => {
  const server = await startServer({ engine: sqlite });
  try {
    const body = { amount: 10, baseCurrency: 'CHF' };
    expect(await server.api('POST', '/v1/payments/checkout', { body })).toMatchObject({
      status: 400,
      body: {
        message: expect.stringMatching(
          /^CHF is not a currency of this server\. It has USDT, BTC, .*EUR, /,
        ) as string,
        data: { code: 'unsupported_currency', param: 'baseCurrency' },
      },
    });
  } finally {
    await server.stop();
  }
});
