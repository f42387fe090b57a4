/** The worth of coins at the rate of a payment, as the checkout and the receipt show it. */

/**
 * Value of `part` of `whole` coins, when `whole` is worth `price`. For display only: it is rounded to six digits. The
 * coins due are rounded themselves, and more digits would show only that.
 */
export function worthOf(part: number, whole: number, price: number): number {
  return whole > 0 ? Number(((price * part) / whole).toPrecision(6)) : 0;
}
