/** Handlers of `/v1/transactions`: payments as the merchant books them. */
import type { api, Payment } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import type { Payments } from '../payments/payments.js';
import { paginate } from '../http/pagination.js';

interface Services {
  readonly payments: Payments;
}

export const transactionHandlers = {
  async list({ query }, { services, caller }) {
    const { payments, total } = await services.payments.list(caller, query);
    return {
      message: 'Transactions fetched',
      data: payments,
      pagination: paginate(query, payments.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.payments.verify(caller, params.transaction_id);
    return { message: 'Transaction fetched', data };
  },

  async verify({ params }, { services, caller }) {
    const data = await services.payments.verify(caller, params.transaction_id);
    return { message: 'Transaction verified', data };
  },

  async verifyCheckout({ params }, { services, caller }) {
    const data = await services.payments.verify(caller, params.transaction_id);
    return { message: 'Transaction verified', data };
  },

  async events({ params }, { services, caller }) {
    const data = await services.payments.events(caller, params.transaction_id);
    return { message: 'Transaction events fetched', data };
  },

  async fee({ params }, { services, caller }) {
    const payment = await services.payments.verify(caller, params.transaction_id);
    return { message: 'Transaction fee fetched', data: feeResult(payment) };
  },

  resendWebhook: ({ params }, { services, caller, change }) =>
    change(async (transaction) => {
      await services.payments.resendWebhook(transaction, caller, params.transaction_id);
      return { message: 'Webhook queued', data: undefined };
    }),
} satisfies Handlers<Pick<typeof api, 'transactions'>, Services>['transactions'];

/** The fee is 0 before a currency, and so an amount to take it from, is set. */
function feeResult(payment: Payment) {
  const { fee = 0, nairaValue = 0, dollarValue = 0, amountReceived = 0, baseAmount, baseCurrency } = payment;
  return { fee, nairaValue, dollarValue, amountReceived, baseAmount, baseCurrency };
}
