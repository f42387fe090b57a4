/** The check of a transfer, which the widget loads when its payer asks for it. */
import type { Route } from './endpoint.js';
import * as s from './shape.js';

/** A transaction's relation to this payment. */
export const transferCheck = s.object({
  answer: s.oneOf(['paid_this', 'other_coin', 'other_address', 'failed', 'unknown']),
  network: s.string,
  currency: s.optional(s.string),
  amount: s.optional(s.number),
  confirmations: s.optional(s.number),
  requiredConfirmations: s.optional(s.number),
});

export type TransferCheck = s.Output<typeof transferCheck>;

export const checkTransferRoute = {
  method: 'GET',
  path: '/v1/payments/{payment_id}/transfers/{hash}',
  key: 'public',
} as const satisfies Route;
