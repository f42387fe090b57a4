/** Payment webhooks over real HTTP: each change is sent once, with the same record that verify returns. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { webhookEvent, type PaymentRecord } from 'crypto-checkout/contract';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop, type Wallet } from '../support/shop.js';
import { startReceiver, type Received, type Receiver } from './receiver.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';

const amountDue = 3.25;

describe.each(enginesOfTurn)('The webhooks that a merchant gets, on $name', (engine) => {
  let shop: WebhookShop;
  let merchant: Shop;
  let receiver: Receiver;
  beforeAll(async () => {
    [shop, receiver] = await Promise.all([openWebhookShop({ engine }), startReceiver()]);
    merchant = openShop(shop.server);
    await shop.setEndpoint(receiver);
  });
  afterAll(async () => {
    await shop.server.stop();
    await receiver.stop();
  });
  beforeEach(() => {
    receiver.answer = { status: 204 };
  });

  const price = { amount: 5000, baseCurrency: 'NGN' };
  const lock = () => merchant.lock(price);

  const subjectOf = ({ event }: Received): unknown => (event.data as { id?: unknown }).id;
  const receivedFor = (id: string) => receiver.received.filter((one) => subjectOf(one) === id);
  /** The types of all received events, ordered by `sequence`, once every stored event has been delivered. */
  async function typesOf(id: string): Promise<string[]> {
    await shop.settled();
    return receivedFor(id)
      .sort((a, b) => a.event.data.sequence - b.event.data.sequence)
      .map(({ event }) => event.type);
  }

  it('A success sends one webhook, with the record that verify returns', async () => {
    const { id, address } = await lock();
    await merchant.pay(address, amountDue);
    await expect.poll(() => receivedFor(id), { timeout: 5000 }).toHaveLength(1);
    const [received] = receivedFor(id);
    const record = await merchant.ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);
    expect(received?.isVerified).toBe(true);
    expect(received?.event).toEqual({
      type: 'payment.success',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      data: { ...record, mode: 'test', sequence: received?.event.data.sequence },
    });
    const { time } = record.transactionTimeLog.at(-1) ?? { time: '' };
    expect(Math.abs(Date.parse(received?.event.timestamp ?? '') - Date.parse(time))).toBeLessThan(1000);
    expect(webhookEvent.parse(received?.event)).toEqual(received?.event);
    expect(received?.id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(received?.signatures).toHaveLength(1);
    // Signed in real time, whatever test mode's clock says: receivers reject timestamps that are five minutes off.
    expect(Math.abs((received?.timestamp ?? 0) - Date.now() / 1000)).toBeLessThan(30);
    await merchant.mine(5);
    expect(await typesOf(id)).toEqual(['payment.success']);
  });

  it('No webhook is sent when a payment is created, set and locked', async () => {
    const { id } = await lock();
    expect(await typesOf(id)).toEqual([]);
    expect((await shop.events()).filter(({ subjectId }) => subjectId === id)).toEqual([]);
  });

  it('A partial payment sends a webhook, and so does the success when the rest arrives', async () => {
    const { id, address } = await lock();
    await merchant.pay(address, 1);
    await merchant.pay(address, 1);
    await merchant.pay(address, amountDue);
    expect(await typesOf(id)).toEqual(['payment.partial', 'payment.overpaid', 'payment.success']);
    const [partial] = receivedFor(id);
    expect(partial?.event.data).toMatchObject({ status: 'in progress', amountSeen: 1 });
  });

  it('An overpayment sends a webhook, whether it comes with the success or after it', async () => {
    const [first, second] = [await lock(), await lock()];
    await merchant.pay(first.address, 5);
    expect(await typesOf(first.id)).toEqual(['payment.overpaid', 'payment.success']);
    await merchant.pay(second.address, amountDue);
    await merchant.pay(second.address, 1);
    await merchant.pay(second.address, 1);
    expect(await typesOf(second.id)).toEqual(['payment.success', 'payment.overpaid']);
  });

  it('A cancellation sends one webhook, and money that arrives afterwards sends more', async () => {
    const { id, address } = await lock();
    await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    expect(await typesOf(id)).toEqual(['payment.cancelled']);
    await merchant.pay(address, amountDue);
    expect(await typesOf(id)).toEqual(['payment.cancelled', 'payment.unaccepted', 'payment.late']);
    expect(receivedFor(id).at(-1)?.event.data).toMatchObject({
      status: 'cancelled',
      state: 'cancelled_paid',
    });
  });

  it('An error at the deadline sends a webhook, and so does money that arrives too late', async () => {
    const [short, full] = [await lock(), await lock()];
    await shop.advance(1801);
    expect(await typesOf(short.id)).toEqual(['payment.error']);
    await merchant.pay(short.address, 1);
    await merchant.pay(short.address, 1);
    expect(await typesOf(short.id)).toEqual([
      ...['payment.error', 'payment.unaccepted', 'payment.late'],
      'payment.unaccepted',
    ]);
    expect(receivedFor(short.id).at(-1)?.event).toMatchObject({
      type: 'payment.unaccepted',
      data: { unaccepted: { reason: 'late', currency: 'USDT', network: 'tron', amount: 1, total: 2 } },
    });
    await merchant.pay(full.address, amountDue);
    expect(await typesOf(full.id)).toEqual(['payment.error', 'payment.late', 'payment.success']);
  });

  it('A success that a reorganisation reverses sends a webhook, and so does its return', async () => {
    const { id, address } = await lock();
    await merchant.pay(address, amountDue);
    await merchant.sandbox('reorgs', { network: 'tron', depth: 2, keep: true });
    expect(await typesOf(id)).toEqual(['payment.success', 'payment.reversed']);
    expect(receivedFor(id).at(-1)?.event.data).toMatchObject({ status: 'error', state: 'reversed' });
    await merchant.mine(2);
    expect(await typesOf(id)).toEqual(['payment.success', 'payment.reversed', 'payment.success']);
  });

  it('A wallet deposit sends only wallet.transaction', async () => {
    const body = { currency: 'USDT', label: 'Donations' };
    const wallet = await merchant.ask<Wallet>('POST', '/v1/wallets', { body });
    await merchant.pay(wallet.addresses.find(({ network }) => network === 'tron')?.address ?? '', 7);
    const dataOf = ({ event }: Received) => event.data as Record<string, Partial<Record<string, unknown>>>;
    const ofWallet = () => receiver.received.filter((one) => dataOf(one).wallet?.id === wallet.id);
    await expect.poll(ofWallet, { timeout: 5000 }).toHaveLength(1);
    const [received] = ofWallet();
    if (!received) throw new Error('No webhook was received');
    expect(received.event.type).toBe('wallet.transaction');
    const id = String(dataOf(received).transaction?.id);
    expect(await typesOf(id)).toEqual([]);
    await merchant.ask('POST', `/v1/transactions/${id}/webhook`);
    await expect.poll(ofWallet, { timeout: 5000 }).toHaveLength(2);
    expect(ofWallet()[1]?.id).toBe(received.id);
  });

  it('A webhook is sent again on request, with the same id', async () => {
    const { id, address } = await lock();
    await merchant.pay(address, amountDue);
    await expect.poll(() => receivedFor(id), { timeout: 5000 }).toHaveLength(1);
    const answer = await shop.server.api('POST', `/v1/transactions/${id}/webhook`);
    expect(answer.body).toEqual({ status: 'success', message: 'Webhook queued' });
    await expect.poll(() => receivedFor(id), { timeout: 5000 }).toHaveLength(2);
    const [first, second] = receivedFor(id);
    expect(second).toMatchObject({ id: first?.id, body: first?.body, isVerified: true });
    const [event] = (await shop.settled()).filter(({ subjectId }) => subjectId === id);
    expect(event).toMatchObject({ status: 'delivered', dueAt: null });
    expect(event?.tries.map(({ responseStatus }) => responseStatus)).toEqual([204, 204]);
  });

  it('A webhook on request has the current state of a payment in progress', async () => {
    const { id } = await merchant.create(price);
    await merchant.ask('POST', `/v1/transactions/${id}/webhook`);
    await expect.poll(() => receivedFor(id), { timeout: 5000 }).toHaveLength(1);
    expect(receivedFor(id)[0]?.event).toMatchObject({
      type: 'payment.updated',
      data: { id, status: 'in progress', state: 'created' },
    });
    await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    await merchant.ask('POST', `/v1/transactions/${id}/webhook`);
    expect(new Set(await typesOf(id))).toEqual(new Set(['payment.updated', 'payment.cancelled']));
    expect(new Set(receivedFor(id).map((one) => one.id)).size).toBe(2);
  });

  it('An outcome that was never sent is sent on request', async () => {
    const { id, address } = await lock();
    await shop.removeEndpoint();
    await merchant.pay(address, amountDue);
    const refused = await shop.server.api('POST', `/v1/transactions/${id}/webhook`);
    expect([refused.status, refused.body.data.code]).toEqual([409, 'webhook_not_configured']);
    expect((await shop.events()).filter(({ subjectId }) => subjectId === id)).toEqual([]);
    await shop.setEndpoint(receiver);
    await merchant.ask('POST', `/v1/transactions/${id}/webhook`);
    expect(await typesOf(id)).toEqual(['payment.success']);
  });

  it('A merchant can request webhooks only for its own payments', async () => {
    const { id } = await merchant.create(price);
    const foreign = await shop.server.foreignKey('secret', 'test');
    const unknown = await shop.server.api('POST', '/v1/transactions/NOTHING/webhook', { key: foreign });
    const another = await shop.server.api('POST', `/v1/transactions/${id}/webhook`, { key: foreign });
    expect([unknown.status, another.status]).toEqual([404, 404]);
    expect(another.body).toEqual({
      ...unknown.body,
      data: { ...unknown.body.data, requestId: another.body.data.requestId },
    });
  });
});
