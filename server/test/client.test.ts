/** The client with a real server: a change happens once even if its reply is lost, and lists are read to their end. */
import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfQuick } from './support/engines.js';
import { startServer, type TestServer } from './support/server.js';

describe.each(enginesOfQuick)('the client, on $name', (engine) => {
  let server: TestServer;
  let client: MerchantClient;
  /** Forwards requests to the server. It cuts the connection before the reply `repliesToLose` times. */
  let proxy: Server;
  let repliesToLose = 0;
  let requests = 0;

  beforeAll(async () => {
    server = await startServer({ engine });
    proxy = createServer((incoming, outgoing) => {
      const { method, url: path, headers } = incoming;
      requests += 1;
      const onward = forward(server.url + (path ?? ''), { method, headers }, (reply) => {
        if (repliesToLose > 0) {
          repliesToLose -= 1;
          reply.resume().once('end', () => outgoing.destroy());
        } else {
          outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(outgoing);
        }
      });
      incoming.pipe(onward);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const apiUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    client = createMerchantClient({ apiUrl, secretKey: server.secretKey, retryDelayMs: 1 });
  });
  afterEach(() => {
    repliesToLose = 0;
    requests = 0;
  });
  afterAll(async () => {
    proxy.close();
    proxy.closeAllConnections();
    await server.stop();
  });

  it('the client creates one customer although three replies are lost', async () => {
    repliesToLose = 3;
    const email = 'ada.once@example.com';
    const { data } = await client.customers.create({ body: { email } });
    expect(requests).toBe(4);
    const { data: found } = await client.customers.list({ query: { email } });
    expect(found).toEqual([data]);
  });

  it('the client creates one payment for a reference although two replies are lost', async () => {
    repliesToLose = 2;
    const body = { amount: '5000', baseCurrency: 'NGN', txRef: 'order-client-once' };
    const { data } = await client.payments.create({ body });
    expect(data.payment.txRef).toBe(body.txRef);
    const { data: again } = await client.payments.cancel({ params: { payment_id: data.payment.id } });
    expect(again).toBeUndefined();
    // A new call has a new idempotency key, so the reference is taken.
    await expect(client.payments.create({ body })).rejects.toMatchObject({
      code: 'duplicate_tx_ref',
      status: 409,
      paymentId: data.payment.id,
    });
  });

  it('the client removes a wallet, and gets not_found if the first reply was lost', async () => {
    const { data } = await client.wallets.create({ body: { currency: 'USDT', label: 'Donations' } });
    repliesToLose = 1;
    await expect(client.wallets.remove({ params: { wallet_id: data.id } })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await client.wallets.list()).data).toEqual([]);
  });

  it('the client reports every invalid field', async () => {
    const call = client.customers.create({ body: { email: 'nobody', fullName: 'x'.repeat(300) } });
    await expect(call).rejects.toMatchObject({
      code: 'validation_error',
      errors: [{ path: 'email' }, { path: 'fullName' }],
      requestId: expect.stringMatching(/\w/) as string,
    });
    expect(requests).toBe(1);
  });

  it('the client reads a list to its end, each row once, while rows are being added', async () => {
    for (let index = 0; index < 25; index += 1) {
      await client.customers.create({
        body: { email: `walk-${index}@example.com`, phoneNumber: '+15550125' },
      });
    }
    const seen: string[] = [];
    for await (const { email } of client.customers.iterate({
      query: { phoneNumber: '+15550125', skip: 4 },
    })) {
      seen.push(email);
      const late = `late-${seen.length}@example.com`;
      await client.customers.create({ body: { email: late, phoneNumber: '+15550125' } });
    }
    const walked = seen.filter((email) => email.startsWith('walk'));
    expect(walked).toEqual(Array.from({ length: 25 }, (_none, index) => `walk-${24 - index}@example.com`));
    expect(new Set(seen).size).toBe(seen.length);
  });
});
