/**
 * An order's relation to its payment: the request that creates it, whether a payment is this order's, and its return
 * URL.
 */
import type { CreatePaymentBody } from '../client/checkout-client.js';
import type { Payment } from '../contract/checkout.js';
import { decimalOf, parseDecimal } from '../contract/decimal.js';
import type { Order } from './order.js';

/** False if the remembered payment has another amount: the cart has changed since. */
export function matchesOrder(payment: Payment, order: Order): boolean {
  if (order.amount === undefined || order.paymentId !== undefined) return true;
  return (
    parseDecimal(order.amount) === decimalOf(payment.baseAmount) &&
    order.baseCurrency?.toUpperCase() === payment.baseCurrency.toUpperCase()
  );
}

/** True if a payment has this reference, with or without the counter of a later attempt. */
export function hasReference({ txRef = '' }: Payment, reference: string): boolean {
  return txRef.startsWith(reference) && /^(:\d+)?$/.test(txRef.slice(reference.length));
}

/**
 * The request that creates the order's payment. A reference can be used for one payment only, so later attempts
 * append a counter: `order-42`, then `order-42:2`.
 *
 * @param previous the order's previous payment, which has ended; it fills in the price, the reference and where to return to.
 *   Its payer cannot be filled in: a public key reads only an abbreviated name and email
 */
export function createPaymentBody(order: Order, attempt: number, previous?: Payment): CreatePaymentBody {
  // Only the page's own payment has the reference without a counter.
  const isFirst = previous?.id === order.paymentId;
  const txRef = order.txRef ?? (isFirst ? previous?.txRef : previous?.txRef?.replace(/:\d{1,9}$/, ''));
  const { customerEmail: email, customerName: name, customerPhone: phoneNumber } = order;
  const redirectUrl = order.redirectUrl ?? previous?.redirectUrl;
  return {
    amount: order.amount ?? previous?.baseAmount ?? '',
    baseCurrency: order.baseCurrency ?? previous?.baseCurrency ?? '',
    txRef: txRef && attempt > 1 ? `${txRef}:${attempt}` : txRef,
    redirectUrl: redirectUrl || undefined,
    customer: email || name || phoneNumber ? { email, name, phoneNumber } : undefined,
  };
}

/** False if the reference leaves no room for the longest counter: the server takes 100 characters. */
export function hasRoomForNext(order: Order, payment: Payment): boolean {
  return (createPaymentBody(order, 999_999_999, payment).txRef ?? '').length <= 100;
}

/**
 * The URL that the payer goes to after success, with the payment's reference, id and status. Only http and https:
 * `javascript:` URLs would run in the page.
 */
export function redirectTarget(order: Order, payment: Payment | undefined): string | undefined {
  try {
    const url = new URL(payment?.redirectUrl || order.redirectUrl || '');
    const { searchParams } = url;
    searchParams.set('txRef', payment?.txRef ?? '');
    searchParams.set('paymentId', payment?.id ?? '');
    searchParams.set('status', payment?.status ?? '');
    return /^https?:$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** True if the page may go there automatically: the merchant chose the URL, in the tag or on its server. */
export function isTrusted({ redirectUrl }: Order, payment: Payment): boolean {
  if (payment.isRedirectTrusted === true || payment.redirectUrl === redirectUrl) return true;
  try {
    // The server keeps it as browsers write it. Not URL.canParse: phones that are still in use do not have it.
    return payment.redirectUrl === new URL(redirectUrl ?? '').href;
  } catch {
    return false;
  }
}
