/** Transactions: the same records as payments, for the merchant's bookkeeping and verification. */
import * as z from 'zod/mini';
import { checkoutRoutes, logEntry, payment, type Payment } from './checkout.js';
import { endpoint } from './endpoint.js';
import { described, id, listQuery } from './fields.js';
import { sampleLocked, samplePayment } from './payments.js';

const params = z.object({
  transaction_id: described(id, 'Id of the transaction, which is also the id of its payment.'),
});
const sampleParams = { transaction_id: samplePayment.id };

const sampleVerified = {
  ...sampleLocked,
  status: 'success',
  state: 'settled',
  amountReceived: 3.246754,
  amountSeen: 3.246754,
  amountDue: 0,
  confirmations: 2,
  nairaValue: 5000,
  dollarValue: 3.246754,
  addressSentFrom: ['TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7'],
  transactionTimeLog: [
    ...sampleLocked.transactionTimeLog,
    { time: '2026-01-01T00:01:00.000Z', type: 'success', event: 'Payment complete: 3.246754 USDT received' },
  ],
} satisfies Omit<Payment, 'currencyOptions'> & { currencyOptions: undefined };

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
    query: listQuery({}),
    data: z.array(payment),
    paginated: true,
    sample: { query: { page: '1', skip: '25' }, message: 'Transactions fetched', data: [sampleVerified] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}',
    key: 'secret',
    description: 'Returns one transaction.',
    params,
    data: payment,
    sample: { params: sampleParams, message: 'Transaction fetched', data: sampleVerified },
  }),
  verify: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}/verify',
    key: 'secret',
    description: 'Returns the current transaction. Call it from your server before you deliver an order.',
    params,
    data: payment,
    sample: { params: sampleParams, message: 'Transaction verified', data: sampleVerified },
  }),
  verifyCheckout: endpoint({
    ...checkoutRoutes.verify,
    description: 'Same as verify, for pages that have only the public key.',
    params,
    data: payment,
    sample: { params: sampleParams, message: 'Transaction verified', data: sampleVerified },
  }),
  events: endpoint({
    method: 'GET',
    path: '/v1/transactions/{transaction_id}/events',
    key: 'secret',
    description: "Returns the transaction's time log, oldest entry first.",
    params,
    data: z.array(logEntry),
    sample: {
      params: sampleParams,
      message: 'Transaction events fetched',
      data: sampleVerified.transactionTimeLog,
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
        fee: 0.032467,
        nairaValue: 5000,
        dollarValue: 3.246754,
        amountReceived: 3.246754,
        baseAmount: 5000,
        baseCurrency: 'NGN',
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
