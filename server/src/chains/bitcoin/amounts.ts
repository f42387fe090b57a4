/** Converts the amounts in Bitcoin Core's answers, which are JSON numbers of whole coins, to satoshis. */

/**
 * Above this, doubles are more than a satoshi apart. No output can be as large: there will never be 67 million bitcoins,
 * and one output would have to hold four fifths of all litecoins.
 */
const tooLarge = 2 ** 26;

/**
 * Exact, although the number went through a double: below 2^26, a double differs from the decimal that was parsed by
 * less than half a satoshi (2^-28), and `toFixed` rounds to the nearest one, without any arithmetic.
 * @returns undefined if the value is not an amount with at most eight decimals
 */
export function readSatoshis(value: unknown): bigint | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value >= tooLarge) return undefined;
  const decimal = value.toFixed(8);
  // More decimals than eight would have been rounded away.
  if (Number(decimal) !== value) return undefined;
  return BigInt(decimal.replace('.', ''));
}
