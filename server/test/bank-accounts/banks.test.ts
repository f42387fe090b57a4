/** The lists of banks: their contents, and how banks are found in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createBanks } from '../../src/core/bank-accounts/banks.js';
import { currencies } from '../../src/core/money/currency-list.js';

const banks = createBanks();
const directory = fileURLToPath(new URL('../../data/banks/', import.meta.url));
const countries = readdirSync(directory).map((file) => file.slice(0, 2).toUpperCase());

it('Nigeria, Ghana, Kenya and South Africa have a list', () => {
  expect(countries.sort()).toEqual(['GH', 'KE', 'NG', 'ZA']);
});

describe.each(countries)('the banks of %s', (country) => {
  const list = banks.list(country);

  it('A list of banks names its source', () => {
    const { source } = JSON.parse(readFileSync(`${directory}${country.toLowerCase()}.json`, 'utf8')) as {
      source: string;
    };
    expect(source.length).toBeGreaterThan(40);
  });

  it('The banks of a country are sorted by name, with unique codes and names, in a currency of the server', () => {
    const names = list.map(({ name }) => name.toLowerCase());
    expect(names).toEqual([...names].sort());
    expect(new Set(names).size).toBe(list.length);
    expect(new Set(list.map(({ code }) => code)).size).toBe(list.length);
    expect(currencies.map(({ code }) => code)).toContain(list[0]?.currency);
    expect(list.every((bank) => bank.country === country && bank.currency === list[0]?.currency)).toBe(true);
  });

  it('Every bank is found by its code, and by its name in any case', () => {
    for (const bank of list) {
      expect(banks.find(country, bank.code)).toBe(bank);
      expect(banks.find(country, bank.name.toUpperCase())).toBe(bank);
      expect(banks.findAnywhere(bank.code)).toBe(bank);
    }
  });
});

it.each([
  ['Access Bank', '044'],
  ['Citibank Nigeria', '023'],
  ['Ecobank Nigeria', '050'],
  ['Fidelity Bank', '070'],
  ['First Bank of Nigeria', '011'],
  ['First City Monument Bank', '214'],
  ['Globus Bank', '103'],
  ['Guaranty Trust Bank', '058'],
  ['Jaiz Bank', '301'],
  ['Keystone Bank', '082'],
  ['Kuda Bank', '50211'],
  ['Moniepoint Microfinance Bank', '50515'],
  ['OPay', '999992'],
  ['PalmPay', '999991'],
  ['Polaris Bank', '076'],
  ['Providus Bank', '101'],
  ['Stanbic IBTC Bank', '221'],
  ['Standard Chartered Bank', '068'],
  ['Sterling Bank', '232'],
  ['TAJBank', '302'],
  ['Union Bank of Nigeria', '032'],
  ['United Bank for Africa', '033'],
  ['Unity Bank', '215'],
  ['Wema Bank', '035'],
  ['Zenith Bank', '057'],
])('%s in Nigeria has the code %s', (name, code) => {
  expect(banks.find('NG', name)?.code).toBe(code);
});

it('Banks that use phone numbers as account numbers have no check digit', () => {
  for (const code of ['999992', '999991', '120003']) {
    expect(banks.find('NG', code)).toMatchObject({ code });
    expect(banks.find('NG', code)?.nubanCode).toBeUndefined();
  }
});

it('Nothing is found in another country or by an unknown name', () => {
  expect(banks.find('GH', '044')).toBeUndefined();
  expect(banks.find('XX', '044')).toBeUndefined();
  expect(banks.findAnywhere('Nobody’s Bank')).toBeUndefined();
  expect(banks.list('XX')).toEqual([]);
});
