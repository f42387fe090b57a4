/** Remembers, in this browser, what wallets were asked to send. */
import type { Payment } from '../contract/checkout.js';
import { loadItem } from '../platform.js';

/** Prefix of the payment's id. */
export const requestsPrefix = 'crypto-checkout:sent:';

/** True if a wallet was asked to pay: money may be under way that the server has not seen. */
export function wasAsked({ id }: Payment): boolean {
  // A list, which is empty again once the wallet has refused.
  return (loadItem(requestsPrefix + id) ?? '').length > 2;
}
