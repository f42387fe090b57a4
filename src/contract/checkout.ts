/**
 * The endpoints that a browser can call with a public key, and the shapes of their replies.
 * The widget loads nothing else of the contract but the parser of these shapes, so keep it small: what only servers and docs
 * need (request shapes, descriptions, samples) is in payments.ts and transactions.ts, and these shapes as zod schemas in
 * checkout-schemas.ts.
 */
import type { Route } from './endpoint.js';
import { paymentStates, paymentStatuses } from './payment-states.js';
import * as s from './shape.js';

export const paymentStatus = s.oneOf(paymentStatuses);

/** The detailed state behind `status`. Other servers do not send it. */
export const paymentState = s.oneOf(Object.values(paymentStates).flat());

/** The amounts (plain decimals in `currency`), codes and counts that an entry's text names, as strings. */
export const logValues = s.object({
  currency: s.optional(s.string),
  network: s.optional(s.string),
  amount: s.optional(s.string),
  seen: s.optional(s.string),
  received: s.optional(s.string),
  excess: s.optional(s.string),
  feeKept: s.optional(s.string),
  confirmations: s.optional(s.string),
});

export const logEntry = s.object({
  time: s.string,
  type: s.oneOf(['event', 'success', 'error']),
  /** In English. */
  event: s.string,
  /** The event, and the values that its text names. Our addition; other servers do not send them. */
  code: s.optional(s.string),
  values: s.optional(logValues),
});

/** The owner of the hash in `txHash`: coins that a contract sent have no transaction of their own, but a block. */
const hashOf = s.oneOf(['transaction', 'block']);

/** A transfer to the payment's address. Our addition; other servers do not send it. */
export const receiptView = s.object({
  currency: s.string,
  network: s.string,
  amount: s.number,
  txHash: s.string,
  hashOf: s.optional(hashOf),
  /** The page of the transaction or block. Empty if the network has no explorer. */
  explorerUrl: s.string,
  confirmations: s.number,
  requiredConfirmations: s.number,
  firstSeenAt: s.string,
  status: s.oneOf(['seen', 'confirmed', 'lost']),
  /** False if its currency or network is not the payment's. It is credited anyway. */
  counts: s.boolean,
});

/** Transfers that are not in a payment's `receipts`, added up: those before the last ones, and dust. Our addition. */
export const unlistedReceipts = s.object({
  network: s.string,
  currency: s.string,
  count: s.number,
  amount: s.number,
});

/** A currency on a network that the payer can choose, with indicative amounts in that currency. */
export const currencyOption = s.object({
  currency: s.string,
  name: s.string,
  network: s.string,
  networkName: s.string,
  amount: s.number,
  fee: s.number,
  minAmount: s.number,
  confirmations: s.number,
  /**
   * The usual time between two blocks, and true if sending usually costs the payer more than some cents. Our addition.
   */
  blockSeconds: s.optional(s.number),
  isCostly: s.optional(s.boolean),
  /** The usual cost of sending for the payer, in dollars. Our addition. */
  networkFee: s.optional(s.number),
});

const customerDetails = s.object({
  email: s.optional(s.string),
  fullName: s.optional(s.string),
  phoneNumber: s.optional(s.string),
});

export const branding = s.object({
  id: s.string,
  businessName: s.string,
  name: s.string,
  logo: s.string,
  /** An https or mailto URL where payers get help, or empty. Our addition; other servers do not send it. */
  supportUrl: s.optional(s.string),
  createdAt: s.string,
  updatedAt: s.string,
});

/** The data that a wallet in the browser needs to pay without typing. Only EVM networks with real nodes have it. */
export const evmAsset = s.object({
  chainId: s.number,
  /** Decimals of the amounts on the chain: USDT has 6 on Ethereum and 18 on BNB Smart Chain. */
  decimals: s.number,
  /** The token's contract; absent for the network's own coin. */
  contract: s.optional(s.string),
  /** Code of the network's own coin, in which its fees are paid. */
  coin: s.string,
  /** A JSON-RPC URL that everybody may use, for wallets that do not know the network yet. */
  rpcUrl: s.optional(s.string),
  /** The page of a transaction in a block explorer, with `{txHash}` for its hash. */
  explorer: s.optional(s.string),
});

/**
 * A payment; the transaction with the same id has the same shape. Amounts are decimal numbers with at most 15
 * significant digits. `amount`, `fee` and the received amounts are in `currency`, the base amounts in `baseCurrency`.
 */
export const payment = s.object({
  id: s.string,
  _id: s.optional(s.string),
  /** `test` money is simulated or worthless. Our addition; other servers do not send it. */
  mode: s.optional(s.oneOf(['test', 'live'])),
  status: paymentStatus,
  state: s.optional(paymentState),
  description: s.string,
  txRef: s.optional(s.string),
  redirectUrl: s.optional(s.string),
  /** True if the page may go to `redirectUrl` automatically; otherwise it has to show the host and ask. */
  isRedirectTrusted: s.optional(s.boolean),
  fee: s.optional(s.number),
  currency: s.optional(s.string),
  currencyName: s.optional(s.string),
  currencyNetwork: s.optional(s.string),
  networkName: s.optional(s.string),
  /** The usual time between two blocks of its network. Our addition; other servers do not send it. */
  blockSeconds: s.optional(s.number),
  amount: s.optional(s.number),
  /** Confirmed funds, in the paying currency. */
  amountReceived: s.optional(s.number),
  /** All funds seen, in the paying currency, including unconfirmed ones. */
  amountSeen: s.optional(s.number),
  /** Amount still to send: `amount` minus `amountSeen`, rounded up to the payable decimals, at least 0. */
  amountDue: s.optional(s.number),
  /** Confirmations of the latest incoming transaction that counts, and the number it needs. */
  confirmations: s.optional(s.number),
  confirmationsRequired: s.optional(s.number),
  nairaValue: s.optional(s.number),
  dollarValue: s.optional(s.number),
  baseAmount: s.number,
  baseCurrency: s.string,
  currencies: s.array(s.string),
  currencyOptions: s.optional(s.array(currencyOption)),
  /** Unix epoch milliseconds. */
  expiresBy: s.optional(s.number),
  /** Its hosted page, for another device or a wallet's browser, and its receipt. Our addition. */
  pageUrl: s.optional(s.string),
  receiptUrl: s.optional(s.string),
  transactionFees: s.number,
  totalDue: s.number,
  customer: s.string,
  /** To public keys, the email and the name are abbreviated, and the phone number is absent. */
  customerDetails: s.optional(customerDetails),
  addressInformation: s.optional(s.object({ address: s.string, network: s.string, id: s.string })),
  /** From the lock on. Our addition; other servers do not send it. */
  evm: s.optional(evmAsset),
  /** The addresses that the listed receipts came from, at most 20 for each. */
  addressSentFrom: s.array(s.string),
  /** The last 50 entries. */
  transactionTimeLog: s.array(logEntry),
  /** Number of entries before these; absent if there are none. Our addition. */
  unlistedLogEntries: s.optional(s.number),
  /** The last 20 that are not dust. */
  receipts: s.optional(s.array(receiptView)),
  /** Absent if all are in `receipts`. */
  unlistedReceipts: s.optional(s.array(unlistedReceipts)),
  isCurrencyLocked: s.boolean,
  createdAt: s.string,
  branding: s.optional(branding),
});

export const createdPayment = s.object({ payment, url: s.string });

export type Payment = s.Output<typeof payment>;
export type CurrencyOption = s.Output<typeof currencyOption>;
export type EvmAsset = s.Output<typeof evmAsset>;
export type ReceiptView = s.Output<typeof receiptView>;
export type LogEntry = s.Output<typeof logEntry>;
export type CreatedPayment = s.Output<typeof createdPayment>;

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
