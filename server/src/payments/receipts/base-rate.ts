/** How the exact worth of a receipt is kept: `numerator/denominator`, in lowest terms. */
import { reduced, type Fraction } from '../../money/fractions.js';

export function writeFraction({ numerator, denominator }: Fraction): string {
  const lowest = reduced(numerator, denominator);
  return `${lowest.numerator}/${lowest.denominator}`;
}

export function parseFraction(text: string | null): Fraction | null {
  if (text === null) return null;
  const [numerator = '', denominator = ''] = text.split('/');
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}
