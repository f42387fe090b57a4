/** The order as the tag's attributes describe it: all that the pay button needs of it. */
import { parseDecimal } from '../contract/decimal.js';
import { PaymentMemory } from './payment-memory.js';

/** The tag's attributes; missing ones are undefined. */
export interface Order {
  /** The API's base URL, without a trailing slash. */
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

/** Whether a key is one that must never be in a page. */
export function isSecretKey(publicKey: string): boolean {
  return publicKey.startsWith('sk_');
}

/** False if no payment can start: an attribute is missing or wrong. order-problems.ts says which. */
export function isPayable(order: Order): boolean {
  const { publicKey, apiUrl, paymentId, amount = '', baseCurrency = '', txRef = '-', redirectUrl } = order;
  if (!/^pk_(test|live)_./.test(publicKey) || !/^https?:\/\/./.test(apiUrl)) return false;
  if (paymentId !== undefined) return true;
  const isPrice = /[1-9]/.test(parseDecimal(amount)?.replace(/^-.*/, '') ?? '');
  const hasTarget = redirectUrl === undefined || /^https?:\/\/./.test(redirectUrl);
  return isPrice && /^[\w.:-]{1,100}$/.test(txRef) && hasTarget && /^[a-z]{3,10}$/i.test(baseCurrency);
}

/** The memory of the order's payment. An order without a reference is identified by its amount. */
export function memoryFor(order: Order): PaymentMemory {
  const { apiUrl, publicKey, paymentId, txRef, amount, baseCurrency } = order;
  return new PaymentMemory([apiUrl, publicKey, paymentId ?? txRef ?? `${amount} ${baseCurrency}`]);
}
