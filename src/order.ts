/** What a tag's attributes ask for, and what of it a request or a memory needs. */
import type { Payment } from './contract/checkout.js';
import { decimalOf, parseDecimal } from './contract/decimal.js';
import type { CreatePaymentBody } from './client/checkout-client.js';
import { PaymentMemory } from './payment-memory.js';

/** The attributes as they stand; an absent one is undefined. */
export interface Order {
  /** The API's origin, without a slash at the end. */
  readonly apiUrl: string;
  readonly publicKey: string;
  /** A payment that the merchant's server created. */
  readonly paymentId?: string | undefined;
  /** A decimal string in `baseCurrency`. */
  readonly amount?: string | undefined;
  readonly baseCurrency?: string | undefined;
  readonly txRef?: string | undefined;
  readonly customerEmail?: string | undefined;
  readonly customerName?: string | undefined;
  readonly customerPhone?: string | undefined;
  readonly redirectUrl?: string | undefined;
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
}

/** What tells this order from the merchant's others; an order without a reference is known by its amount. */
export function memoryOf(order: Order): PaymentMemory {
  const { apiUrl, publicKey, paymentId, txRef, amount, baseCurrency } = order;
  return new PaymentMemory([apiUrl, publicKey, paymentId ?? txRef ?? `${amount} ${baseCurrency}`]);
}

/** False for a remembered payment of another amount: the basket has changed since. */
export function isPaymentOf(order: Order, payment: Payment): boolean {
  if (order.amount === undefined || order.paymentId !== undefined) return true;
  return (
    parseDecimal(order.amount) === decimalOf(payment.baseAmount) &&
    order.baseCurrency?.toUpperCase() === payment.baseCurrency.toUpperCase()
  );
}

/**
 * The request that creates the order's payment. A reference is good for one payment only, so a later
 * attempt carries a count: `order-42`, then `order-42:2`.
 *
 * @param replaced the ended payment that the new one stands in for, which fills in what the tag does not say
 */
export function createBody(order: Order, attempt: number, replaced?: Payment): CreatePaymentBody {
  const txRef = order.txRef ?? replaced?.txRef;
  const redirectUrl = order.redirectUrl ?? replaced?.redirectUrl;
  const email = order.customerEmail ?? replaced?.customerDetails?.email;
  const name = order.customerName ?? replaced?.customerDetails?.fullName;
  const phoneNumber = order.customerPhone ?? replaced?.customerDetails?.phoneNumber;
  return {
    amount: order.amount ?? replaced?.baseAmount ?? '',
    baseCurrency: order.baseCurrency ?? replaced?.baseCurrency ?? '',
    txRef: txRef && attempt > 1 ? `${txRef}:${attempt}` : txRef,
    redirectUrl: redirectUrl || undefined,
    customer: email || name || phoneNumber ? { email, name, phoneNumber } : undefined,
  };
}

/** Where the payer goes after success: only http and https, never a script. */
export function redirectTarget(order: Order, payment: Payment | undefined): string | undefined {
  try {
    const url = new URL(payment?.redirectUrl || order.redirectUrl || '');
    return /^https?:$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
