/** A customer is erased in the console: previewed, confirmed by the typed address, and only by those who may, on both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn, type TestBrowser } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfTurn } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfTurn)('Erasing a customer, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let records: Records;
  let ada: TestBrowser;
  let real = Date.now();
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => real } });
    merchant = openShop(server);
    records = createRecords(server);
    ada = await signIn(server, 'manager', 'ada@shop.example');
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const path = (id: string) => `/console/api/erasure/${id}`;
  const preview = (id: string, who = ada) => who.send('GET', path(id));
  const erase = (id: string, email: string, who = ada) => who.send('POST', path(id), { body: { email } });
  const idOf = async (email: string) =>
    (await merchant.ask<{ id: string }[]>('GET', `/v1/customers?email=${email}`))[0]?.id ?? '';

  /** A customer who has paid twice. */
  async function payer(): Promise<{ email: string; id: string; payments: string[] }> {
    const email = records.email();
    const payments: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const locked = await merchant.lock({ customer: { email, name: 'Grace Example' } });
      await merchant.pay(locked.address, locked.amount);
      payments.push(locked.id);
    }
    return { email, id: await idOf(email), payments };
  }

  it('The preview counts, the typed address must be right, and afterwards nobody is found while the sums stay', async () => {
    const { email, id, payments } = await payer();
    const before = await merchant.balance();
    expect((await preview(id)).body.data).toEqual({
      email,
      customers: 1,
      payments: 2,
      blockedBy: null,
      isErased: false,
    });
    const wrong = await erase(id, 'somebody@else.example');
    expect([wrong.status, wrong.body.data.param]).toEqual([400, 'email']);
    expect((await preview(id)).body.data).toMatchObject({ email });

    const { status, body } = await erase(id, ` ${email.toUpperCase()} `);
    expect([status, body.data]).toMatchObject([200, { customers: 1, payments: 2 }]);
    const after = await merchant.ask<{ email: string; fullName?: string }>('GET', `/v1/customers/${id}`);
    expect(after.email).toBe(body.data['replacedBy']);
    expect(after).not.toHaveProperty('fullName');
    expect((await preview(id)).body.data).toMatchObject({ isErased: true });
    for (const payment of payments) {
      const text = JSON.stringify(await merchant.ask('GET', `/v1/transactions/${payment}`));
      expect(text).not.toMatch(/Grace/);
      expect(text).not.toContain(email);
      expect(JSON.parse(text)).toMatchObject({ status: 'success', baseAmount: 10 });
    }
    expect(await merchant.balance()).toEqual(before);
    const { json } = await runWith(
      commandContext(server),
      `audit list --merchant ${server.bootstrapped.merchantId}`,
    );
    const entries = (json as { action: string; actor: string; subjectId: string; after: object }[]).filter(
      ({ subjectId }) => subjectId === id,
    );
    expect(entries).toMatchObject([
      {
        action: 'customer.erased',
        after: { customers: 1, payments: 2 },
        actor: expect.stringMatching(/^ada@shop\.example, manager /) as string,
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain(email);
  });

  it.each(['the new', 'the earlier'] as const)(
    'A customer whose address was changed is erased whole by %s address, and nobody who has the earlier one since',
    async (typed) => {
      const { email: earlier, id, payments } = await payer();
      const email = records.email();
      const setEndpoint = (url: string) =>
        server.database.write((transaction) =>
          server.app.endpoints.set(
            transaction,
            { merchantId: server.bootstrapped.merchantId, mode: 'test' },
            url,
          ),
        );
      await merchant.ask('PATCH', `/v1/customers/${id}`, { body: { email } });
      const locked = await merchant.lock({ customer: { email, name: 'Grace Example' } });
      const all = [...payments, locked.id];
      await merchant.ask('PATCH', `/v1/payments/${locked.id}/cancel`);
      const isMoved = typed === 'the new';
      let other = '';
      if (isMoved) {
        await merchant.advance(1);
        await setEndpoint('http://127.0.0.1:9/hook');
        ({ id: other } = await merchant.lock({ customer: { email: earlier, name: 'Alan Example' } }));
        await merchant.ask('PATCH', `/v1/payments/${other}/cancel`);
        await setEndpoint('');
      }
      expect((await preview(id)).body.data).toMatchObject({ customers: 1, payments: 3 });
      if (isMoved) expect((await erase(id, email)).body.data).toMatchObject({ customers: 1, payments: 3 });
      else
        expect(
          (
            await runWith(
              commandContext(server),
              `customers erase --merchant ${server.bootstrapped.merchantId} ${earlier}`,
            )
          ).json,
        ).toMatchObject({ customers: 1, payments: 3 });
      for (const payment of all) {
        const text = JSON.stringify(await merchant.ask('GET', `/v1/transactions/${payment}`));
        expect(text).not.toMatch(/Grace/);
        expect(text).not.toContain(earlier);
        expect(text).not.toContain(email);
      }
      const kept = await server.database.reader
        .selectFrom('customer_earlier_emails')
        .selectAll()
        .where('customer_id', '=', id)
        .execute();
      expect(kept).toEqual([]);
      if (!isMoved) return;
      expect(JSON.stringify(await merchant.ask('GET', `/v1/transactions/${other}`))).toContain(earlier);
      const events = await server.database.reader
        .selectFrom('outbox')
        .select('data')
        .where('subject_id', '=', other)
        .execute();
      expect(events.length).toBeGreaterThan(0);
      for (const { data } of events) {
        expect(data).toContain(earlier);
        expect(data).toContain('Alan Example');
      }
    },
  );

  it('An active subscription and an open refund are in the way: the preview says so, and nothing is erased', async () => {
    const { email, planId, id: subscriber } = await records.subscriber();
    expect(planId).not.toBe('');
    const id = await idOf(email);
    expect((await preview(id)).body.data).toMatchObject({ blockedBy: 'subscription' });
    expect((await erase(id, email)).body.data.code).toBe('invalid_state');
    await merchant.ask('DELETE', `/v1/payment-plan-subscribers/${subscriber}`);
    expect((await preview(id)).body.data).toMatchObject({ blockedBy: null });

    const { email: other, id: customer, payments } = await payer();
    const body = { kind: 'partial', amount: 1, address: externalAddresses.tron };
    const refund = await merchant.refund(String(payments[0]), body);
    expect((await preview(customer)).body.data).toMatchObject({ blockedBy: 'refund' });
    expect((await erase(customer, other)).body.data.code).toBe('invalid_state');
    expect((await preview(customer)).body.data).toMatchObject({ email: other, payments: 2 });
    await merchant.ask('POST', `/v1/refunds/${refund.id}/cancel`);
    expect((await erase(customer, other)).status).toBe(200);
  });

  it('Another shop finds nobody, support and accountants erase nobody, and it needs a fresh sign-in', async () => {
    const { email, id } = await records.customer();
    const { id: foreign } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const eve = await signIn(server, 'owner', 'eve@other.example', foreign);
    for (const unknown of [id, 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
      expect((await preview(unknown, eve)).body.data.code).toBe('not_found');
      expect((await erase(unknown, email, eve)).body.data.code).toBe('not_found');
    }
    for (const role of ['support', 'accountant'] as const) {
      const person = await signIn(server, role);
      expect((await erase(id, email, person)).body.data.code).toBe('role_not_allowed');
    }
    real += 11 * 60_000;
    expect((await erase(id, email)).body.data.code).toBe('step_up_required');
    expect((await preview(id)).body.data).toMatchObject({ email, isErased: false });
  });
});
