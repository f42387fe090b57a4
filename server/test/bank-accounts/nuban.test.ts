/** The check digit of Nigerian account numbers, with examples that the Central Bank published. */
import { expect, it } from 'vitest';
import { hasNubanCheckDigit } from '../../src/core/bank-accounts/nuban.js';

it.each([
  // NUBAN standards of 2010: First Bank, 011. The second sum is a multiple of ten.
  ['0000014579', '011'],
  ['0000000220', '011'],
  // Revised standards of 2020, illustration 2: an institution of five digits.
  ['0000214579', '50547'],
  // The contract's sample.
  ['0123456785', '058'],
])('%s is valid at %s, and with no other last digit', (accountNumber, institution) => {
  const digits = Array.from({ length: 10 }, (_, digit) => String(digit)).filter((digit) =>
    hasNubanCheckDigit(accountNumber.slice(0, 9) + digit, institution),
  );
  expect(digits).toEqual([accountNumber.at(-1)]);
});

it('The check digit depends on the institution', () => {
  expect(hasNubanCheckDigit('0000014579', '058')).toBe(false);
  expect(hasNubanCheckDigit('0000214579', '547')).toBe(false);
});
