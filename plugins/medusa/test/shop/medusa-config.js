/* global module, require */
/** A Medusa with two regions, each with keys of its own at the payment API. */
const { env } = require('node:process');
const { defineConfig } = require('@medusajs/framework/utils');

/** The options of one provider, from the environment: a file never has keys. */
const optionsOf = (region, more) => ({
  apiUrl: env.CHECKOUT_URL,
  secretKey: env[`CHECKOUT_SECRET_KEY_${region}`],
  publicKey: env[`CHECKOUT_PUBLIC_KEY_${region}`],
  webhookSecret: env[`CHECKOUT_WEBHOOK_SECRET_${region}`],
  ...more,
});
const provider = 'crypto-checkout-medusa/providers/crypto-checkout';

module.exports = defineConfig({
  admin: { disable: env.ADMIN !== 'on' },
  projectConfig: {
    databaseUrl: env.DATABASE_URL,
    http: {
      storeCors: env.STORE_CORS,
      adminCors: 'http://127.0.0.1:1',
      authCors: 'http://127.0.0.1:1',
      jwtSecret: 'a secret of tests',
      cookieSecret: 'a secret of tests',
    },
  },
  plugins: [{ resolve: 'crypto-checkout-medusa', options: {} }],
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        providers: [
          { resolve: provider, id: 'eu', options: optionsOf('EU') },
          { resolve: provider, id: 'us', options: optionsOf('US') },
          { resolve: provider, id: 'eu-paid-first', options: optionsOf('EU', { orderBeforePayment: false }) },
          { resolve: provider, id: 'eu-generous', options: optionsOf('EU', { refundFee: true }) },
          { resolve: provider, id: 'eu-mailed', options: optionsOf('EU', { refundDelivery: 'email' }) },
        ],
      },
    },
  ],
});
