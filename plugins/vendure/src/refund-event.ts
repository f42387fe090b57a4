/** The event that an email can be made of: a refund waits for its payer's address. */
import { VendureEvent, type Order, type RequestContext } from '@vendure/core';

/**
 * `claimUrl` is worth money: send it to the customer's own address only, and show it nowhere else. It is undefined if the
 * crypto-checkout server sends it to the payer.
 */
export class CryptoRefundEvent extends VendureEvent {
  constructor(
    readonly ctx: RequestContext,
    readonly order: Order,
    readonly refundId: string,
    readonly claimUrl: string | undefined,
  ) {
    super();
  }
}
