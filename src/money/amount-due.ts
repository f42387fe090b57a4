/** What a payer has still to send. */
import type { Payment } from '../contract/checkout.js';
import { countDecimals, decimalOf, fromUnits, toUnits } from '../contract/decimal.js';

/** In the paying currency, never below 0; from the base fields where a server does not send `amountDue`. */
export function amountDue({ amountDue, amount = 0, amountReceived = 0 }: Payment): number {
  if (amountDue !== undefined) return amountDue;
  const [asked, received] = [decimalOf(amount), decimalOf(amountReceived)];
  const decimals = Math.max(countDecimals(asked), countDecimals(received));
  const units = toUnits(asked, decimals) - toUnits(received, decimals);
  return units > 0n ? Number(fromUnits(units, decimals)) : 0;
}
