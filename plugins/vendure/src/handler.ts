/** The payment method: the keys of one account, and how Vendure settles, cancels and refunds its payments. */
import { LanguageCode, PaymentMethodHandler, type Injector } from '@vendure/core';
import { handlerCode, accountOf } from './accounts.service.js';
import { CryptoPayments } from './crypto-payments.service.js';
import { CryptoRefunds } from './crypto-refunds.service.js';
import { VerifiedPayment } from './verified-payment.js';

type Args = ConstructorParameters<typeof PaymentMethodHandler>[0]['args'];

const args: Args = {
  apiUrl: {
    type: 'string',
    label: [{ languageCode: LanguageCode.en, value: 'URL of the crypto-checkout server' }],
  },
  publicKey: {
    type: 'string',
    label: [{ languageCode: LanguageCode.en, value: 'Public key, pk_…' }],
    description: [{ languageCode: LanguageCode.en, value: 'The only one that the storefront gets.' }],
  },
  secretKey: {
    type: 'string',
    label: [{ languageCode: LanguageCode.en, value: 'Secret key, sk_…' }],
    ui: { component: 'password-form-input' },
  },
  webhookSecret: {
    type: 'string',
    label: [{ languageCode: LanguageCode.en, value: 'Webhook secret, whsec_…' }],
    description: [
      { languageCode: LanguageCode.en, value: 'While you replace it, both, with a space between them.' },
    ],
    ui: { component: 'password-form-input' },
  },
};

let payments: CryptoPayments;
let refunds: CryptoRefunds;

export const cryptoCheckoutHandler = new PaymentMethodHandler({
  code: handlerCode,
  description: [{ languageCode: LanguageCode.en, value: 'Crypto through a crypto-checkout server' }],
  args,

  init(injector: Injector) {
    payments = injector.get(CryptoPayments);
    refunds = injector.get(CryptoRefunds);
  },

  /** Vendure has no state for a payment that is awaited, so a payment is added when it is paid, and is settled at once. */
  createPayment(_ctx, _order, amount, _args, metadata) {
    if (metadata instanceof VerifiedPayment) {
      return {
        amount: metadata.amount,
        state: 'Settled',
        transactionId: metadata.checkoutId,
        metadata: metadata.metadata,
      };
    }
    return {
      amount,
      state: 'Declined',
      errorMessage: 'Call createCryptoPayment and show its payment: the order is settled when it is paid.',
    };
  },

  settlePayment: (_ctx, _order, payment, _args, method) => payments.confirm(accountOf(method), payment),

  async cancelPayment() {
    return { success: false, state: 'Settled', errorMessage: 'It is paid: refund it instead.' };
  },

  createRefund: (ctx, input, amount, order, payment, _args, method) =>
    refunds.create(ctx, accountOf(method), { order, payment, amount, reason: input.reason ?? '' }),
});
