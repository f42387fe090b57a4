/** An answer of the payment API about a payment of an order. */
import type { MerchantClient, Verification } from 'crypto-checkout/client';

export type Transaction = Awaited<ReturnType<MerchantClient['transactions']['verify']>>['data'];

type Refund = NonNullable<Transaction['refunds']>[number];

/** It ended without a payment, so that its coins are still there. */
export const hasEnded = ({ status }: Refund): boolean => ['cancelled', 'expired', 'failed'].includes(status);

/** The API's answer, as of now. */
export interface Answer {
  /** The payment that was captured, that pays, or otherwise the first one. */
  readonly transaction: Transaction;
  readonly verification: Verification;
  /** Further payments that are paid too: they have to go back. */
  readonly paidAgain: readonly Transaction[];
}
