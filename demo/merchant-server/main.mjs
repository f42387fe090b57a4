/** Starts the example of a merchant's server, configured by environment variables. README.md lists them. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { createMerchantClient } from 'crypto-checkout/client';
import { openOrders } from './orders.mjs';
import { createShop } from './shop.mjs';

/** @param {string} name @param {string} [fallback] */
function setting(name, fallback) {
  const value = process.env[name] || fallback;
  if (value === undefined) throw new Error(`${name} is not set. See demo/merchant-server/README.md`);
  return value;
}

const port = Number(setting('PORT', '3000'));
const apiUrl = setting('CHECKOUT_API_URL', 'http://127.0.0.1:8080');
const database = setting('SHOP_DATABASE', 'data/merchant-server.db');
mkdirSync(dirname(database), { recursive: true });
const shopUrl = setting('SHOP_URL', `http://127.0.0.1:${port}`);
const shop = createShop({
  client: createMerchantClient({ apiUrl, secretKey: setting('CHECKOUT_SECRET_KEY') }),
  apiUrl,
  publicKey: setting('CHECKOUT_PUBLIC_KEY'),
  webhookSecrets: setting('WEBHOOK_SECRET').split(','),
  shopUrl,
  orders: openOrders(database),
  log: (line) => console.log(line),
});
shop.listen(port, '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`The shop is at ${shopUrl}`);
});
