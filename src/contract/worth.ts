/** The worth of coins at the rate of a payment, as the checkout and the receipt show it. */

/**
 * Value of `part` of `whole` coins, when `whole` is worth `price`. For display only: it is rounded to six digits, or to whole units. The
 * coins due are rounded themselves, and more digits would show only that.
 */
export function worthOf(part: number, whole: number, price: number): number {
  const worth = whole > 0 ? (price * part) / whole : 0;
  return worth < 1e6 ? Number(worth.toPrecision(6)) : Math.round(worth);
}
