/** Handlers of `/v1/payments`. */
import { replyWith, type ApiHandlers } from '../api/handler.js';
import type { Payments } from './payments.js';
import { checkReference } from './validate.js';

/** @param checkoutUrl the base URL of the hosted pages: `{checkoutUrl}/{payment id}` */
export function createPaymentHandlers(payments: Payments, checkoutUrl: string): ApiHandlers<'payments'> {
  return {
    create: ({ body }, { caller, change }) =>
      change(async (transaction) => {
        const payment = await payments.create(transaction, caller, {
          amount: body.amount,
          baseCurrency: body.baseCurrency,
          txRef: checkReference(body.txRef),
          redirectUrl: body.redirectUrl,
          email: body.customer?.email,
          fullName: body.customerFullName || body.customer?.fullName || body.customer?.name,
          phoneNumber: body.customerphoneNumber || body.customer?.phoneNumber,
          metadata: body.metadata,
          refusesUnpayable: true,
        });
        return { payment: { ...payment, _id: payment.id }, url: `${checkoutUrl}/${payment.id}` };
      }),

    retrieve: ({ params }, { caller }) => replyWith(payments.retrieve(caller, params.payment_id)),

    checkTransfer: ({ params }, { caller, signal }) =>
      replyWith(payments.checkTransfer(caller, params.payment_id, params.hash, signal)),

    cancel: ({ params }, { caller, change }) =>
      change(async (transaction) => {
        await payments.cancel(transaction, caller, params.payment_id);
        return undefined;
      }),

    setCurrency: ({ params }, { caller, change }) =>
      change((transaction) =>
        payments.setCurrency(transaction, caller, params.payment_id, params.currency, params.network),
      ),

    lockCurrency: ({ params }, { caller, change }) =>
      change((transaction) => payments.lockCurrency(transaction, caller, params.payment_id)),
  };
}
