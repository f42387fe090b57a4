/** Customers over real HTTP, on both engines: fields, filters, unique emails, and customers created by a checkout. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { expectPages, idsOf, rowsOf } from '../support/lists.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type Order } from '../support/shop.js';

const ada = { email: 'Ada@Example.com', fullName: 'Ada Example', phoneNumber: '+15550100' };

describe.each(enginesOfTurn)('customers, on $name', (engine) => {
  let server: TestServer;
  let foreign = '';
  let live = '';

  beforeAll(async () => {
    server = await startServer({ engine });
    foreign = await server.foreignKey('secret', 'test');
    live = await server.foreignKey('secret', 'live');
  });
  afterAll(() => server.stop());

  const createCustomer = (body: unknown, key = server.secretKey) =>
    server.api('POST', '/v1/customers', { body, key });
  const list = (query: string, key = server.secretKey) => server.api('GET', `/v1/customers${query}`, { key });
  const retrieve = (id: unknown, key = server.secretKey) =>
    server.api('GET', `/v1/customers/${String(id)}`, { key });
  const update = (id: unknown, body: unknown, key = server.secretKey) =>
    server.api('PATCH', `/v1/customers/${String(id)}`, { body, key });
  const orderAs = (customer: NonNullable<Order['customer']>, key = server.publicKey) =>
    openShop(server).checkout({ customer, key });

  it('A customer has the given fields, and no others', async () => {
    const { status, body } = await createCustomer(ada);
    expect([status, body.message]).toEqual([200, 'Customer created']);
    const { id, createdAt, ...fields } = body.data;
    expect(fields).toEqual({ ...ada, mode: 'test', isBlacklisted: false });
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await retrieve(id)).body.data).toEqual(body.data);

    const bare = await createCustomer({ email: 'bare@example.com', isBlacklisted: 'true', unknown: 1 });
    expect(Object.keys(bare.body.data).sort()).toEqual(['createdAt', 'email', 'id', 'isBlacklisted', 'mode']);
    expect(bare.body.data['isBlacklisted']).toBe(true);
  });

  it.each([
    [{}, 'email'],
    [{ email: 'nobody' }, 'email'],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email'],
    [{ email: 'long@example.com', fullName: 'a'.repeat(256) }, 'fullName'],
    [{ email: 'text@example.com', isBlacklisted: 'maybe' }, 'isBlacklisted'],
  ])('A customer with %j is refused', async (body, param) => {
    const { status, body: reply } = await createCustomer(body);
    expect([status, reply.data.code, reply.data.param]).toEqual([400, 'validation_error', param]);
  });

  it('Customers have unique emails, whatever their case, even if two are created at once', async () => {
    await createCustomer({ email: 'once@example.com' });
    const again = await createCustomer({ email: 'ONCE@example.com' });
    expect([again.status, again.body.data.code, again.body.data.param]).toEqual([
      409,
      'customer_exists',
      'email',
    ]);
    const both = await Promise.all([
      createCustomer({ email: 'two@example.com' }),
      createCustomer({ email: 'TWO@example.com' }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('Customers are separate for each merchant and mode, even if they have the same email', async () => {
    const { body } = await createCustomer({ email: 'shared@example.com' });
    const { id } = body.data;
    for (const key of [foreign, live]) {
      expect((await createCustomer({ email: 'shared@example.com' }, key)).status).toBe(200);
      const unseen = [await retrieve(id, key), await update(id, { fullName: 'Eve' }, key)];
      const unknown = await retrieve('ZZZZZZZZZZZZZZZZZZZZZZZZZZ', key);
      for (const { status, body: reply } of unseen) {
        expect([status, reply.message, reply.data.code]).toEqual([404, unknown.body.message, 'not_found']);
      }
      expect(rowsOf(await list('', key)).map(({ email }) => email)).toEqual(['shared@example.com']);
    }
    expect((await retrieve(id)).body.data['fullName']).toBeUndefined();
  });

  it('An update changes only the given fields of a customer', async () => {
    const { body } = await createCustomer({
      email: 'change@example.com',
      fullName: 'Before',
      phoneNumber: '+15550101',
    });
    const { id } = body.data;
    const changed = await update(id, { fullName: 'After', isBlacklisted: true });
    expect(changed.body).toMatchObject({
      message: 'Customer updated',
      data: { ...body.data, fullName: 'After', isBlacklisted: true },
    });
    expect((await update(id, {})).body.data).toEqual(changed.body.data);
    const emptied = await update(id, { fullName: '', email: 'CHANGED@example.com', isBlacklisted: 'false' });
    expect(emptied.body.data).toEqual({
      id,
      mode: 'test',
      email: 'CHANGED@example.com',
      phoneNumber: '+15550101',
      isBlacklisted: false,
      createdAt: body.data['createdAt'],
    });
    expect((await retrieve(id)).body.data).toEqual(emptied.body.data);
    expect((await update(id, { email: 'no email' })).status).toBe(400);
    expect((await update('ZZZZZZZZZZZZZZZZZZZZZZZZZZ', {})).status).toBe(404);
  });

  it("A customer cannot take another customer's email, but can change the case of their own", async () => {
    await createCustomer({ email: 'taken@example.com' });
    const { id } = (await createCustomer({ email: 'taker@example.com' })).body.data;
    const { status, body } = await update(id, { email: 'Taken@Example.com', fullName: 'Not stored' });
    expect([status, body.data.code]).toEqual([409, 'customer_exists']);
    expect((await retrieve(id)).body.data).not.toHaveProperty('fullName');
    expect((await update(id, { email: 'TAKER@example.com' })).body.data['email']).toBe('TAKER@example.com');

    const rivals = await Promise.all(
      ['first', 'second'].map((name) => createCustomer({ email: `${name}-rival@example.com` })),
    );
    const moves = await Promise.all(
      rivals.map((rival) => update(rival.body.data['id'], { email: 'prize@example.com' })),
    );
    expect(moves.map(({ status: each }) => each).sort()).toEqual([200, 409]);
  });

  it('Customers are listed newest first, page by page, with every filter', async () => {
    const key = await server.foreignKey('secret', 'test');
    const ids: unknown[] = [];
    for (const [index, email] of [
      'a@example.com',
      'b@example.com',
      'c@example.com',
      'd@example.com',
    ].entries()) {
      const { body } = await createCustomer(
        { email, phoneNumber: `+1555020${index % 2}`, isBlacklisted: email === 'b@example.com' },
        key,
      );
      ids.unshift(body.data['id']);
      // Lists are sorted by time of creation, and by id within a millisecond.
      await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 1 } });
    }
    await expectPages((query) => list(query, key), ids);
    const [d, c, b, a] = ids;
    expect(idsOf(await list('?isBlackListed=true', key))).toEqual([b]);
    expect(idsOf(await list('?isBlackListed=false', key))).toEqual([d, c, a]);
    expect((await list('?isBlackListed=maybe', key)).status).toBe(400);
    expect(idsOf(await list('?email=C%40EXAMPLE.com', key))).toEqual([c]);
    expect(idsOf(await list('?email=c%40example', key))).toEqual([]);
    expect(idsOf(await list('?phoneNumber=%2B15550200', key))).toEqual([c, a]);
    const filtered = await list('?phoneNumber=%2B15550201&isBlackListed=false&skip=1', key);
    expect(filtered.body).toMatchObject({
      data: [{ id: d }],
      meta: { pagination: { total: 1, count: 1, from: 1, to: 1 } },
    });
  });

  it('A payment with an email creates a customer, but never changes or reveals one', async () => {
    const first = await orderAs({
      email: 'payer@example.com',
      name: 'First Example',
      phoneNumber: '+15550102',
    });
    expect(first.status).toBe(200);
    const stored = rowsOf(await list('?email=payer@example.com'));
    expect(stored).toMatchObject([
      {
        email: 'payer@example.com',
        fullName: 'First Example',
        phoneNumber: '+15550102',
        isBlacklisted: false,
      },
    ]);

    const { body } = await orderAs({ email: 'PAYER@example.com', name: 'Somebody Else' });
    expect(body.data['payment']).toMatchObject({
      customer: 'P…@example.com',
      customerDetails: { email: 'P…@example.com', fullName: 'S. E.' },
    });
    expect(JSON.stringify(body)).not.toMatch(/First Example|15550102|payer@/);
    expect(rowsOf(await list('?email=payer@example.com'))).toEqual(stored);

    const together = await Promise.all([1, 2, 3].map(() => orderAs({ email: 'crowd@example.com' })));
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(rowsOf(await list('?email=crowd@example.com'))).toHaveLength(1);
    const { meta } = (await list('')).body;
    expect((await orderAs({ name: 'Nobody' })).status).toBe(200);
    expect((await list('')).body.meta).toEqual(meta);
  });

  it('A blacklisted customer cannot start a payment, but can pay one that is already locked', async () => {
    const { body } = await orderAs({ email: 'blocked@example.com' });
    const { id: paymentId } = body.data['payment'] as { id: string };
    const { address, amount } = await openShop(server).choose(paymentId);
    const [customer] = rowsOf(await list('?email=blocked@example.com'));
    await update(customer?.['id'], { isBlacklisted: true });

    const before = (await server.api('GET', '/v1/transactions')).body.meta;
    for (const key of [server.publicKey, server.secretKey]) {
      const refused = await orderAs({ email: 'Blocked@Example.com' }, key);
      expect([refused.status, refused.body.data.code]).toEqual([403, 'customer_not_allowed']);
    }
    expect((await server.api('GET', '/v1/transactions')).body.meta).toEqual(before);

    await openShop(server).pay(address, amount);
    const paid = await server.api('GET', `/v1/transactions/${paymentId}/verify`);
    expect(paid.body.data['status']).toBe('success');

    await update(customer?.['id'], { isBlacklisted: false });
    expect((await orderAs({ email: 'blocked@example.com' })).status).toBe(200);
  });
});
