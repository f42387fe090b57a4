/** Payments: created by a merchant's page or server, and paid by a customer. */
import * as z from 'zod/mini';
import { createdPayment, transferCheck } from './checkout-schemas.js';
import { checkoutRoutes } from './checkout.js';
import { endpoint } from './endpoint.js';
import { described, email, id, metadata, positiveDecimal, requiredText, text } from './fields.js';
import { paymentRecord, type PaymentRecord } from './payment-record.js';
import { checkTransferRoute } from './transfer-check.js';

const createBody = z.object({
  amount: described(positiveDecimal, 'Price, in the base currency.'),
  baseCurrency: described(requiredText(20), 'Currency of `amount`: a code from the list of currencies.'),
  customer: described(
    z.optional(
      z.object({
        email: described(z.optional(email), 'Email of the payer.'),
        name: described(z.optional(text()), 'Name of the payer.'),
        fullName: described(z.optional(text()), 'Full name of the payer. Takes precedence over `name`.'),
        phoneNumber: described(z.optional(text()), 'Phone number of the payer.'),
      }),
    ),
    'The payer. Without it, the payment is anonymous.',
  ),
  customerFullName: described(
    z.optional(text()),
    'Full name of the payer. Takes precedence over the names in `customer`.',
  ),
  customerphoneNumber: described(
    z.optional(text()),
    'Phone number of the payer. Takes precedence over the one in `customer`.',
  ),
  txRef: described(
    z.optional(
      z.string().check(
        z.regex(/^[A-Za-z0-9._:-]{1,100}$/, {
          error: 'Must be 1 to 100 of the characters A-Z a-z 0-9 . _ : -',
        }),
      ),
    ),
    'Your reference for the payment. It can be used only once with secret keys, and once with public keys. 1 to 100 of the characters A-Z a-z 0-9 . _ : -. Generated if absent.',
  ),
  redirectUrl: described(
    z.optional(text(2048)),
    'The page to which the payer returns when the payment has ended: an absolute https URL, or empty. With a public key, it must be on one of the redirect origins of your account, if you have set any.',
  ),
  metadata: described(
    z.optional(metadata),
    'Your own data, which comes back in records and webhooks, never to public keys: up to 20 keys of 1 to 40 characters, with strings of up to 500 characters. Needs a secret key.',
  ),
});

const check = transferCheck.shape;

/** A transaction's relation to this payment. */
const describedTransferCheck = z.object({
  answer: described(
    check.answer,
    '`paid_this`: it paid the payment. `other_coin`: it paid the address in a coin or on a network that does not count. `other_address`: it paid this address nothing that the server reads. `failed`: it failed on the network, and nothing was sent. `unknown`: the network’s node has it in no block.',
  ),
  network: described(check.network, 'The network that was asked: the one that the payer chose.'),
  currency: described(check.currency, 'The currency that it paid, if it paid this address.'),
  amount: described(check.amount, 'The amount that it paid, in `currency`.'),
  confirmations: described(check.confirmations, '0 until the server has read the block itself.'),
  requiredConfirmations: described(check.requiredConfirmations, 'The number of confirmations that it needs.'),
});

const paymentId = described(id, 'Id of the payment.');
const params = z.object({ payment_id: paymentId });
const sampleId = '01J9ZQ4W3V8K2M6N7P5R0S1T2X';

export const samplePayment = {
  id: sampleId,
  mode: 'live',
  status: 'in progress',
  state: 'created',
  description: 'Payment from Ada Example',
  txRef: 'order-42',
  redirectUrl: 'https://shop.example/thanks',
  isRedirectTrusted: true,
  amount: 0,
  amountReceived: 0,
  amountSeen: 0,
  amountDue: 0,
  nairaValue: 0,
  dollarValue: 0,
  baseAmount: 5000,
  baseCurrency: 'NGN',
  currencies: ['BTC', 'USDT'],
  currencyOptions: [
    {
      currency: 'USDT',
      name: 'Tether USD',
      network: 'tron',
      networkName: 'Tron',
      amount: 3.25,
      fee: 0.0325,
      minAmount: 0.01,
      confirmations: 2,
      blockSeconds: 3,
      isCostly: true,
    },
  ],
  expiresBy: 1767312000000,
  pageUrl: `https://pay.example.com/pay/${sampleId}`,
  receiptUrl: `https://pay.example.com/receipt/${sampleId}`,
  transactionFees: 50,
  totalDue: 5000,
  customer: 'ada@example.com',
  customerDetails: { email: 'ada@example.com', fullName: 'Ada Example' },
  addressSentFrom: [],
  transactionTimeLog: [
    {
      time: '2026-01-01T00:00:00.000Z',
      type: 'event',
      event: 'Payment started',
      code: 'payment_started',
      values: {},
    },
  ],
  receipts: [],
  credited: [],
  metadata: { orderId: '42' },
  isCurrencyLocked: false,
  createdAt: '2026-01-01T00:00:00.000Z',
} satisfies PaymentRecord;

const sampleSet = {
  ...samplePayment,
  state: 'currency_set',
  currency: 'USDT',
  currencyName: 'Tether USD',
  currencyNetwork: 'tron',
  networkName: 'Tron',
  blockSeconds: 3,
  amount: 3.25,
  amountDue: 3.25,
  fee: 0.0325,
  confirmations: 0,
  confirmationsRequired: 2,
  currencies: [],
  transactionTimeLog: [
    ...samplePayment.transactionTimeLog,
    {
      time: '2026-01-01T00:00:05.000Z',
      type: 'event',
      event: 'Currency set to USDT on tron',
      code: 'currency_set',
      values: { currency: 'USDT', network: 'tron' },
    },
  ],
} satisfies PaymentRecord;

export const sampleLocked = {
  ...sampleSet,
  state: 'awaiting_funds',
  isCurrencyLocked: true,
  currencyOptions: undefined,
  expiresBy: 1767227407000,
  addressInformation: {
    address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    network: 'tron',
    id: '01J9ZQ5A0B1C2D3E4F5G6H7J8K',
  },
  transactionTimeLog: [
    ...sampleSet.transactionTimeLog,
    {
      time: '2026-01-01T00:00:07.000Z',
      type: 'event',
      event: 'Currency locked: 3.25 USDT on tron',
      code: 'currency_locked',
      values: { amount: '3.25', currency: 'USDT', network: 'tron' },
    },
  ],
} satisfies Omit<PaymentRecord, 'currencyOptions'> & { currencyOptions: undefined };

export const payments = {
  create: endpoint({
    ...checkoutRoutes.create,
    description:
      'Creates a payment with a price in a base currency. Returns the payment and the URL of its hosted page.',
    body: createBody,
    data: z.extend(createdPayment, { payment: paymentRecord }),
    errors: [
      'unsupported_currency',
      'customer_not_allowed',
      'duplicate_tx_ref',
      'rate_unavailable',
      'chain_unavailable',
    ],
    sample: {
      body: {
        amount: 5000,
        baseCurrency: 'NGN',
        txRef: 'order-42',
        redirectUrl: 'https://shop.example/thanks',
        customer: { email: 'ada@example.com', name: 'Ada Example' },
        metadata: { orderId: '42' },
      },
      message: 'Payment created',
      data: {
        payment: { ...samplePayment, _id: sampleId },
        url: `https://pay.example.com/pay/${sampleId}`,
      },
    },
  }),
  retrieve: endpoint({
    ...checkoutRoutes.retrieve,
    description: "Returns one payment, with the merchant's branding.",
    params,
    data: paymentRecord,
    sample: {
      params: { payment_id: sampleId },
      message: 'Payment fetched',
      data: {
        ...samplePayment,
        branding: {
          id: '01J9ZP0000000000000000000M',
          businessName: 'Example Shop',
          name: 'Example Shop',
          logo: '',
          supportUrl: 'mailto:help@shop.example',
          createdAt: '2026-01-01T00:00:00.000Z',
          updatedAt: '2026-01-01T00:00:00.000Z',
        },
      },
    },
  }),
  cancel: endpoint({
    ...checkoutRoutes.cancel,
    description: 'Cancels a payment that is in progress. Repeating the call changes nothing.',
    params,
    errors: ['invalid_state'],
    sample: { params: { payment_id: sampleId }, message: 'Payment cancelled' },
  }),
  setCurrency: endpoint({
    ...checkoutRoutes.setCurrency,
    description:
      'Sets the paying currency and network, and quotes an indicative amount. Can be repeated until the currency is locked.',
    params: z.object({
      payment_id: paymentId,
      currency: described(id, 'Paying currency: a code from the list of currencies, in upper or lower case.'),
      network: described(id, 'Network of the currency: a code from the same list, in upper or lower case.'),
    }),
    data: paymentRecord,
    errors: [
      'unsupported_currency',
      'amount_below_minimum',
      'invalid_state',
      'currency_locked',
      'rate_unavailable',
    ],
    sample: {
      params: { payment_id: sampleId, currency: 'USDT', network: 'tron' },
      message: 'Currency set',
      data: sampleSet,
    },
  }),
  lockCurrency: endpoint({
    ...checkoutRoutes.lockCurrency,
    description:
      'Locks rate, amount and fee, starts the payment window, and returns the address to pay to. Repeating the call returns the same quote.',
    params,
    data: paymentRecord,
    errors: ['invalid_state', 'sold_out', 'currency_not_set', 'rate_unavailable'],
    sample: { params: { payment_id: sampleId }, message: 'Currency locked', data: sampleLocked },
  }),
  checkTransfer: endpoint({
    ...checkTransferRoute,
    description:
      'Reports how a transaction relates to a payment, for payers who ask whether theirs has arrived. It reads the books, and then asks a node of the network that the payer chose. It changes nothing.',
    params: z.extend(params, {
      hash: described(
        z.string().check(z.regex(/^(0x)?[0-9a-f]{64}$/i, { error: 'Must be 64 hexadecimal digits' })),
        'The transaction’s hash, with or without 0x.',
      ),
    }),
    data: describedTransferCheck,
    errors: ['currency_not_set', 'chain_unavailable'],
    sample: {
      params: {
        payment_id: sampleId,
        hash: '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d',
      },
      message: 'Transfer checked',
      data: {
        answer: 'paid_this',
        network: 'tron',
        currency: 'USDT',
        amount: 3.25,
        confirmations: 1,
        requiredConfirmations: 2,
      },
    },
  }),
};
