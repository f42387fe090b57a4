/** The text that amounts are sorted by, and the masks of destinations. */
import { describe, expect, it } from 'vitest';
import { currencies } from '../../src/chains/assets.js';
import { maskDestination } from '../../src/payouts/mask.js';
import { orderOfDecimal, orderOfUnits } from '../../src/payouts/order.js';

const currencyOf = (code: string) => {
  const found = currencies.find((currency) => currency.code === code);
  if (!found) throw new Error(code);
  return found;
};

describe('the order of amounts', () => {
  it('is that of the numbers, in every currency', () => {
    const ascending = [
      orderOfUnits(0n, currencyOf('USDT')),
      orderOfUnits(1n, currencyOf('ETH')),
      orderOfUnits(1n, currencyOf('BTC')),
      orderOfUnits(9n, currencyOf('USDT')),
      orderOfUnits(1n, currencyOf('NGN')),
      orderOfUnits(9_000_000n, currencyOf('USDT')),
      orderOfUnits(10_000_000_000_000_000_000n, currencyOf('ETH')),
      orderOfUnits(1_100n, currencyOf('NGN')),
      orderOfUnits(99_999_999_999_999_999n, currencyOf('NGN')),
    ];
    expect([...ascending].sort()).toEqual(ascending);
    expect(new Set(ascending.map(({ length }) => length)).size).toBe(1);
  });

  it('has a place for every decimal', () => {
    expect(orderOfDecimal('10', 'up')).toBe(orderOfUnits(10_000_000n, currencyOf('USDT')));
    expect(orderOfDecimal('0.5', 'down')).toBe(orderOfUnits(50n, currencyOf('NGN')));
    const between = '0.0000000000000000015';
    expect(orderOfDecimal(between, 'down')).toBe(orderOfUnits(1n, currencyOf('ETH')));
    expect(orderOfDecimal(between, 'up')).toBe(orderOfUnits(2n, currencyOf('ETH')));
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
