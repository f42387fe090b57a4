/**
 * The endpoints that a browser can call with a public key, and the shapes of their replies.
 * This is the only part of the contract that the widget loads, so keep it small: what only servers and docs need
 * (request shapes, descriptions, samples) is in payments.ts and transactions.ts.
 */
import * as z from 'zod/mini';
import type { Route } from './endpoint.js';

/** ISO 8601 in UTC with milliseconds. The widget only shows times, so what it loads does not check them. */
export const timestamp = /* @__PURE__ */ z
  .string()
  .check(/* @__PURE__ */ z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));

export const paymentStatus = z.enum(['in progress', 'error', 'cancelled', 'success']);

/**
 * The detailed state behind `status`. It is our addition to the specification; other servers do not send it.
 *
 * - `in progress`: created, currency_set, awaiting_funds, partially_paid, confirming
 * - `success`: settled, settled_over, settled_late
 * - `error`: expired, expired_partial (less than the amount due arrived), expired_late (paid late and not accepted),
 *   invalid (only wrong assets arrived), reversed (a reorg removed a settled transaction)
 * - `cancelled`: cancelled, cancelled_paid (funds arrived after the cancellation and were credited)
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

/** The amounts (plain decimals in `currency`), codes and counts that an entry's text names, as strings. */
export const logValues = z.object({
  currency: z.optional(z.string()),
  network: z.optional(z.string()),
  amount: z.optional(z.string()),
  seen: z.optional(z.string()),
  received: z.optional(z.string()),
  excess: z.optional(z.string()),
  confirmations: z.optional(z.string()),
});

export const logEntry = z.object({
  time: z.string(),
  type: z.enum(['event', 'success', 'error']),
  /** In English. */
  event: z.string(),
  /** What happened, and the values that its text names. Our addition; other servers do not send them. */
  code: z.optional(z.string()),
  values: z.optional(logValues),
});

/** Whose hash `txHash` is: coins that a contract sent have no transaction of their own, but a block. */
export const hashOf = z.enum(['transaction', 'block']);

/** A transfer to the payment's address. Our addition; other servers do not send it. */
export const receiptView = z.object({
  currency: z.string(),
  network: z.string(),
  amount: z.number(),
  txHash: z.string(),
  hashOf: z.optional(hashOf),
  /** The page of the transaction or block. Empty if the network has no explorer. */
  explorerUrl: z.string(),
  confirmations: z.number(),
  requiredConfirmations: z.number(),
  firstSeenAt: z.string(),
  status: z.enum(['seen', 'confirmed', 'lost']),
  /** False if its currency or network is not the payment's. It is credited all the same. */
  counts: z.boolean(),
});

/** A currency on a network that the payer can choose, with indicative amounts in that currency. */
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

export const branding = z.object({
  id: z.string(),
  businessName: z.string(),
  name: z.string(),
  logo: z.string(),
  /** An https or mailto URL where payers get help, or empty. Our addition; other servers do not send it. */
  supportUrl: z.optional(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** What a wallet in the browser needs to pay by itself. Only EVM networks with real nodes have it. */
export const evmAsset = z.object({
  chainId: z.number(),
  /** Decimals of the amounts on the chain: USDT has 6 on Ethereum and 18 on BNB Smart Chain. */
  decimals: z.number(),
  /** The token's contract; absent for the network's own coin. */
  contract: z.optional(z.string()),
  /** Code of the network's own coin, in which its fees are paid. */
  coin: z.string(),
  /** A JSON-RPC URL that everybody may use, for wallets that do not know the network yet. */
  rpcUrl: z.optional(z.string()),
  /** The page of a transaction in a block explorer, with `{txHash}` for its hash. */
  explorer: z.optional(z.string()),
  /** The payment's hosted page, which a wallet app on a phone can open. */
  pageUrl: z.string(),
});

/**
 * A payment; the transaction with the same id has the same shape. Amounts are decimal numbers with at most 15
 * significant digits. `amount`, `fee` and the received amounts are in `currency`, the base amounts in `baseCurrency`.
 */
export const payment = z.object({
  id: z.string(),
  _id: z.optional(z.string()),
  /** `test` money is simulated or worthless. Our addition; other servers do not send it. */
  mode: z.optional(z.enum(['test', 'live'])),
  status: paymentStatus,
  state: z.optional(paymentState),
  description: z.string(),
  txRef: z.optional(z.string()),
  redirectUrl: z.optional(z.string()),
  /** True if the page may go to `redirectUrl` by itself; otherwise it has to show the host and ask. */
  isRedirectTrusted: z.optional(z.boolean()),
  fee: z.optional(z.number()),
  currency: z.optional(z.string()),
  currencyName: z.optional(z.string()),
  currencyNetwork: z.optional(z.string()),
  networkName: z.optional(z.string()),
  amount: z.optional(z.number()),
  /** Confirmed funds, in the paying currency. */
  amountReceived: z.optional(z.number()),
  /** All funds seen, in the paying currency, including unconfirmed ones. */
  amountSeen: z.optional(z.number()),
  /** What is left to send: `amount` minus `amountSeen`, at least 0. */
  amountDue: z.optional(z.number()),
  /** Confirmations of the latest incoming transaction that counts, and how many it needs. */
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
  /** To public keys, the email and the name are abbreviated, and the phone number is absent. */
  customerDetails: z.optional(customerDetails),
  addressInformation: z.optional(z.object({ address: z.string(), network: z.string(), id: z.string() })),
  /** From the lock on. Our addition; other servers do not send it. */
  evm: z.optional(evmAsset),
  addressSentFrom: z.array(z.string()),
  transactionTimeLog: z.array(logEntry),
  receipts: z.optional(z.array(receiptView)),
  isCurrencyLocked: z.boolean(),
  createdAt: z.string(),
  branding: z.optional(branding),
});

export const createdPayment = z.object({ payment, url: z.string() });

export type Payment = z.output<typeof payment>;
export type PaymentStatus = z.output<typeof paymentStatus>;
export type PaymentState = z.output<typeof paymentState>;
export type CurrencyOption = z.output<typeof currencyOption>;
export type EvmAsset = z.output<typeof evmAsset>;
export type ReceiptView = z.output<typeof receiptView>;
export type LogEntry = z.output<typeof logEntry>;
export type CreatedPayment = z.output<typeof createdPayment>;

/** The widget's endpoints. The specification documents the `/checkout/` aliases for public keys. */
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
