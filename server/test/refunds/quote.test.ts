/** A quote is the sum that a refund then gives back, for each kind and coin of a payment, on both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

interface Quote {
  readonly kind: string;
  readonly currency: string;
  readonly network: string;
  readonly amount: number;
  readonly fee: number;
  readonly feeKept: number;
}

describe.each(enginesOfTurn)('Quotes of refunds, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    for (const currency of ['USDT', 'TRX']) await merchant.fund({ currency, amount: 500 });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const path = (id: string) => `/v1/payments/${id}/refunds`;
  const quote = (id: string) => merchant.ask<Quote[]>('GET', `${path(id)}/quotes`);
  /** Makes the refund that was quoted, compares it, and cancels it. */
  async function expectMade(id: string, quoted: Quote): Promise<void> {
    const { kind, currency, network } = quoted;
    const body = { kind, currency, network };
    const made = await merchant.ask<Quote & { id: string }>('POST', path(id), { body });
    expect(made).toMatchObject(quoted);
    await merchant.ask('POST', `/v1/refunds/${made.id}/cancel`, { body: {} });
  }

  it('A success quotes its excess, all of it, and other coins that came too', async () => {
    const { id, address } = await merchant.lock();
    await merchant.send(address, 15);
    await merchant.pay(address, 40, { currency: 'TRX' });
    const quotes = await quote(id);
    expect(quotes).toHaveLength(3);
    expect(quotes).toEqual(
      expect.arrayContaining([
        { kind: 'excess', currency: 'USDT', network: 'tron', amount: 5, fee: 0.2, feeKept: 0 },
        { kind: 'full', currency: 'USDT', network: 'tron', amount: 14.85, fee: 0.2, feeKept: 0.15 },
        expect.objectContaining({ kind: 'unaccepted', currency: 'TRX', amount: 39.6 }),
      ]),
    );
    for (const one of quotes) await expectMade(id, one);
    await merchant.ask('POST', path(id), { body: { kind: 'excess' } });
    expect((await quote(id)).map(({ kind, currency }) => `${kind} ${currency}`).sort()).toEqual([
      ...['full USDT', 'unaccepted TRX'],
    ]);
  });

  it('A failed payment quotes the amount that arrived; one without money has nothing to refund', async () => {
    const { id, address } = await merchant.lock();
    expect(await quote(id)).toEqual([]);
    await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    await merchant.pay(address, 4);
    const quotes = await quote(id);
    expect(quotes).toMatchObject([{ kind: 'unaccepted', amount: 3.96, feeKept: 0.04 }]);
    for (const one of quotes) await expectMade(id, one);
  });

  it('Another shop gets none', async () => {
    const { id } = await merchant.fund({ amount: 15 });
    const key = await server.foreignKey('secret', 'test');
    expect((await server.api('GET', `${path(id)}/quotes`, { key })).status).toBe(404);
  });
});
