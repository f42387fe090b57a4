/** Exact positive numbers: prices and rates, and what is computed from them. */

export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const decimal = /^(\d{1,30})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Parses the text of a decimal. Undefined if it is not one, or not above 0. */
export function parsePositive(text: string): Fraction | undefined {
  const match = decimal.exec(text);
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return undefined;
  const scale = fraction.length - Number(exponent);
  return scale >= 0
    ? reduced(digits, 10n ** BigInt(scale))
    : { numerator: digits * 10n ** BigInt(-scale), denominator: 1n };
}

/** The price of a dollar in a currency, as the price of the currency in dollars, and the other way round. */
export function inverse({ numerator, denominator }: Fraction): Fraction {
  return { numerator: denominator, denominator: numerator };
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return reduced(a.numerator * b.numerator, a.denominator * b.denominator);
}

export function average(a: Fraction, b: Fraction): Fraction {
  return reduced(
    a.numerator * b.denominator + b.numerator * a.denominator,
    2n * a.denominator * b.denominator,
  );
}

/** Below 0 if `a` is lower, above 0 if it is higher. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** True if a price differs from another by at most a number of percents of the other. */
export function isWithin(price: Fraction, other: Fraction, percents: bigint): boolean {
  const ours = price.numerator * other.denominator;
  const theirs = other.numerator * price.denominator;
  const difference = ours > theirs ? ours - theirs : theirs - ours;
  return difference * 100n <= theirs * percents;
}

export function reduced(numerator: bigint, denominator: bigint): Fraction {
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return { numerator: numerator / a, denominator: denominator / a };
}

/** The stored form of a fraction: `numerator/denominator`, in lowest terms. */
export function writeFraction({ numerator, denominator }: Fraction): string {
  const lowest = reduced(numerator, denominator);
  return `${lowest.numerator}/${lowest.denominator}`;
}

export function parseFraction(text: string | null): Fraction | null {
  if (text === null) return null;
  const [numerator = '', denominator = ''] = text.split('/');
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}
