/** Sums too small to matter: anyone can send them to a payment, thousands of times. */
import { toUnits } from 'crypto-checkout/contract';
import type { Currencies } from '../money/currencies.js';
import { countsTowards } from './assess.js';
import type { PaymentRow } from './store.js';

/**
 * A payment's amount contains at least this many times the largest dust: less than the network's smallest amount can be
 * a rest.
 */
const dustPerPayment = 100n;

interface Sum {
  readonly currency: string;
  readonly network: string;
  readonly amount: bigint;
}

/** True if a sum is dust for a payment. */
export function isDust(
  currencies: Currencies,
  payment: Pick<PaymentRow, 'mode' | 'currency' | 'network' | 'amount'>,
  { currency, network, amount }: Sum,
): boolean {
  const { assets } = currencies.network(payment.mode, network) ?? {};
  const minimum = toUnits(assets?.[currency]?.minAmount ?? '0', currencies.known(currency).decimals);
  if (amount >= minimum) return false;
  const isPart = countsTowards(payment, { currency, network });
  return !isPart || amount * dustPerPayment < (payment.amount ?? 0n);
}
