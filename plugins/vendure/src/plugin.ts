/** The plugin: add `CryptoCheckoutPlugin` to the `plugins` of your Vendure configuration. */
import { PluginCommonModule, ScheduledTask, VendurePlugin } from '@vendure/core';
import { Accounts } from './accounts.service.js';
import { AdminResolver, adminSchema, ShopResolver, shopSchema } from './api.js';
import { CryptoPayment } from './crypto-payment.entity.js';
import { CryptoPayments } from './crypto-payments.service.js';
import { CryptoRefunds } from './crypto-refunds.service.js';
import { cryptoCheckoutHandler } from './handler.js';
import { OrderNotes } from './order-notes.service.js';
import { keepRawBody, webhookRoute } from './raw-body.js';
import { WebhookController } from './webhook.controller.js';

/** Runs in Vendure's worker, if the configuration has a scheduler such as `DefaultSchedulerPlugin`. */
const askAgain = new ScheduledTask({
  id: 'crypto-checkout-ask-again',
  description: 'Asks about crypto payments and refunds whose webhook may be lost',
  schedule: (cron) => cron.every(5).minutes(),
  timeout: '4m',
  async execute({ injector }) {
    const asked = await injector.get(CryptoPayments).reviewAll();
    await injector.get(CryptoRefunds).reviewAll();
    return { asked };
  },
});

@VendurePlugin({
  compatibility: '^3.3.0',
  imports: [PluginCommonModule],
  entities: [CryptoPayment],
  providers: [Accounts, OrderNotes, CryptoPayments, CryptoRefunds],
  controllers: [WebhookController],
  shopApiExtensions: { schema: shopSchema, resolvers: [ShopResolver] },
  adminApiExtensions: { schema: adminSchema, resolvers: [AdminResolver] },
  // The dashboard's build reads this text from the compiled file, and compiles the extension with itself.
  dashboard: '../dashboard/index.tsx',
  configuration(config) {
    config.paymentOptions.paymentMethodHandlers.push(cryptoCheckoutHandler);
    // A refund enters the state that its handler returns, and Vendure lets none enter the one that it begins with.
    config.paymentOptions.refundProcess = [
      ...(config.paymentOptions.refundProcess ?? []),
      { transitions: { Pending: { to: ['Pending'] } } },
    ];
    config.apiOptions.middleware.push({
      route: `/${webhookRoute}`,
      handler: keepRawBody,
      beforeListen: true,
    });
    config.schedulerOptions.tasks.push(askAgain);
    return config;
  },
})
export class CryptoCheckoutPlugin {}
