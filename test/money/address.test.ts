/** Addresses are split into groups of four, which join to the same address. */
import { expect, test } from 'vitest';
import { groupAddress } from '../../src/money/address.js';

test('the first two and the last two groups of an address are marked', () => {
  expect(groupAddress('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')).toEqual([
    { text: 'TJRa', isEnd: true },
    { text: 'bPrw', isEnd: true },
    { text: 'bZy4', isEnd: false },
    { text: '5sba', isEnd: false },
    { text: 'vfcj', isEnd: false },
    { text: 'inPJ', isEnd: false },
    { text: 'C18k', isEnd: false },
    { text: 'jpRT', isEnd: true },
    { text: 'v8', isEnd: true },
  ]);
});

test.each([
  'tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl',
  '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  'abc',
  '',
])('the groups of "%s" join to the same address', (address) => {
  const groups = groupAddress(address);
  expect(groups.map(({ text }) => text).join('')).toBe(address);
  expect(groups.slice(0, -1).every(({ text }) => text.length === 4)).toBe(true);
});
