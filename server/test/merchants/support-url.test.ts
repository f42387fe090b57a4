/** The link to a shop's help for payers: a merchant setting that the checkout reads with the branding. */
import { createCheckoutClient } from 'crypto-checkout/client';
import { expect, it, onTestFinished } from 'vitest';
import { enginesOfQuick } from '../support/engines.js';
import { startServer } from '../support/server.js';

it.each(enginesOfQuick)('The support URL is part of a payment’s branding, on $name', async (engine) => {
  const server = await startServer({ engine });
  onTestFinished(() => server.stop());
  const checkout = createCheckoutClient({ apiUrl: server.url, publicKey: server.publicKey });
  const { data } = await checkout.create({ amount: 5, baseCurrency: 'USD' });
  const supportUrl = async () => (await checkout.retrieve(data.payment.id)).data.branding?.supportUrl;
  expect(await supportUrl()).toBe('');
  await server.database.write((transaction) =>
    server.app.merchants.update(transaction, server.bootstrapped.merchantId, {
      supportUrl: 'mailto:help@shop.example',
    }),
  );
  expect(await supportUrl()).toBe('mailto:help@shop.example');
});
