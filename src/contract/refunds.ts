/** Refunds: money of a payment that goes back to its payer, and claims, with which payers give the address. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import {
  addressKinds,
  addressText,
  boolean,
  described,
  id,
  listQuery,
  metadata,
  mode,
  positiveDecimal,
  requiredText,
  text,
  timestamp,
} from './fields.js';
import { refundStatus } from './payment-record.js';

export const refundKinds = ['full', 'excess', 'unaccepted', 'partial'] as const;
const kind = z.enum(refundKinds);
const networkFee = z.enum(['merchant', 'payer']);

const refund = z.object({
  id: z.string(),
  mode,
  paymentId: z.string(),
  txRef: z.string(),
  status: refundStatus,
  kind,
  /** The merchant's words to the payer; empty if none were given. */
  reason: z.string(),
  /**
   * Amount that arrives, in `currency`. It never changes, unless the payer bears the network's fee and that was taken
   * out of the coins as they were sent: then `amount` is what arrived, and `fee` has the difference.
   */
  amount: z.number(),
  currency: z.string(),
  network: z.string(),
  networkFee,
  /** The network's fee, in `currency`. The payer's share is not in `amount`; the merchant's is reserved with it. */
  fee: z.number(),
  /** True if the service fee is returned too: always for an excess, otherwise at the merchant's cost. */
  refundFee: z.boolean(),
  /** The service fee that stays taken of the coins that the refund is for, in `currency`; 0 if it goes back too. */
  feeKept: z.number(),
  /** Value of `amount` when the refund was created. `rate` is the price of one coin in the base currency. */
  value: z.object({
    baseAmount: z.number(),
    baseCurrency: z.string(),
    rate: z.number(),
    rateAt: timestamp,
    by: z.enum(['coins', 'today']),
  }),
  /** Null until the payer or the merchant has given it. */
  address: z.nullable(z.string()),
  /**
   * True if a wallet that sent at least what goes back has signed for the address. False if something was signed, but that cannot
   * be proven; null if nothing was signed.
   */
  sameWallet: z.nullable(z.boolean()),
  transferId: z.nullable(z.string()),
  txHash: z.nullable(z.string()),
  /** The page of the transaction; empty if there is none. */
  explorerUrl: z.string(),
  /** `payment_completed` if it was cancelled because the rest of the payment came; null otherwise. */
  cancelReason: z.nullable(z.literal('payment_completed')),
  /** The author: a key, `operator`, or somebody of the team: by e-mail address where refunds are listed or retrieved, by id elsewhere. */
  createdBy: z.string(),
  /** Until when the payer can give an address. */
  expiresAt: timestamp,
  createdAt: timestamp,
  updatedAt: timestamp,
  metadata: z.optional(z.record(z.string(), z.string())),
});

/** Only this reply has `claimUrl`: the server keeps only a hash of it. */
const linkedRefund = z.extend(refund, { claimUrl: z.optional(z.string()) });

const address = described(
  addressText(),
  'The recipient: an address on the network of the refund. Never one of this server’s, and not of a token.',
);

const createBody = z.object({
  kind: described(
    kind,
    'The money to refund. `full`: all that is left of what was credited. `excess`: the amount above the price. `unaccepted`: money that came late, short, or in another coin. `partial`: `amount`.',
  ),
  amount: described(z.optional(positiveDecimal), 'The number of coins, only for `partial`.'),
  currency: described(
    z.optional(text(20)),
    'The currency to give back, if the payment was credited with several. Defaults to the one that it asked for.',
  ),
  network: described(z.optional(text(50)), 'The network, in the same case.'),
  by: described(
    z._default(z.enum(['coins', 'today']), 'coins'),
    'The basis of the sum: `coins` (default): the coins that came. `today`: as many as are worth as much today, and never more than came.',
  ),
  refundFee: described(
    z._default(boolean, false),
    'True if the service fee goes back to the payer too, out of your balance. Defaults to false. An `excess` goes back whole in any case: its fee is given back to you.',
  ),
  networkFee: described(
    z._default(networkFee, 'merchant'),
    'The party that bears the network’s fee: `merchant` (default) or `payer`, whose amount is reduced by it, now or, with a PSBT that spends the last coins, as it is sent.',
  ),
  reason: described(z.optional(text(255)), 'Why, in your words. The payer reads it.'),
  address: described(
    z.optional(address),
    'The recipient’s address, if you know it from the payer. Otherwise the payer gives it on the claim page.',
  ),
  deliver: described(
    z._default(z.enum(['link', 'email']), 'link'),
    'The way in which the payer gets the link. `link` (default): you send `claimUrl`. `email`: the server sends it to the payer, and the reply has no `claimUrl`, so that nobody else sees it. Refused if no message can be sent.',
  ),
  metadata: described(
    z.optional(metadata),
    'Your own data, which comes back in records and webhooks: up to 20 keys of 1 to 40 characters, with strings of up to 500 characters.',
  ),
});

/** The amount that a refund of a kind would give back now. */
const refundQuote = z.object({
  kind: z.enum(['full', 'excess', 'unaccepted']),
  currency: z.string(),
  network: z.string(),
  /** Amount that arrives if you bear the network's fee. */
  amount: z.number(),
  /** The network's fee, in `currency`, as far as it is known before it is sent. */
  fee: z.number(),
  /** The service fee that stays taken. */
  feeKept: z.number(),
});

const token = described(requiredText(255), 'The token of the claim: what follows # in its link.');

/** A step of a refund, as its payer sees it. */
const step = z.object({
  name: z.enum(['address', 'approval', 'sending', 'sent']),
  state: z.enum(['done', 'current', 'open']),
});

export const refundClaim = z.object({
  mode,
  status: refundStatus,
  kind,
  reason: z.string(),
  /** Amount that will arrive or, once it is paid, that arrived. */
  amount: z.number(),
  /** The party that bears the network's fee. */
  networkFee,
  /** The network's fee, in `currency`. The payer's share is not in `amount`. */
  fee: z.number(),
  /** The service fee that the shop keeps, in `currency`. */
  feeKept: z.number(),
  /** `payment_completed`: the rest of the payment came, and nothing goes back. */
  cancelReason: z.nullable(z.literal('payment_completed')),
  currency: z.string(),
  currencyName: z.string(),
  network: z.string(),
  networkName: z.string(),
  /** The merchant's reference of the order. */
  txRef: z.string(),
  shop: z.object({ name: z.string(), logo: z.string(), supportUrl: z.string() }),
  steps: z.array(step),
  /** Only its beginning and end, `TJRabP…pRTv8`. */
  address: z.nullable(z.string()),
  sameWallet: z.nullable(z.boolean()),
  /** True if the caller can still give the address, or change the one that it gave. */
  canSetAddress: z.boolean(),
  /** The kind of the network's addresses. All rules are checked, and an `invalid_address` says which is broken. */
  addressKind: z.enum(addressKinds),
  /**
   * Text that the paying wallet signs with `personal_sign` to confirm the address: `{address}` stands for the address
   * exactly as it is sent. Only on EVM networks, while the address can be set.
   */
  signatureText: z.optional(z.string()),
  txHash: z.nullable(z.string()),
  explorerUrl: z.string(),
  expiresAt: timestamp,
  createdAt: timestamp,
});
export type RefundClaim = z.output<typeof refundClaim>;

const params = z.object({ refund_id: described(id, 'Id of the refund.') });
const samplePaymentId = '01J9ZQ4W3V8K2M6N7P5R0S1T2X';

const sampleRefund = {
  id: '01J9ZQ7R0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
  paymentId: samplePaymentId,
  txRef: 'order-42',
  status: 'awaiting_address' as const,
  kind: 'excess' as const,
  reason: 'You sent more than the price',
  amount: 5,
  currency: 'USDT',
  network: 'tron',
  networkFee: 'merchant' as const,
  fee: 1,
  refundFee: true,
  feeKept: 0,
  value: {
    baseAmount: 7692.3,
    baseCurrency: 'NGN',
    rate: 1538.46,
    rateAt: '2026-01-01T00:00:00.000Z',
    by: 'coins' as const,
  },
  address: null,
  sameWallet: null,
  transferId: null,
  txHash: null,
  explorerUrl: '',
  cancelReason: null,
  createdBy: 'secret key sk_live_…7Qx2',
  expiresAt: '2026-01-31T00:00:00.000Z',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const sampleToken = 'q0Zb7m3yXn1rT9sVw2kLd5hJf8gPaC4eR6uYiOxQzWs';
const sampleLink = `https://pay.example.com/refund#${sampleToken}`;
const sampleAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const withAddress = { ...sampleRefund, status: 'awaiting_approval' as const, address: sampleAddress };

const sampleClaim: RefundClaim = {
  mode: 'live',
  status: 'awaiting_address',
  kind: 'excess',
  reason: sampleRefund.reason,
  amount: 5,
  networkFee: 'merchant',
  fee: 1,
  feeKept: 0,
  cancelReason: null,
  currency: 'USDT',
  currencyName: 'Tether USD',
  network: 'tron',
  networkName: 'Tron',
  txRef: 'order-42',
  shop: { name: 'Example Shop', logo: '', supportUrl: 'mailto:help@shop.example' },
  steps: [
    { name: 'address', state: 'current' },
    { name: 'approval', state: 'open' },
    { name: 'sending', state: 'open' },
    { name: 'sent', state: 'open' },
  ],
  address: null,
  sameWallet: null,
  canSetAddress: true,
  addressKind: 'tron',
  txHash: null,
  explorerUrl: '',
  expiresAt: sampleRefund.expiresAt,
  createdAt: sampleRefund.createdAt,
};

export const refunds = {
  create: endpoint({
    method: 'POST',
    path: '/v1/payments/{payment_id}/refunds',
    key: 'secret',
    stepUp: true,
    description:
      'Starts a refund of a payment, and reserves its amount. Only the first reply has `claimUrl`, the link that you send to the payer, who gives an address there. A reply that is repeated for its Idempotency-Key has none: make a new link.',
    params: z.object({ payment_id: described(id, 'Id of the payment.') }),
    body: createBody,
    data: linkedRefund,
    errors: [
      'unsupported_currency',
      'invalid_address',
      'invalid_state',
      'insufficient_balance',
      'balance_suspended',
      'rate_unavailable',
    ],
    sample: {
      params: { payment_id: samplePaymentId },
      body: { kind: 'excess', reason: sampleRefund.reason },
      message: 'Refund created',
      data: { ...sampleRefund, claimUrl: sampleLink },
    },
  }),
  quote: endpoint({
    method: 'GET',
    path: '/v1/payments/{payment_id}/refunds/quotes',
    key: 'secret',
    description:
      'Says how much a refund of a payment would give back now, for each kind and each coin that something was credited of. `partial` is any part of the largest. Nothing is reserved.',
    params: z.object({ payment_id: described(id, 'Id of the payment.') }),
    data: z.array(refundQuote),
    errors: ['rate_unavailable'],
    sample: {
      params: { payment_id: samplePaymentId },
      message: 'Refunds quoted',
      data: [
        { kind: 'excess', currency: 'USDT', network: 'tron', amount: 5, fee: 1, feeKept: 0 },
        { kind: 'full', currency: 'USDT', network: 'tron', amount: 14.85, fee: 1, feeKept: 0.15 },
      ],
    },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/refunds',
    key: 'secret',
    description: 'Lists your refunds, newest first.',
    query: listQuery({
      status: described(z.optional(refundStatus), 'Only refunds with this status.'),
      paymentId: described(z.optional(text()), 'Only refunds of this payment.'),
      currency: described(z.optional(text(20)), 'Only refunds in this currency.'),
      network: described(z.optional(text(50)), 'Only refunds on this network.'),
    }),
    data: z.array(refund),
    paginated: true,
    sample: { query: { status: 'awaiting_approval' }, message: 'Refunds fetched', data: [withAddress] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/refunds/{refund_id}',
    key: 'secret',
    description: 'Returns one refund.',
    params,
    data: refund,
    sample: { params: { refund_id: sampleRefund.id }, message: 'Refund fetched', data: sampleRefund },
  }),
  approve: endpoint({
    method: 'POST',
    path: '/v1/refunds/{refund_id}/approve',
    key: 'secret',
    stepUp: true,
    description:
      'Approves a refund that has an address: a transfer to it is created, and the address cannot change any longer. Repeating the call changes nothing.',
    params,
    body: z.object({
      address: described(
        z.optional(addressText()),
        'The address that you have seen. If the payer has changed it since, nothing is approved.',
      ),
    }),
    data: refund,
    errors: ['invalid_state', 'balance_suspended', 'rate_unavailable'],
    sample: {
      params: { refund_id: sampleRefund.id },
      body: { address: sampleAddress },
      message: 'Refund approved',
      data: { ...withAddress, status: 'approved', transferId: '01J9ZQ7S0A1B2C3D4E5F6G7H8J' },
    },
  }),
  cancel: endpoint({
    method: 'POST',
    path: '/v1/refunds/{refund_id}/cancel',
    key: 'secret',
    description:
      'Cancels a refund that was not approved, and gives back what it had reserved. Its link ends. Repeating the call changes nothing.',
    params,
    data: refund,
    errors: ['invalid_state'],
    sample: {
      params: { refund_id: sampleRefund.id },
      message: 'Refund cancelled',
      data: { ...sampleRefund, status: 'cancelled' },
    },
  }),
  link: endpoint({
    method: 'POST',
    path: '/v1/refunds/{refund_id}/link',
    key: 'secret',
    stepUp: true,
    description:
      'Makes a new link for the payer, which is valid for 30 days. The previous one ends immediately. Refunds that were cancelled or have expired get none.',
    params,
    data: linkedRefund,
    errors: ['invalid_state'],
    sample: {
      params: { refund_id: sampleRefund.id },
      message: 'Link created',
      data: { ...sampleRefund, claimUrl: sampleLink },
    },
  }),
};

export const refundClaims = {
  retrieve: endpoint({
    method: 'POST',
    path: '/v1/refund-claims/retrieve',
    key: 'none',
    description:
      'Returns what the holder of a claim’s link sees of a refund. Unknown, replaced, cancelled and expired tokens get the same answer. 120 calls a minute per IP address, and 10 that fail, together with the next endpoint.',
    body: z.object({ token }),
    data: refundClaim,
    sample: { body: { token: sampleToken }, message: 'Refund fetched', data: sampleClaim },
  }),
  setAddress: endpoint({
    method: 'POST',
    path: '/v1/refund-claims/address',
    key: 'none',
    description:
      'Sets where a refund goes to. A link does so once: only the browser that gave the address, which keeps a cookie, or a new link can change it. After the approval, it stays.',
    body: z.object({
      token,
      address,
      checkOnly: described(
        z.optional(z.boolean()),
        'With `true`, the address is checked, and nothing is set.',
      ),
      signature: described(
        z.optional(text(10_000)),
        'The paying wallet’s signature of `signatureText`, as `personal_sign` returned it: of an account in any of its forms, or of a contract (EIP-1271, also as EIP-6492 wraps it). EVM networks only.',
      ),
    }),
    data: refundClaim,
    errors: ['invalid_address', 'invalid_state'],
    sample: {
      body: { token: sampleToken, address: sampleAddress },
      message: 'Address set',
      data: {
        ...sampleClaim,
        status: 'awaiting_approval',
        address: `${sampleAddress.slice(0, 6)}…${sampleAddress.slice(-4)}`,
        steps: [
          { name: 'address', state: 'done' },
          { name: 'approval', state: 'current' },
          { name: 'sending', state: 'open' },
          { name: 'sent', state: 'open' },
        ],
      },
    },
  }),
};
