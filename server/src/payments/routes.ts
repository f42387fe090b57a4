/** Handlers of `/v1/payments`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import type { Payments } from './payments.js';
import { checkReference } from './texts.js';

interface Services {
  readonly payments: Payments;
  /** Where the hosted pages are: `{checkoutUrl}/{payment id}`. */
  readonly checkoutUrl: string;
}

export const paymentHandlers = {
  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => {
      const payment = await services.payments.create(transaction, caller, {
        amount: body.amount,
        baseCurrency: body.baseCurrency,
        txRef: checkReference(body.txRef),
        redirectUrl: body.redirectUrl,
        email: body.customer?.email,
        fullName: body.customerFullName || body.customer?.fullName || body.customer?.name,
        phoneNumber: body.customerphoneNumber || body.customer?.phoneNumber,
        mayNameDuplicate: caller.kind === 'secret',
      });
      return {
        message: 'Payment created',
        data: { payment: { ...payment, _id: payment.id }, url: `${services.checkoutUrl}/${payment.id}` },
      };
    }),

  async retrieve({ params }, { services, caller }) {
    return { message: 'Payment fetched', data: await services.payments.retrieve(caller, params.payment_id) };
  },

  cancel: ({ params }, { services, caller, change }) =>
    change(async (transaction) => {
      await services.payments.cancel(transaction, caller, params.payment_id);
      return { message: 'Payment cancelled', data: undefined };
    }),

  setCurrency: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Currency set',
      data: await services.payments.setCurrency(
        transaction,
        caller,
        params.payment_id,
        params.currency,
        params.network,
      ),
    })),

  lockCurrency: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Currency locked',
      data: await services.payments.lockCurrency(transaction, caller, params.payment_id),
    })),
} satisfies Handlers<Pick<typeof api, 'payments'>, Services>['payments'];
