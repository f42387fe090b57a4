/** How much the payer still has to send. */
import type { Payment } from '../contract/checkout.js';
import { countDecimals, decimalOf, fromUnits, toUnits } from '../contract/decimal.js';

/** In the paying currency, at least 0. Computed from the base fields if the server sends no `amountDue`. */
export function amountDue({ amountDue, amount = 0, amountReceived = 0 }: Payment): number {
  if (amountDue !== undefined) return amountDue;
  const [due, received] = [decimalOf(amount), decimalOf(amountReceived)];
  const decimals = Math.max(countDecimals(due), countDecimals(received));
  const units = toUnits(due, decimals) - toUnits(received, decimals);
  return units > 0n ? Number(fromUnits(units, decimals)) : 0;
}
