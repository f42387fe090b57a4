/** A payment as far as the receipts that pay it need to know. */
import type { Mode } from '../db/schema.js';
import { counts } from './assess.js';
import { feeOf } from './quote.js';
import type { PaymentRow } from './store.js';

export interface PaymentToPay {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly baseCurrency: string;
  /** Whether a receipt is in the currency and on the network that the payment is to be paid in. */
  counts(receipt: { currency: string; network: string }): boolean;
  feeOn(amount: bigint): bigint;
}

export function toPay(row: PaymentRow): PaymentToPay {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    mode: row.mode,
    baseCurrency: row.base_currency,
    counts: (receipt) => counts(row, receipt),
    feeOn: (amount) => feeOf(amount, row.fee_basis_points),
  };
}
