/** The amount that the payer still has to send. */
import type { Payment } from '../contract/checkout.js';
import { countDecimals, decimalOf } from '../contract/decimal.js';
import { fromUnits, toUnits } from '../contract/units.js';

export { worthOf } from '../contract/worth.js';

/** In the paying currency, at least 0. Computed from the base fields if the server sends no `amountDue`. */
export function amountDue({
  amountDue,
  amount = 0,
  amountReceived = 0,
}: Pick<Payment, 'amountDue' | 'amount' | 'amountReceived'>): number {
  if (amountDue !== undefined) return amountDue;
  const [due, received] = [decimalOf(amount), decimalOf(amountReceived)];
  const decimals = Math.max(countDecimals(due), countDecimals(received));
  const units = toUnits(due, decimals) - toUnits(received, decimals);
  return units > 0n ? Number(fromUnits(units, decimals)) : 0;
}

/** True if coins arrived for the payment, right or wrong ones, confirmed or not. */
export function hasFunds(payment: Payment): boolean {
  const { amountSeen, amountReceived = 0, receipts = [], unlistedReceipts = [] } = payment;
  const isListed = receipts.some(({ status }) => status !== 'lost');
  return (amountSeen ?? amountReceived) > 0 || isListed || unlistedReceipts.length > 0;
}

/** The amount for a wallet's input field, in any locale: 7e-7 → "0.0000007". */
export function plainAmount(value: number): string {
  return decimalOf(value);
}
