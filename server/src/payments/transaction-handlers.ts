/** Handlers of `/v1/transactions`: the merchant's view of payments. */
import type { PaymentRecord } from 'crypto-checkout/contract';
import type { ApiHandlers } from '../api/handler.js';
import type { Payments } from './payments.js';
import { paginate } from '../shared/pagination.js';

export function createTransactionHandlers(payments: Payments): ApiHandlers<'transactions'> {
  return {
    async list({ query }, { caller }) {
      const { payments: records, total } = await payments.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      const data = await payments.verify(caller, params.transaction_id);
      return { data };
    },

    async verify({ params }, { caller }) {
      const data = await payments.verify(caller, params.transaction_id);
      return { data };
    },

    async verifyCheckout({ params }, { caller }) {
      const data = await payments.verify(caller, params.transaction_id);
      return { data };
    },

    async events({ params }, { caller }) {
      const data = await payments.events(caller, params.transaction_id);
      return { data };
    },

    async fee({ params }, { caller }) {
      const payment = await payments.verify(caller, params.transaction_id);
      return { data: feeResult(payment) };
    },

    resendWebhook: ({ params }, { caller, change }) =>
      change(async (transaction) => {
        await payments.resendWebhook(transaction, caller, params.transaction_id);
        return { data: undefined };
      }),
  };
}

/** The quoted fee until the payment ends, then the fee charged; 0 until a currency is set. */
function feeResult(payment: PaymentRecord) {
  const { fee = 0, nairaValue = 0, dollarValue = 0, amountReceived = 0, baseAmount, baseCurrency } = payment;
  return { fee, nairaValue, dollarValue, amountReceived, baseAmount, baseCurrency };
}
