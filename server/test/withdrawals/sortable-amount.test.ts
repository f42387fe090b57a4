/** Amounts as sortable text, and masked destinations. */
import { describe, expect, it } from 'vitest';
import { maskDestination } from '../../src/core/withdrawals/payouts.js';
import { sortableDecimal, sortableUnits } from '../../src/core/withdrawals/sortable-amount.js';
import { currencies } from '../../src/core/money/currency-list.js';

const currencyOf = (code: string) => {
  const found = currencies.find((currency) => currency.code === code);
  if (!found) throw new Error(code);
  return found;
};

describe('sortable amounts', () => {
  it('sort like the numbers, in every currency', () => {
    const ascending = [
      sortableUnits(0n, currencyOf('USDT')),
      sortableUnits(1n, currencyOf('ETH')),
      sortableUnits(1n, currencyOf('BTC')),
      sortableUnits(9n, currencyOf('USDT')),
      sortableUnits(1n, currencyOf('NGN')),
      sortableUnits(9_000_000n, currencyOf('USDT')),
      sortableUnits(10_000_000_000_000_000_000n, currencyOf('ETH')),
      sortableUnits(1_100n, currencyOf('NGN')),
      sortableUnits(99_999_999_999_999_999n, currencyOf('NGN')),
    ];
    expect([...ascending].sort()).toEqual(ascending);
    expect(new Set(ascending.map(({ length }) => length)).size).toBe(1);
  });

  it('exist for every decimal, rounded up or down if necessary', () => {
    expect(sortableDecimal('10', 'up')).toBe(sortableUnits(10_000_000n, currencyOf('USDT')));
    expect(sortableDecimal('0.5', 'down')).toBe(sortableUnits(50n, currencyOf('NGN')));
    const between = '0.0000000000000000015';
    expect(sortableDecimal(between, 'down')).toBe(sortableUnits(1n, currencyOf('ETH')));
    expect(sortableDecimal(between, 'up')).toBe(sortableUnits(2n, currencyOf('ETH')));
  });
});

it.each([
  ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'TJRabP…RTv8'],
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aAe…eAed'],
  ['0690000032', '06…032'],
  ['123456', '1…56'],
  ['12', '…'],
])('%s is masked as %s', (text, masked) => {
  expect(maskDestination(text)).toBe(masked);
});
