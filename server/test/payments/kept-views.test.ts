/**
 * A payment's view for strangers is kept until it changes: never longer, no matter which server changed it. Over real
 * HTTP, on both databases, with two servers where the database can have them.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { erasure } from '../../src/modules/erasure/module.js';
import { call } from '../support/call.js';
import { enginesOfTurn } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfTurn)("A payment's view for strangers, on $name", (engine) => {
  let server: TestServer;
  /** Another server on the same database, which makes every change. */
  let other: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
    const { databaseUrl, publicKey, secretKey } = server;
    const env = { BOOTSTRAP_PUBLIC_KEY: publicKey, BOOTSTRAP_SECRET_KEY: secretKey };
    other = engine.name === 'SQLite' ? server : await startServer({ engine, databaseUrl, env });
  });
  afterAll(async () => {
    if (other !== server) await other.stop();
    await server.stop();
  });

  const change = async (method: string, path: string, body: object = {}) => {
    const answer = await call(other.url, method, path, { key: server.secretKey, body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data;
  };

  /** Everything, twice, of which the second is from memory. Both must be what the payment is now. */
  async function read(id: string) {
    const answers = [];
    for (let time = 0; time < 2; time += 1) {
      const [verified, retrieved] = await Promise.all(
        [`/v1/transactions/${id}/verify/checkout`, `/v1/payments/checkout/${id}`].map((path) =>
          call(server.url, 'GET', path, { key: server.publicKey }),
        ),
      );
      const page = await (
        await fetch(`${server.url}/receipt/${id}`, { headers: { 'Accept-Language': 'en' } })
      ).text();
      answers.push({ verified: verified?.body.data, retrieved: retrieved?.body.data, page });
    }
    const [first, second] = answers.map(({ page, ...data }) => ({
      ...data,
      page: page.replace(/<time.*?<\/time>/, ''),
    }));
    expect(second).toEqual(first);
    const truth = (await call(server.url, 'GET', `/v1/transactions/${id}`, { key: server.secretKey })).body
      .data;
    for (const shown of [first?.verified, first?.retrieved]) {
      for (const field of [
        'status',
        'state',
        'amountSeen',
        'amountReceived',
        'confirmations',
        'receipts',
        'transactionTimeLog',
      ])
        expect([field, shown?.[field]]).toEqual([field, truth[field]]);
    }
    return { state: String(truth['state']), page: first?.page ?? '', shown: first?.retrieved };
  }

  it('A view for strangers is current after each change that another server makes', async () => {
    const records = createRecords(server);
    const id = await records.payment();
    expect((await read(id)).state).toBe('created');
    await change('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
    expect((await read(id)).state).toBe('currency_set');
    const locked = await change('PATCH', `/v1/payments/${id}/currency/lock`);
    expect(await read(id)).toMatchObject({
      state: 'awaiting_funds',
      page: expect.stringContaining('USDT') as string,
    });
    const { address } = locked['addressInformation'] as { address: string };
    const amount = Number(locked['amount']);
    const transfer = { network: 'tron', currency: 'USDT', address, amount: amount + 1 };
    await change('POST', '/sandbox/transfers', transfer);
    const states = new Set<string>();
    const until = async (state: string) => {
      await expect
        .poll(
          async () => {
            const now = (await read(id)).state;
            states.add(now);
            return now;
          },
          { timeout: 15_000 },
        )
        .toBe(state);
    };
    await until('confirming');
    await change('POST', '/sandbox/blocks', { network: 'tron', count: 1 });
    await expect.poll(async () => (await read(id)).shown?.['confirmations'], { timeout: 15_000 }).toBe(1);
    await change('POST', '/sandbox/blocks', { network: 'tron', count: 3 });
    await expect.poll(async () => (await read(id)).state, { timeout: 15_000 }).toMatch(/settled|over/);
    const refund = await change('POST', `/v1/payments/${id}/refunds`, { kind: 'excess', reason: 'Too much' });
    expect((await read(id)).shown?.['refunds']).toMatchObject([{ status: 'awaiting_address' }]);
    await change('POST', `/v1/refunds/${String(refund['id'])}/cancel`);
    expect((await read(id)).shown?.['refunds']).toMatchObject([{ status: 'cancelled' }]);
  });

  it('A view for strangers is made once, until the payment changes', async () => {
    const records = createRecords(server);
    const { id } = await records.lockedPayment();
    const { payments } = server.app;
    const stranger = { merchantId: server.bootstrapped.merchantId, mode: 'test', kind: 'public' } as const;
    const read = () => Promise.all([payments.verify(stranger, id), payments.retrieve(stranger, id)]);
    const [verified, retrieved] = await read();
    const again = await read();
    expect([again[0] === verified, again[1] === retrieved]).toEqual([true, true]);
    await change('PATCH', `/v1/payments/${id}/cancel`);
    expect((await read()).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });

  it('A view for strangers is current after a failover to a standby that lacked the last change', async () => {
    const records = createRecords(server);
    const { id } = await records.lockedPayment();
    await read(id);
    // The version is the same again: it was counted up from the one before the change that was lost.
    await other.database.write((transaction) =>
      transaction
        .updateTable('payments')
        .set({ amount: '123450000', updated_at: sql<number>`updated_at + 1` })
        .where('id', '=', id)
        .execute(),
    );
    expect(Number((await read(id)).shown?.['amount'])).toBe(123.45);
  });

  it('A view for strangers has nothing of a customer who was erased, also by another server', async () => {
    const body = {
      amount: 5,
      baseCurrency: 'USD',
      customer: { email: 'zoe@example.com', name: 'Zoe Quill' },
    };
    const { id } = (await change('POST', '/v1/payments/checkout', body))['payment'] as { id: string };
    await change('PATCH', `/v1/payments/${id}/cancel`);
    expect((await read(id)).shown).toMatchObject({ customerDetails: { fullName: 'Z. Q.' } });
    await other.database.write((transaction) =>
      erasure
        .rules(other.app)
        .erase(transaction, server.bootstrapped.merchantId, 'zoe@example.com', 'a test'),
    );
    expect(JSON.stringify((await read(id)).shown)).not.toMatch(/Z\. Q\.|z…@/);
  });

  it('A payment’s page shows a new name and key of the shop within seconds if another server changed them', async () => {
    const records = createRecords(server);
    const id = await records.payment();
    const page = async () => (await fetch(`${server.url}/pay/${id}`)).text();
    expect(await page()).toContain(server.publicKey);
    const { merchantId } = server.bootstrapped;
    await other.database.write((transaction) =>
      other.app.merchants.update(transaction, merchantId, { businessName: 'Moved <& Sons>' }),
    );
    const { key } = await other.database.write((transaction) =>
      other.app.keys.create(transaction, { merchantId, kind: 'public', mode: 'test' }),
    );
    await expect.poll(page, { timeout: 8000, interval: 500 }).toContain('Moved &lt;&amp; Sons&gt;');
    await expect.poll(page, { timeout: 8000, interval: 500 }).toContain(key);
    expect((await fetch(`${server.url}/pay/ZZZZZZZZZZZZZZZZZZZZZZZZZZ`)).status).toBe(404);
  });
});
