/**
 * A merchant with a live and a test mode, a webhook endpoint for each, and one public key in a stranger's hands. Whatever
 * the stranger does, no live event is sent, nothing unpaid counts as paid, and nobody's data is read.
 */
import { HDKey } from '@scure/bip32';
import { verifyPayment } from 'crypto-checkout/client';
import { api, type PaymentRecord, sandbox } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressSource, createTestAddressSources } from '../src/core/addresses/address-sources.js';
import type { Network } from '../src/core/chains/networks.js';
import { makeCertificate } from './support/certificate.js';
import { engines } from './support/engines.js';
import { MemoryChain } from './support/memory-chain.js';
import { mainRoutesOf } from './support/routes.js';
import { openShop, type Shop } from './support/shop.js';
import { startReceiver, type Receiver } from './webhooks/receiver.js';
import { openWebhookShop, type WebhookShop } from './webhooks/webhook-shop.js';

const certificate = makeCertificate('hooks.example');
const network: Network = {
  mode: 'live',
  code: 'tron',
  name: 'Tron',
  family: 'tron',
  confirmations: 3,
  assets: { USDT: { minAmount: '0.01', withdrawalFee: '1' } },
};
const order = { amount: 10, baseCurrency: 'USD', txRef: 'order-1' };
const adas = { ...order, customer: { email: 'ada@example.com', name: 'Ada Example' } };

describe.each(engines)('a stranger with the public test key, on $name', (engine) => {
  const chain = new MemoryChain();
  let shop: WebhookShop;
  let merchant: Shop;
  let testHook: Receiver;
  let liveHook: Receiver;
  let live: PaymentRecord;
  let others: PaymentRecord;
  let liveKey: string;
  let publicKey: string;

  beforeAll(async () => {
    const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/195'/0'").publicExtendedKey;
    const liveSource = createAddressSource('live', 'tron', xpub);
    const testSources = createTestAddressSources(new Uint8Array(32).fill(7));
    shop = await openWebhookShop({
      engine,
      env: { SANDBOX: 'on', WEBHOOK_ALLOW_PRIVATE: '127.0.0.2/32' },
      overrides: {
        networks: [{ network, chain }],
        addressSources: {
          find: (scope, family) => (scope.mode === 'live' ? liveSource : testSources.find(scope, family)),
        },
        webhooks: {
          resolve: () => Promise.resolve([{ address: '127.0.0.2', family: 4 }]),
          certificateAuthority: certificate.cert,
          timeoutMs: 5000,
        },
      },
    });
    const { server } = shop;
    merchant = openShop(server);
    const { merchantId } = server.bootstrapped;
    publicKey = server.publicKey;
    testHook = await startReceiver();
    liveHook = await startReceiver({ host: '127.0.0.2', certificate });
    await shop.setEndpoint(testHook);
    const endpoint = { url: `https://hooks.example:${liveHook.port}/hook`, secret: '' };
    await shop.setEndpoint(endpoint, merchantId, 'live');
    liveKey = await makeKey(merchantId, 'live');
    live = await merchant.create({ ...adas, key: liveKey });
    const { id: otherId } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    others = await merchant.create({ ...adas, key: await makeKey(otherId, 'test') });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await shop.server.stop();
    await testHook.stop();
    await liveHook.stop();
  });

  const makeKey = async (merchantId: string, mode: 'test' | 'live') =>
    (
      await shop.server.database.write((transaction) =>
        shop.server.app.keys.create(transaction, { merchantId, kind: 'secret', mode }),
      )
    ).key;

  const routes = mainRoutesOf({ ...api, sandbox });

  it('a stranger is refused by every endpoint for secret keys, and by the sandbox', async () => {
    const secret = routes.filter(({ endpoint }) => endpoint.key === 'secret');
    expect(secret.length).toBeGreaterThan(40);
    for (const { method, title, url } of secret) {
      const { status, body } = await shop.server.api(
        method,
        url(() => live.id),
        {
          key: publicKey,
          ...(method !== 'GET' && { body: {} }),
        },
      );
      expect([title, status, body.data.code]).toEqual([title, 403, 'secret_key_required']);
    }
  });

  it('a stranger finds neither live payments nor those of other merchants', async () => {
    const open = routes.filter(({ endpoint, idNames }) => endpoint.key === 'public' && idNames.length > 0);
    expect(open.length).toBeGreaterThan(4);
    for (const { id } of [live, others]) {
      for (const { method, title, idNames, url } of open) {
        const at = url((name) => (idNames.includes(name) ? id : undefined));
        const { status, body } = await shop.server.api(method, at, { key: publicKey });
        expect([title, status, body.data.code]).toEqual([title, 404, 'not_found']);
        expect(JSON.stringify(body)).not.toMatch(/example|order-1/i);
      }
    }
  });

  it('a stranger gains nothing by a test payment under the reference of the live order', async () => {
    const { id, address, amount } = await merchant.lock({ ...order, key: publicKey });
    // Only the merchant can pay in the sandbox: here somebody tests the shop while the stranger is at it.
    await merchant.send(address, amount);
    await merchant.mine(3);
    await shop.settled();
    const paid = (await shop.server.api('GET', `/v1/transactions/${id}/verify`)).body
      .data as unknown as PaymentRecord;
    expect([paid.status, paid.mode]).toEqual(['success', 'test']);

    const expected = { txRef: order.txRef, baseAmount: order.amount, baseCurrency: order.baseCurrency };
    const verification = verifyPayment(paid, expected);
    expect([verification.verified, verification.failed.map(({ rule }) => rule)]).toEqual([false, ['mode']]);
    expect(testHook.received.map(({ event }) => event.data.mode)).toContain('test');
    expect(liveHook.received).toEqual([]);

    const own = await shop.server.api('GET', `/v1/transactions/${live.id}/verify`, { key: liveKey });
    expect([own.body.data['status'], own.body.data['amountReceived']]).toEqual(['in progress', 0]);
    const balances = await shop.server.api('GET', '/v1/balances', { key: liveKey });
    const totals = (balances.body.data as unknown as { totalBalance: number }[]).map(
      (row) => row.totalBalance,
    );
    expect(new Set(totals)).toEqual(new Set([0]));
  });
});
