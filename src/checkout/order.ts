/** The order in the tag's attributes: everything that the pay button needs. */
import { decimalOf, parseDecimal } from '../contract/decimal.js';
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

/** Attributes that go into the order unchanged; empty ones count as missing. */
const textAttributes = [
  'paymentId',
  'txRef',
  'customerEmail',
  'customerName',
  'customerPhone',
  'redirectUrl',
  'currency',
  'network',
] as const;

type Attributes = Readonly<Record<Exclude<keyof Order, 'amount'>, string | undefined>> & {
  readonly amount: string | number | undefined;
};

/** Parsing it takes a slow phone a millisecond, and the order is read often. */
let scriptOrigin: string | undefined;

/** The order that a tag describes. Without an `api-url`, the API is at this script's origin. */
export function orderOf(tag: Attributes): Order {
  const { apiUrl, publicKey, amount, baseCurrency } = tag;
  return {
    ...Object.fromEntries(textAttributes.map((name) => [name, tag[name] || undefined])),
    baseCurrency: (isNothing(baseCurrency) ? baseCurrency : baseCurrency?.toUpperCase()) || undefined,
    // A path is relative to the page's own server.
    apiUrl: (apiUrl || (scriptOrigin ??= new URL(import.meta.url).origin))
      .replace(/^\//, `${location.origin}/`)
      .replace(/\/{1,20}$/, ''),
    publicKey: publicKey ?? '',
    amount: (typeof amount === 'number' ? decimalOf(amount) : amount?.trim()) || undefined,
  };
}

/** True for a key that must never be in a page. */
export function isSecretKey(publicKey: string): boolean {
  return publicKey.startsWith('sk_');
}

/** True for the texts that scripts write for a missing value. In other letters, it is a name: there are people called Null. */
export function isNothing(value: string | null | undefined): boolean {
  return /^(undefined|null|NaN|\[object .+)$/.test(value ?? '');
}

/** The attribute with such a text; undefined if there is none. */
export function nothingIn(order: Order): [attribute: string, value: string] | undefined {
  return Object.entries(order).find(([, value]: [string, string | undefined]) => isNothing(value));
}

/** The first attribute that keeps a payment from starting; undefined if there is none. order-problems.ts says what is wrong with it. */
export function wrongAttribute(order: Order) {
  const { publicKey, apiUrl, paymentId, amount = '', baseCurrency = '', txRef = '-', redirectUrl } = order;
  if (nothingIn(order)) return 'nothing';
  if (!/^pk_(test|live)_[!-~]+$/.test(publicKey)) return 'public-key';
  if (!isWebAddress(apiUrl)) return 'api-url';
  if (paymentId !== undefined) return undefined;
  if (!/[1-9]/.test(parseDecimal(amount) ?? '')) return 'amount';
  if (!/^[a-z]{3,10}$/i.test(baseCurrency)) return 'base-currency';
  if (!/^[\w.:-]{1,100}$/.test(txRef)) return 'tx-ref';
  return redirectUrl === undefined || isWebAddress(redirectUrl) ? undefined : 'redirect-url';
}

/** True if a payment can start. */
export function isPayable(order: Order): boolean {
  return wrongAttribute(order) === undefined;
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\/./.test(url);
}

/** The memory of the order's payment. An order without a reference is identified by its amount. */
export function memoryFor(order: Order): PaymentMemory {
  const { apiUrl, publicKey, paymentId, txRef, amount, baseCurrency } = order;
  return new PaymentMemory([apiUrl, publicKey, paymentId ?? txRef ?? `${amount} ${baseCurrency}`]);
}
