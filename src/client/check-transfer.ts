/** The check of a transfer. Not one of the checkout client's methods, because a page loads it only for payers who ask. */
import { checkTransferRoute, transferCheck, type TransferCheck } from '../contract/transfer-check.js';
import { parseShape } from '../contract/shape.js';
import type { CallOptions, CheckoutClientOptions } from './checkout-client.js';
import { request, type Reply } from './request.js';

/**
 * Asks the server for a transaction's relation to a payment. Read-only, and limited per payer.
 *
 * @param hash 64 hexadecimal digits, with or without 0x
 * @throws what the checkout client's methods throw
 */
export function checkTransfer(
  { publicKey, ...connection }: CheckoutClientOptions,
  paymentId: string,
  hash: string,
  options?: CallOptions,
): Promise<Reply<TransferCheck>> {
  const params = { payment_id: paymentId, hash };
  return request({ ...connection, key: publicKey }, { ...checkTransferRoute, params, ...options }, (data) =>
    parseShape(transferCheck, data, 'data'),
  );
}
