/** Proof, inside this process, that the server has confirmed a payment. */
import type { PaymentMetadata } from '@vendure/core';

/** A storefront's metadata is JSON, so it is never an instance of this class. */
export class VerifiedPayment {
  /** @param amount its part of the order's price, in the smallest unit of the order's currency */
  constructor(
    readonly checkoutId: string,
    readonly amount: number,
    readonly metadata: PaymentMetadata,
  ) {}
}
