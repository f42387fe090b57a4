/**
 * The few endpoints a browser may call with a public key, and the shapes they answer with.
 * All of the contract that the widget loads, so every line here weighs: what only servers and
 * documentation need (request shapes, descriptions, samples) is in payments.ts and transactions.ts.
 */
import * as z from 'zod/mini';
import type { Route } from './endpoint.js';

/** ISO 8601 in UTC with milliseconds. */
export const timestamp = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));

export const paymentStatus = z.enum(['in progress', 'error', 'cancelled', 'success']);

/**
 * The finer state behind `status` (an addition to the specification, absent from other servers).
 * in progress: created, currency_set, awaiting_funds, partially_paid, confirming;
 * success: settled, settled_over, settled_late;
 * error: expired, expired_partial (less than due arrived), expired_late (paid late and not accepted),
 * invalid (only assets that do not count arrived), reversed (a settled receipt left the chain);
 * cancelled: cancelled, cancelled_paid (funds arrived after the cancel and were credited).
 */
export const paymentState = z.enum([
  'created',
  'currency_set',
  'awaiting_funds',
  'partially_paid',
  'confirming',
  'settled',
  'settled_over',
  'settled_late',
  'expired',
  'expired_partial',
  'expired_late',
  'invalid',
  'reversed',
  'cancelled',
  'cancelled_paid',
]);

export const logEntry = z.object({
  time: timestamp,
  type: z.enum(['event', 'success', 'error']),
  event: z.string(),
});

/** One way to pay: a currency on a network, with indicative amounts in that currency. */
export const currencyOption = z.object({
  currency: z.string(),
  name: z.string(),
  network: z.string(),
  networkName: z.string(),
  amount: z.number(),
  fee: z.number(),
  minAmount: z.number(),
  confirmations: z.number(),
});

const customerDetails = z.object({
  email: z.optional(z.string()),
  fullName: z.optional(z.string()),
  phoneNumber: z.optional(z.string()),
});

const branding = z.object({
  id: z.string(),
  businessName: z.string(),
  name: z.string(),
  logo: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

/**
 * A payment, and the transaction record of the same id. Amounts are decimal numbers of at most 15
 * significant digits: `amount`, `fee` and what was received in `currency`, the base fields in `baseCurrency`.
 */
export const payment = z.object({
  id: z.string(),
  _id: z.optional(z.string()),
  status: paymentStatus,
  state: z.optional(paymentState),
  description: z.string(),
  txRef: z.optional(z.string()),
  redirectUrl: z.optional(z.string()),
  fee: z.optional(z.number()),
  currency: z.optional(z.string()),
  currencyName: z.optional(z.string()),
  currencyNetwork: z.optional(z.string()),
  networkName: z.optional(z.string()),
  amount: z.optional(z.number()),
  /** Confirmed receipts in the paying currency. */
  amountReceived: z.optional(z.number()),
  /** Receipts in the paying currency, unconfirmed ones included. */
  amountSeen: z.optional(z.number()),
  /** What is still to be sent: `amount` less `amountSeen`, never below 0. */
  amountDue: z.optional(z.number()),
  /** Confirmations of the youngest receipt that counts, and how many it needs. */
  confirmations: z.optional(z.number()),
  confirmationsRequired: z.optional(z.number()),
  nairaValue: z.optional(z.number()),
  dollarValue: z.optional(z.number()),
  baseAmount: z.number(),
  baseCurrency: z.string(),
  currencies: z.array(z.string()),
  currencyOptions: z.optional(z.array(currencyOption)),
  /** Unix epoch milliseconds. */
  expiresBy: z.optional(z.number()),
  transactionFees: z.number(),
  totalDue: z.number(),
  customer: z.string(),
  customerDetails: z.optional(customerDetails),
  addressInformation: z.optional(z.object({ address: z.string(), network: z.string(), id: z.string() })),
  addressSentFrom: z.array(z.string()),
  transactionTimeLog: z.array(logEntry),
  isCurrencyLocked: z.boolean(),
  createdAt: timestamp,
  branding: z.optional(branding),
});

export const createdPayment = z.object({ payment, url: z.string() });

export type Payment = z.output<typeof payment>;
export type PaymentStatus = z.output<typeof paymentStatus>;
export type PaymentState = z.output<typeof paymentState>;
export type CurrencyOption = z.output<typeof currencyOption>;
export type LogEntry = z.output<typeof logEntry>;
export type CreatedPayment = z.output<typeof createdPayment>;

/** Where the widget calls. The `/checkout/` forms are the paths that public keys were given for. */
export const checkoutRoutes = {
  create: { method: 'POST', path: '/v1/payments/checkout', key: 'public' },
  retrieve: {
    method: 'GET',
    path: '/v1/payments/{payment_id}',
    aliases: ['/v1/payments/checkout/{payment_id}'],
    key: 'public',
  },
  cancel: {
    method: 'PATCH',
    path: '/v1/payments/{payment_id}/cancel',
    aliases: ['/v1/payments/checkout/{payment_id}/cancel'],
    key: 'public',
  },
  setCurrency: {
    method: 'PATCH',
    path: '/v1/payments/{payment_id}/currency/set/{currency}/{network}',
    aliases: ['/v1/payments/checkout/{payment_id}/currency/set/{currency}/{network}'],
    key: 'public',
  },
  lockCurrency: {
    method: 'PATCH',
    path: '/v1/payments/{payment_id}/currency/lock',
    aliases: ['/v1/payments/checkout/{payment_id}/currency/lock'],
    key: 'public',
  },
  verify: { method: 'GET', path: '/v1/transactions/{transaction_id}/verify/checkout', key: 'public' },
} as const satisfies Record<string, Route>;
