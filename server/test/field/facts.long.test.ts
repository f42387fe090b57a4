/**
 * Public reports of payments whose state said one thing while their money said several, and of stores that could not
 * keep it.
 */
import { webhookEvent, type PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tables } from '../../src/core/db/schema.js';
import { enginesOfSoak } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfSoak)('facts of payments that others lost, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    await merchant.setWebhookUrl('http://127.0.0.1:9/');
  });
  afterAll(() => server.stop());

  const record = (id: string) => merchant.ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);
  const expire = async () => {
    await merchant.advance(1801);
    await merchant.mine();
  };
  const eventsOf = async (id: string) =>
    (await merchant.eventsOf(id)).map((event) =>
      webhookEvent.parse({ ...event, timestamp: new Date(0).toISOString() }),
    );
  const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type);
  const isListed = async (review: string, id: string) =>
    (await merchant.ask<{ id: string }[]>('GET', `/v1/transactions?review=${review}&skip=100`)).some(
      (one) => one.id === id,
    );

  it('btcpayserver#4146: a part, the expiry, and then too much, is late and overpaid at once', async () => {
    const { id, address } = await merchant.lock();
    await merchant.pay(address, 7.8);
    await expire();
    await merchant.pay(address, 7.3);
    expect(await record(id)).toMatchObject({
      status: 'success',
      amountReceived: 15.1,
      findings: ['late', 'over'],
    });
    expect(await typesOf(id)).toEqual([
      ...['payment.partial', 'payment.error', 'payment.late', 'payment.overpaid', 'payment.success'],
    ]);
    expect(await isListed('excess', id)).toBe(true);
  });

  it('btcpayserver#4192: a late overpayment is listed as an excess, whatever its state is called', async () => {
    const { id, address } = await merchant.lock();
    await expire();
    await merchant.pay(address, 40);
    expect((await record(id)).state).toBe('settled_late');
    expect(await isListed('excess', id)).toBe(true);
    expect(await isListed('late', id)).toBe(false);
  });

  it('btcpayserver#38: a late payment is announced once, however often it is looked at again', async () => {
    const { id, address } = await merchant.lock();
    await expire();
    await merchant.pay(address, 4);
    const announced = await typesOf(id);
    expect(announced).toEqual(['payment.error', 'payment.unaccepted', 'payment.late']);
    for (let round = 0; round < 5; round += 1) await merchant.mine(3);
    expect(await typesOf(id)).toEqual(announced);
    const codes = (await record(id)).transactionTimeLog.map(({ code }) => code);
    expect(codes.filter((code) => code === 'unaccepted')).toHaveLength(1);
  });

  it('btcpayserver#2640: a late payment of too little is confirmed and announced too', async () => {
    const { id, address } = await merchant.lock();
    await expire();
    await merchant.pay(address, 3);
    const { receipts, findings } = await record(id);
    expect(receipts).toMatchObject([{ status: 'confirmed', amount: 3 }]);
    expect(findings).toEqual(['late', 'short']);
    expect((await eventsOf(id)).find(({ type }) => type === 'payment.unaccepted')).toMatchObject({
      data: { unaccepted: { reason: 'late', currency: 'USDT', network: 'tron', amount: 3, total: 3 } },
    });
  });

  it('OpenCEX-backend#107: the wrong coin at the right address is announced at once, while the payment continues', async () => {
    const { id, address } = await merchant.lock();
    await merchant.pay(address, 5, { currency: 'TRX' });
    expect(await record(id)).toMatchObject({ state: 'awaiting_funds', findings: ['wrong_coin'] });
    expect(await eventsOf(id)).toMatchObject([
      {
        type: 'payment.unaccepted',
        data: { status: 'in progress', unaccepted: { reason: 'wrong_coin', currency: 'TRX', amount: 5 } },
      },
    ]);
    expect(await isListed('wrong_coin', id)).toBe(true);
    await merchant.pay(address, 10);
    expect(await typesOf(id)).toEqual(['payment.unaccepted', 'payment.success']);
  });

  it('payram-scripts#90: the right coin on another network of the address is announced, not only credited', async () => {
    const { id, address } = await merchant.lock({ currency: 'USDT', network: 'ethereum' });
    await merchant.pay(address, 10, { network: 'ethereum' });
    await merchant.pay(address, 100, { network: 'polygon' });
    expect(await record(id)).toMatchObject({ status: 'success', findings: ['wrong_network'] });
    expect(await typesOf(id)).toEqual(['payment.success', 'payment.unaccepted']);
    expect(await isListed('wrong_coin', id)).toBe(true);
  });

  it('dust in the wrong coin is announced by no event, until it adds up', async () => {
    const { id, address } = await merchant.lock();
    const announced: number[] = [];
    for (let part = 0; part < 3; part += 1) {
      await merchant.pay(address, 0.04, { currency: 'TRX' });
      announced.push((await typesOf(id)).length);
    }
    expect(announced).toEqual([0, 0, 1]);
    expect(await eventsOf(id)).toMatchObject([{ data: { unaccepted: { amount: 0.04, total: 0.12 } } }]);
  });
});

describe('the kept details of a transfer', () => {
  it('ironfish#841: an integer of any size inside JSON comes back as it was, and crashes nothing', () => {
    const { transfer: column } = tables.quarantine.columns;
    const wei = 2n ** 200n + 1n;
    const transfer = {
      txHash: 'ab',
      outputIndex: -5,
      currency: 'USDT',
      senders: [],
      address: '0x',
      amount: 1n,
      chainAmount: wei,
      foundAbove: 7,
    };
    const stored = { transfer, block: undefined, seenAt: 1 };
    expect(column.read(column.write(stored))).toEqual(stored);
    expect(column.read(column.write(null))).toBeNull();
    // A value that nobody wrote here is refused, rather than read as something else.
    expect(() => column.read('{"transfer":{"amount":1.5}}')).toThrow();
    expect(() => column.read('{')).toThrow('quarantine.transfer: a stored value is not of the form');
  });
});
