/**
 * Decimal amounts as strings and integers: the only arithmetic that money goes through.
 * A decimal is a plain string such as "0.0000007": no exponent, no sign, no separators.
 */

const plain = /^\d+(\.\d+)?$/;

/**
 * The plain decimal that a JSON number or numeric string stands for, or undefined where it is none:
 * NaN, infinite, negative, more than 15 significant digits (a double would not hold it), or not a number.
 */
export function parseDecimal(value: number | string): string | undefined {
  const text = typeof value === 'number' ? expandExponent(String(value)) : value.trim();
  if (!plain.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  const integer = whole.replace(/^0+(?=\d)/, '');
  const decimals = fraction.replace(/0+$/, '');
  if ((integer + decimals).replace(/^0+/, '').length > 15) return undefined;
  return decimals === '' ? integer : `${integer}.${decimals}`;
}

/** How many digits stand behind the point: "1.50" has 2. */
export function countDecimals(decimal: string): number {
  return decimal.split('.')[1]?.length ?? 0;
}

/** The integer of smallest units: ("1.5", 6) → 1500000n. More decimals than the unit has are an error. */
export function toUnits(decimal: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (!plain.test(decimal) || fraction.length > decimals) {
    throw new RangeError(`"${decimal}" is not a decimal with at most ${decimals} decimals`);
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** The plain decimal of an integer of smallest units, without trailing zeros: (1500000n, 6) → "1.5". */
export function fromUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`);
}

/** A JSON number as a plain decimal: 7e-7 → "0.0000007". The reverse of what the API writes. */
export function decimalOf(value: number): string {
  return expandExponent(String(value));
}

function expandExponent(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, '0');
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
