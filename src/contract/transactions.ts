/** Transactions: the same records as payments, for the merchant's bookkeeping and verification. */
import * as z from 'zod/mini';
import { paymentStatus } from './checkout-schemas.js';
import { checkoutRoutes } from './checkout.js';
import { endpoint } from './endpoint.js';
import { described, id, listQuery, positiveDecimal, requiredText, text } from './fields.js';
import { codedLogEntry, paymentRecord, receipt, type PaymentRecord } from './payment-record.js';
import { sampleLocked, samplePayment } from './payments.js';

const params = z.object({
  transaction_id: described(id, 'Id of the transaction, which is also the id of its payment.'),
});
const sampleParams = { transaction_id: samplePayment.id };

const sampleVerified = {
  ...sampleLocked,
  status: 'success',
  state: 'settled',
  amountReceived: 3.25,
  amountSeen: 3.25,
  amountDue: 0,
  confirmations: 2,
  nairaValue: 5005,
  dollarValue: 3.25,
  addressSentFrom: ['TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7'],
  transactionTimeLog: [
    ...sampleLocked.transactionTimeLog,
    {
      time: '2026-01-01T00:01:00.000Z',
      type: 'success',
      event: 'Payment complete: 3.25 USDT received',
      code: 'completed',
      values: { received: '3.25', currency: 'USDT' },
    },
  ],
  receipts: [
    {
      currency: 'USDT',
      network: 'tron',
      amount: 3.25,
      txHash: '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d',
      hashOf: 'transaction',
      explorerUrl: '',
      confirmations: 2,
      requiredConfirmations: 2,
      firstSeenAt: '2026-01-01T00:00:40.000Z',
      status: 'confirmed',
      counts: true,
    },
  ],
  credited: [{ currency: 'USDT', amount: 3.25, fee: 0.0325, net: 3.2175 }],
} satisfies Omit<PaymentRecord, 'currencyOptions'> & { currencyOptions: undefined };

/** The record for a public key. */
const samplePublic = {
  ...sampleVerified,
  description: 'Payment from A. E.',
  customer: 'a…@example.com',
  customerDetails: { email: 'a…@example.com', fullName: 'A. E.' },
  credited: undefined,
  metadata: undefined,
};

/** The reason that a payment needs attention. */
export const paymentReviews = ['late', 'short', 'excess', 'wrong_coin', 'reversed'] as const;
export type PaymentReview = (typeof paymentReviews)[number];

const fee = z.object({
  fee: z.number(),
  nairaValue: z.number(),
  dollarValue: z.number(),
  amountReceived: z.number(),
  baseAmount: z.number(),
  baseCurrency: z.string(),
});

export const transactions = {
  list: endpoint({
    method: 'GET',
    path: '/v1/transactions',
    key: 'secret',
    description: 'Lists your transactions, newest first.',
    query: listQuery({
      txRef: described(z.optional(requiredText(100)), 'Only transactions with this reference.'),
      status: described(z.optional(paymentStatus), 'Only transactions with this status.'),
      currency: described(
        z.optional(requiredText(20)),
        'Only transactions in this paying currency, in upper or lower case.',
      ),
      network: described(
        z.optional(requiredText(50)),
        'Only transactions on this network, in upper or lower case.',
      ),
      customer: described(
        z.optional(requiredText(254)),
        'Only transactions of the customer with this email, in upper or lower case.',
      ),
      review: described(
        z.optional(z.enum(paymentReviews)),
        'Only transactions that need attention, because their money came `late`, `short`, in `excess` or in a `wrong_coin`, or was reverted (`reversed`), and that have no refund yet. Those that your staff have marked as handled are left out, until something happens to them again.',
      ),
      txHash: described(
        z.optional(requiredText()),
        'Only transactions that received this transfer, by its hash on the chain.',
      ),
      address: described(
        z.optional(requiredText()),
        'Only the transaction with this payment address, written as the payer saw it.',
      ),
      search: described(
        z.optional(requiredText(254)),
        'Only those of your newest 10,000 transactions whose reference, id, address, transfer, email or name begins with this, or whose price or amount is this, in upper or lower case: at most 200.',
      ),
    }),
    data: z.array(paymentRecord),
    paginated: true,
    sample: { query: { page: '1', skip: '25' }, message: 'Transactions fetched', data: [sampleVerified] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}',
    key: 'secret',
    description: 'Returns one transaction.',
    params,
    data: paymentRecord,
    sample: { params: sampleParams, message: 'Transaction fetched', data: sampleVerified },
  }),
  verify: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}/verify',
    key: 'secret',
    description: 'Returns the current transaction. Call it from your server before you deliver an order.',
    params,
    data: paymentRecord,
    sample: { params: sampleParams, message: 'Transaction verified', data: sampleVerified },
  }),
  verifyCheckout: endpoint({
    ...checkoutRoutes.verify,
    description:
      'Same as verify, for pages that have only the public key. To a public key, the email and name of the payer are abbreviated, and `credited` and `metadata` are absent.',
    params,
    data: paymentRecord,
    sample: { params: sampleParams, message: 'Transaction verified', data: samplePublic },
  }),
  events: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}/events',
    key: 'secret',
    description: "Returns the transaction's whole time log, oldest entry first.",
    params,
    data: z.array(codedLogEntry),
    sample: {
      params: sampleParams,
      message: 'Transaction events fetched',
      data: sampleVerified.transactionTimeLog,
    },
  }),
  receipts: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}/receipts',
    key: 'secret',
    description:
      'Lists all transfers to the transaction’s address, oldest first, with those that its record only counts. `from` and `to` are about when they were first seen.',
    params,
    query: listQuery({}),
    data: z.array(receipt),
    paginated: true,
    sample: {
      params: sampleParams,
      query: { page: '1', skip: '25' },
      message: 'Transaction receipts fetched',
      data: sampleVerified.receipts,
    },
  }),
  fee: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}/fee',
    key: 'secret',
    description: 'Returns the fee charged for the transaction, and the amount received.',
    params,
    data: fee,
    sample: {
      params: sampleParams,
      message: 'Transaction fee fetched',
      data: {
        fee: 0.0325,
        nairaValue: 5005,
        dollarValue: 3.25,
        amountReceived: 3.25,
        baseAmount: 5000,
        baseCurrency: 'NGN',
      },
    },
  }),
  accept: endpoint({
    method: 'POST',
    path: '/v1/transactions/{transaction_id}/accept',
    key: 'secret',
    stepUp: true,
    description:
      'Takes a payment as paid that got less than was due, or too late: in part while it is open, or after its time. What came stays credited, and `payment.accepted` and `payment.success` are sent. A refund that still waits for its address is cancelled. Repeating the call changes nothing.',
    params,
    body: z.object({
      amount: described(
        positiveDecimal,
        'The `amountReceived` that you have seen. If it is another one by now, nothing is accepted.',
      ),
      note: described(z._default(text(500), ''), 'The reason, for the audit log.'),
    }),
    data: paymentRecord,
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { amount: 3.2, note: 'A regular customer' },
      message: 'Payment accepted',
      data: {
        ...sampleVerified,
        amountReceived: 3.2,
        amountSeen: 3.2,
        accepted: { amount: 3.2, at: '2026-01-01T02:00:00.000Z' },
        transactionTimeLog: [
          ...sampleLocked.transactionTimeLog,
          {
            time: '2026-01-01T02:00:00.000Z',
            type: 'success',
            event: 'Accepted by the shop: 3.2 of 3.25 USDT received',
            code: 'accepted',
            values: { received: '3.2', amount: '3.25', currency: 'USDT' },
          },
        ],
        receipts: sampleVerified.receipts.map((one) => ({ ...one, amount: 3.2 })),
        credited: [{ currency: 'USDT', amount: 3.2, fee: 0.032, net: 3.168 }],
      },
    },
  }),
  resendWebhook: endpoint({
    method: 'POST',
    path: '/v1/transactions/{transaction_id}/webhook',
    key: 'secret',
    description: 'Sends the webhook of the transaction again.',
    params,
    errors: ['webhook_not_configured'],
    sample: { params: sampleParams, message: 'Webhook queued' },
  }),
};
