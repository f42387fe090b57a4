/** An answer of the payment API about a payment of an order. */
import type { MerchantClient, Verification } from 'crypto-checkout/client';

export type Transaction = Awaited<ReturnType<MerchantClient['transactions']['verify']>>['data'];

/** The API's answer, as of now. */
export interface Answer {
  /** The payment that pays, or otherwise the first one. */
  readonly transaction: Transaction;
  readonly verification: Verification;
  /** Further payments that are paid too: they have to go back. */
  readonly paidAgain: readonly Transaction[];
}
