/** Decimals as smallest units and back: exact arithmetic. */

const plain = /^\d+(\.\d+)?$/;

/**
 * Converts a decimal to smallest units: ("1.5", 6) → 1500000n.
 *
 * @throws RangeError if it is not a plain decimal, or has more decimals than the unit
 */
export function toUnits(decimal: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (!plain.test(decimal) || fraction.length > decimals) {
    throw new RangeError(`"${decimal}" is not a decimal with at most ${decimals} decimals`);
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Converts smallest units to a decimal without trailing zeros: (1500000n, 6) → "1.5". */
export function fromUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0{1,20}$/, '');
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`);
}
