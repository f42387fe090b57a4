/** Finding transactions by their reference, status, currency, network, customer and transfer, on both engines. */
import { statusOf, paymentState } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { expectPages, idsOf } from '../support/lists.js';
import { openShop, type Shop } from '../support/shop.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfTurn)('the list of transactions, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let records: Records;

  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    records = createRecords(server);
  });
  afterAll(() => server.stop());

  const find = async (query: string, key?: string) =>
    idsOf(await server.api('GET', `/v1/transactions?${query}`, key === undefined ? {} : { key }));

  it('Transactions can be filtered by each field, singly and together, within the merchant', async () => {
    const other = await server.foreignKey('secret', 'test');
    const same = { txRef: 'order-7', customer: { email: 'Ada@Example.com' } };
    await merchant.create({ ...same, key: other });
    const { id: mine } = await merchant.create(same);
    const { id: paid, txHash } = await merchant.fund({ amount: 10 });
    const bitcoin = await merchant.lock({ currency: 'BTC', network: 'bitcoin' });
    await merchant.ask('PATCH', `/v1/payments/${bitcoin.id}/cancel`);

    expect(await find('txRef=order-7')).toEqual([mine]);
    expect(await find('txRef=ORDER-7')).toEqual([]);
    expect(await find('customer=ada@EXAMPLE.com')).toEqual([mine]);
    expect(await find('currency=usdt')).toEqual([paid]);
    expect(await find('network=BITCOIN')).toEqual([bitcoin.id]);
    expect(await find(`txHash=${txHash}`)).toEqual([paid]);
    expect(await find(`txHash=${txHash}`, other)).toEqual([]);
    const { address } = bitcoin;
    for (const one of [address, address.toUpperCase()]) {
      expect(await find(`address=${one}`), one).toEqual([bitcoin.id]);
    }
    expect(await find(`txHash=0x${txHash.replace('0x', '').toUpperCase()}`)).toEqual([paid]);
    expect(await find(`address=${address}`, other)).toEqual([]);
    expect(await find('status=success')).toEqual([paid]);
    expect(await find('status=cancelled')).toEqual([bitcoin.id]);
    expect(await find('status=in%20progress')).toEqual([mine]);
    expect(await find('status=error')).toEqual([]);
    expect(await find('status=success&currency=USDT&network=tron')).toEqual([paid]);
    expect(await find('status=success&currency=BTC')).toEqual([]);
    expect(await find('')).toHaveLength(3);
    for (const wrong of [
      'status=paid',
      'status=',
      'txRef=',
      'currency=',
      'customer=',
      'txHash=',
      'address=',
    ]) {
      const reply = await server.api('GET', `/v1/transactions?${wrong}`);
      expect([reply.status, reply.body.data.param], wrong).toEqual([400, wrong.split('=')[0]]);
    }
  });

  it('A search finds by the beginning of a text, or by a sum, within the merchant', async () => {
    const other = await server.foreignKey('secret', 'test');
    const customer = { email: 'Grace.Hopper@navy.example', name: 'Grace Brewster Hopper' };
    const order = { txRef: 'ORDER-5012', amount: 1234.5, customer };
    await merchant.create({ ...order, key: other });
    const { id: mine } = await merchant.create(order);
    const { id: next } = await merchant.create({
      amount: 77,
      txRef: 'ORDER-5099',
      customer: { email: 'o_k@navy.example', name: '%a' },
    });
    const { id: paid, txHash } = await merchant.fund({ amount: 78 });
    const locked = await merchant.lock({ currency: 'BTC', network: 'bitcoin' });
    const search = (text: string, key?: string) => find(`search=${encodeURIComponent(text)}`, key);
    for (const text of [
      'ORDER-501',
      'order-5012',
      'grace.hopper@',
      'GRACE.HOPPER@NAVY.EXAMPLE',
      'brew',
      'hopper',
      'grace brewster h',
    ]) {
      expect(await search(text), text).toEqual([mine]);
    }
    for (const sum of ['1234.5', '1,234.50', '1234.50 USD']) expect(await search(sum), sum).toEqual([mine]);
    expect(await search('ORDER-50')).toEqual([next, mine]);
    expect(await find('search=ORDER-50&status=success')).toEqual([]);
    expect(await search(txHash.slice(0, 12))).toEqual([paid]);
    expect(await search(txHash.replace('0x', '').slice(0, 12).toUpperCase())).toEqual([paid]);
    expect(await search(locked.address.slice(0, 10))).toEqual([locked.id]);
    expect(await search(mine.toLowerCase())).toEqual([mine]);
    expect(await search('%a')).toEqual([next]);
    for (const nothing of ['RDER-5012', '123', '%order', '.*', 'o%', 'navy'])
      expect(await search(nothing), nothing).toEqual([]);
    expect(await search(mine, other)).toEqual([]);
    expect((await server.api('GET', '/v1/transactions?search=')).status).toBe(400);
  });

  it('A filtered list is paged like the whole one, and agrees with the status of every state', async () => {
    const customer = { email: records.email() };
    const ids: string[] = [];
    for (const _state of paymentState.options) {
      ids.push((await merchant.create({ customer })).id);
    }
    const all = await find(`customer=${encodeURIComponent(customer.email)}&skip=100`);
    expect(new Set(all)).toEqual(new Set(ids));
    await expectPages(
      (query) =>
        server.api(
          'GET',
          `/v1/transactions?customer=${encodeURIComponent(customer.email)}${query.replace('?', '&')}`,
        ),
      all,
    );
    for (const [index, state] of paymentState.options.entries()) {
      const id = ids[index] ?? '';
      await server.database.write((transaction) =>
        transaction.updateTable('payments').set({ state }).where('id', '=', id).execute(),
      );
      const status = encodeURIComponent(statusOf(state));
      expect(await find(`status=${status}&customer=${encodeURIComponent(customer.email)}`), state).toContain(
        id,
      );
      const others = ['success', 'error', 'cancelled', 'in progress'].filter(
        (one) => one !== statusOf(state),
      );
      for (const one of others) {
        expect(await find(`status=${encodeURIComponent(one)}&skip=100`), state).not.toContain(id);
      }
    }
  });
});
