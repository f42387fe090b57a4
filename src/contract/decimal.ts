/**
 * Exact decimal arithmetic: all amounts of money go through these functions.
 * A decimal is a plain string such as "0.0000007", without exponent, sign or separators.
 */

const plain = /^\d+(\.\d+)?$/;

/** The most characters of a number that arrives as text: enough for 15 digits and the decimals of every coin. */
export const longestNumber = 40;

/**
 * Parses a JSON number or numeric string into a plain decimal.
 *
 * @returns undefined if it is not a number, not finite, negative, longer than 40 characters, or has more than the 15
 *   significant digits that a double can hold
 */
export function parseDecimal(value: number | string): string | undefined {
  const given = typeof value === 'number' ? decimalOf(value) : (value as string | undefined);
  if (!given || given.length > longestNumber) return undefined;
  const text = given.trim();
  if (!plain.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  const integer = whole.replace(/^0+(?=\d)/, '');
  // Not by a pattern: 0+ before $ rescans the text from each zero.
  let end = fraction.length;
  while (fraction[end - 1] === '0') end -= 1;
  const decimals = fraction.slice(0, end);
  if (/[1-9]\d{15}/.test(integer + decimals)) return undefined;
  return decimals ? `${integer}.${decimals}` : integer;
}

/** The number of digits after the decimal point: "1.50" has 2. */
export function countDecimals(decimal: string): number {
  return decimal.split('.')[1]?.length ?? 0;
}

/** A JSON number as a plain decimal: 7e-7 → "0.0000007". It restores the decimal that the API wrote as a number. */
export function decimalOf(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, '0');
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
