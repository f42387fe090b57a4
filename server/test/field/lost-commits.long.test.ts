/**
 * Public reports of a connection that ends between a commit and its answer: nobody knows then what was written. A caller that asks again
 * gets what there is, and nothing is done twice.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engines, type TestDatabase } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startReceiver } from '../webhooks/receiver.js';
import { openWebhookShop, type WebhookShop } from '../webhooks/webhook-shop.js';

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');

/** An address in front of PostgreSQL that loses the answer to the commit of one transaction. */
async function openLossyAddress(target: string) {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  let marker: string | undefined;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(to.port || 5432), to.hostname);
    let isMarked = false;
    let isLosing = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .once('close', () => {
          client.destroy();
          upstream.destroy();
        });
    }
    client.on('data', (bytes: Buffer) => {
      if (bytes.includes('begin')) isMarked = false;
      isMarked ||= marker !== undefined && bytes.includes(marker);
      isLosing ||= isMarked && bytes.includes('commit\0');
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (!isLosing) client.write(bytes);
      else if (bytes.includes('COMMIT\0')) {
        marker = undefined;
        lost += 1;
        client.destroy();
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    /** The next transaction that sends this text is committed, and its connection ends without a word. */
    loseWith(text: string): void {
      marker = text;
    },
    lost: () => lost,
    stop(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

// jruby/activerecord-jdbc-adapter#1216, vitessio/vitess#2085, get-convex/convex-backend#559
describe.skipIf(!postgres)('A commit whose answer is lost, on PostgreSQL', () => {
  let made: TestDatabase;
  let address: Awaited<ReturnType<typeof openLossyAddress>>;
  let shop: WebhookShop;
  let merchant: Shop;
  beforeEach(async () => {
    if (!postgres) return;
    made = await postgres.create();
    address = await openLossyAddress(made.url);
    shop = await openWebhookShop({ engine: postgres, databaseUrl: address.url });
    merchant = openShop(shop.server);
  });
  afterEach(async () => {
    await merchant.expectBooksInOrder();
    await shop.server.stop();
    address.stop();
    await made.dispose();
  });

  const api = (method: string, path: string, body: object, key?: string) =>
    shop.server.api(method, path, {
      body,
      ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
    });
  const count = async (table: 'payments' | 'transfers') =>
    (await shop.server.database.reader.selectFrom(table).select('id').execute()).length;

  it('a payment is created once, with an Idempotency-Key and without one', async () => {
    const order = { amount: 10, baseCurrency: 'USD', txRef: 'lost-order' };
    address.loseWith(order.txRef);
    const first = await api('POST', '/v1/payments/checkout', order, 'key-1');
    expect([first.status, first.body.data.code, first.headers.has('retry-after')]).toEqual([
      ...[503, 'service_unavailable', true],
    ]);
    const second = await api('POST', '/v1/payments/checkout', order, 'key-1');
    expect([second.status, address.lost()]).toEqual([200, 1]);
    const { id } = second.body.data['payment'] as { id: string };

    const other = { ...order, txRef: 'another-order' };
    address.loseWith(other.txRef);
    expect((await api('POST', '/v1/payments/checkout', other)).status).toBe(503);
    const again = await api('POST', '/v1/payments/checkout', other);
    expect([again.status, again.body.data.code, again.body.data['paymentId']]).toEqual([
      ...[409, 'duplicate_tx_ref', expect.not.stringMatching(id) as string],
    ]);
    expect([await count('payments'), address.lost()]).toEqual([2, 2]);
  });

  it('a transfer holds its money once', async () => {
    await merchant.fund({ amount: 20 });
    const transfer = {
      amount: 5,
      currency: 'USDT',
      walletAddress: externalAddresses.tron,
      walletNetwork: 'tron',
    };
    address.loseWith(externalAddresses.tron);
    expect((await api('POST', '/v1/transfers', transfer, 'key-2')).status).toBe(503);
    expect((await api('POST', '/v1/transfers', transfer, 'key-2')).status).toBe(200);
    expect([await count('transfers'), address.lost()]).toEqual([1, 1]);
    // The fee of the payment is 0.2, and that of the transfer too.
    expect(await merchant.balance()).toMatchObject({ availableBalance: 14.6, totalBalance: 19.8 });
  });

  it('money that a scan has found is credited once', async () => {
    const { id, address: to } = await merchant.lock();
    address.loseWith(to);
    const sent = await api('POST', '/sandbox/transfers', {
      network: 'tron',
      currency: 'USDT',
      address: to,
      amount: 10,
    });
    // The transaction of the sandbox names the address first.
    expect([sent.status, address.lost()]).toEqual([503, 1]);
    address.loseWith(to);
    await api('POST', '/sandbox/blocks', { network: 'tron', count: 1 });
    await expect.poll(() => address.lost()).toBe(2);
    await merchant.mine(3);
    await expect
      .poll(async () => (await shop.server.api('GET', `/v1/payments/${id}`)).body.data['status'])
      .toBe('success');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 9.9, totalBalance: 9.9 });
  });

  it('a webhook is delivered once, and recorded', async () => {
    const receiver = await startReceiver();
    await shop.setEndpoint(receiver);
    receiver.answer = { status: 200, body: 'taken with thanks' };
    address.loseWith('taken with thanks');
    await shop.publish(1);
    await expect.poll(() => address.lost()).toBe(1);
    const [event] = await shop.settled();
    expect(event).toMatchObject({ status: 'delivered', tries: [{ responseStatus: 200 }] });
    await shop.publish(1);
    await shop.settled();
    expect(receiver.received.map((one) => one.isVerified)).toEqual([true, true]);
    await receiver.stop();
  });

  it('attempts that are recorded together are recorded once', async () => {
    const receiver = await startReceiver();
    await shop.setEndpoint(receiver);
    receiver.answer = () => ({ status: 200, body: receiver.received.length > 1 ? 'together' : 'first' });
    const other = new pg.Client({ connectionString: made.url });
    await other.connect();
    // The first attempt waits to be recorded, and the others gather behind it.
    await other.query('begin; lock table webhook_tries in share mode');
    await shop.publish(1);
    await expect.poll(() => receiver.received.length).toBe(1);
    await shop.publish(2);
    await expect.poll(() => receiver.received.length).toBe(3);
    await setTimeout(500);
    address.loseWith('together');
    await other.query('commit');
    await expect.poll(() => address.lost()).toBe(1);
    const events = await shop.settled();
    expect(events.map(({ status, tries }) => [status, tries.length])).toEqual(
      events.map(() => ['delivered', 1]),
    );
    const { rows } = await other.query('select count(*) from webhook_tries group by xmin order by count(*)');
    expect(rows).toEqual([{ count: '1' }, { count: '2' }]);
    await other.end();
    await receiver.stop();
  });
});
