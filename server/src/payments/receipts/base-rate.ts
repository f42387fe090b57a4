/** How the exact worth of a receipt is kept: `numerator/denominator`, in lowest terms. */
import type { Fraction } from '../../money/rates.js';

export function writeFraction({ numerator, denominator }: Fraction): string {
  let [larger, divisor] = [numerator, denominator];
  while (divisor !== 0n) [larger, divisor] = [divisor, larger % divisor];
  return `${numerator / larger}/${denominator / larger}`;
}

export function parseFraction(text: string | null): Fraction | null {
  if (text === null) return null;
  const [numerator = '', denominator = ''] = text.split('/');
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}
