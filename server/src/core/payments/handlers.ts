/** Handlers of `/v1/payments`, and of `/v1/transactions`: the merchant's view of payments. */
import type { PaymentRecord } from 'crypto-checkout/contract';
import { replyWith, replyWithKept, replyWithPage, type ApiHandlers } from '../api/handler.js';
import { actorOf } from '../merchants/audit-log.js';
import type { Payments } from './payments.js';
import { checkReference } from './validate.js';

/** @param checkoutUrl the base URL of the hosted pages: `{checkoutUrl}/{payment id}` */
export function createPaymentHandlers(payments: Payments, checkoutUrl: string): ApiHandlers<'payments'> {
  return {
    create: ({ body }, { caller, change }) =>
      change(async (transaction) => {
        const txRef = checkReference(body.txRef);
        const payment = await payments.create(transaction, caller, {
          ...payments.parseBase(caller, body.amount, body.baseCurrency),
          txRef,
          redirectUrl: body.redirectUrl,
          email: body.customer?.email,
          fullName: body.customerFullName || body.customer?.fullName || body.customer?.name,
          phoneNumber: body.customerphoneNumber || body.customer?.phoneNumber,
          metadata: body.metadata,
          refusesUnpayable: true,
        });
        return { payment: { ...payment, _id: payment.id }, url: `${checkoutUrl}/${payment.id}` };
      }),

    retrieve: ({ params }, { caller }) => replyWithKept(payments.retrieve(caller, params.payment_id)),

    checkTransfer: ({ params }, { caller, signal }) =>
      replyWith(payments.checkTransfer(caller, params.payment_id, params.hash, signal)),

    cancel: ({ params }, { caller, change }) =>
      change((transaction) => payments.cancel(transaction, caller, params.payment_id)),

    setCurrency: ({ params }, { caller, change }) =>
      change((transaction) =>
        payments.setCurrency(transaction, caller, params.payment_id, params.currency, params.network),
      ),

    lockCurrency: ({ params }, { caller, change }) =>
      change((transaction) => payments.lockCurrency(transaction, caller, params.payment_id)),
  };
}

export function createTransactionHandlers(payments: Payments): ApiHandlers<'transactions'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, payments.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(payments.verify(caller, params.transaction_id)),

    verify: ({ params }, { caller }) => replyWith(payments.verify(caller, params.transaction_id)),

    verifyCheckout: ({ params }, { caller }) => replyWithKept(payments.verify(caller, params.transaction_id)),

    events: ({ params }, { caller }) => replyWith(payments.events(caller, params.transaction_id)),

    receipts: ({ params, query }, { caller }) =>
      replyWithPage(query, payments.receipts(caller, params.transaction_id, query)),

    fee: async ({ params }, { caller }) => ({
      data: feeResult(await payments.verify(caller, params.transaction_id)),
    }),

    accept: ({ params, body }, { caller, change }) =>
      change((transaction) =>
        payments.accept(transaction, caller, params.transaction_id, body, actorOf(caller)),
      ),

    resendWebhook: ({ params }, { caller, change }) =>
      change((transaction) => payments.resendWebhook(transaction, caller, params.transaction_id)),
  };
}

/** The quoted fee until the payment ends, then the fee charged; 0 until a currency is set. */
function feeResult(payment: PaymentRecord) {
  const { fee = 0, nairaValue = 0, dollarValue = 0, amountReceived = 0, baseAmount, baseCurrency } = payment;
  return { fee, nairaValue, dollarValue, amountReceived, baseAmount, baseCurrency };
}
