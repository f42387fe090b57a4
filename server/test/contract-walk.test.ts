/**
 * Calls every endpoint of the contract: with an id that belongs to somebody else, and with a valid call whose reply the contract must
 * parse. `api/bad-input.long.test.ts` has calls with bad input, without a key, and with an id that does not exist; `roles.test.ts` those with
 * each kind of key.
 *
 * A new endpoint needs a valid call in `support/valid-calls.ts`.
 */
import { createMerchantClient } from 'crypto-checkout/client';
import { api, type Endpoint } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../src/core/shared/ids.js';
import type { Answer } from './support/call.js';
import { enginesOfQuick } from './support/engines.js';
import { createRecords, type Records } from './support/records.js';
import { mainRoutesOf, titled, type Route } from './support/routes.js';
import { startServer, type TestServer } from './support/server.js';
import { pathOf, validCall, validCalls, type Call } from './support/valid-calls.js';

const rows = mainRoutesOf(api);
const ofRecord = rows.filter(({ idNames }) => idNames.length > 0);

it('There is a valid call of every endpoint, and of nothing else', () => {
  const names = Object.entries(validCalls).flatMap(([resource, verbs]) =>
    Object.keys(verbs).map((verb) => `${resource}.${verb}`),
  );
  expect(names.sort()).toEqual(rows.map(({ name }) => name).sort());
});

describe.each(enginesOfQuick)('On $name', (engine) => {
  let server: TestServer;
  let records: Records;
  /** Test keys of another account, and a live key of the first account. */
  let foreignKeys: { secret: string; public: string; live: string };

  beforeAll(async () => {
    server = await startServer({ engine });
    records = createRecords(server);
    // Nothing listens there. The test only needs the resend to be accepted.
    await records.shop.setWebhookUrl('http://127.0.0.1:9/webhooks');
    const { merchantId } = server.bootstrapped;
    foreignKeys = {
      secret: await server.foreignKey('secret', 'test'),
      public: await server.foreignKey('public', 'test'),
      live: await server.database.write(
        async (transaction) =>
          (await server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' })).key,
      ),
    };
  });
  afterAll(() => server.stop());

  const send = ({ method, endpoint }: Route, call: Call, key = server.secretKey): Promise<Answer> =>
    server.api(method, pathOf(endpoint, call), { key, ...(call.body && { body: call.body }) });

  it.each(titled(ofRecord))(
    "%s for another merchant's id gets the same reply as a random id",
    async (_title, row) => {
      const call = await validCall(records, row);
      const keys = [foreignKeys.secret, foreignKeys.live];
      if (row.endpoint.key === 'public') keys.push(foreignKeys.public);
      for (const key of keys) {
        const theirs = await send(row, call, key);
        const random = await send(row, withId(row, call, newId()), key);
        expect(theirs.status).toBe(random.status);
        // The currency is checked against live mode before the payment is looked up.
        if (key !== foreignKeys.live) expect(theirs.status).toBe(404);
        expect(theirs.status).toBeGreaterThanOrEqual(400);
        expect(withoutRequestId(theirs)).toEqual(withoutRequestId(random));
        expect(namesOf(theirs)).toEqual(namesOf(random));
      }
      expect((await send(row, call)).status, 'the record is unchanged').toBe(200);
    },
  );

  it.each(titled(rows))('%s returns what the contract says', async (_title, row) => {
    const { endpoint } = row;
    const keys = [server.secretKey, ...(endpoint.key === 'public' ? [server.publicKey] : [])];
    for (const key of keys) {
      const answer = await send(row, await validCall(records, row), key);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expectEnvelope(endpoint, answer);
    }
  });

  it.each([
    ['POST', '/v1/transfers'],
    ['POST', '/v1/transfers/fee'],
  ])(
    "%s %s to another merchant's saved address gets the same reply as to a random id",
    async (method, path) => {
      const theirs = createRecords(server, foreignKeys.secret);
      const transfer = async (walletAddress: string) => {
        const body = { amount: 1, currency: 'USDT', walletAddress, walletNetwork: 'ethereum' };
        return withoutRequestId(await server.api(method, path, { body }));
      };
      const saved = await transfer(await theirs.walletAddress());
      expect(saved).toMatchObject({ status: 'error' });
      expect(saved).toEqual(await transfer(newId()));
    },
  );

  it("GET /v1/payouts filtered by another merchant's ids is empty", async () => {
    const theirs = createRecords(server, foreignKeys.secret);
    for (const [name, id] of [
      ['address', await theirs.walletAddress()],
      ['bankAccount', await theirs.bankAccount()],
    ] as const) {
      const list = (value: string) => server.api('GET', `/v1/payouts?${name}=${value}`);
      expect((await list(id)).body).toEqual((await list(newId())).body);
    }
  });

  it('lists show no records of another merchant', async () => {
    const otherMerchant = createMerchantClient({
      apiUrl: server.url,
      secretKey: await server.foreignKey('secret', 'test'),
    });
    const { customers, bankAccounts, paymentPlans, subscribers, walletAddresses } = otherMerchant;
    const { transfers, payouts, transactions, wallets } = otherMerchant;
    const lists = [customers, bankAccounts, paymentPlans, subscribers, walletAddresses, transfers];
    for (const { list } of [...lists, payouts, transactions, wallets]) {
      const { data, pagination } = await list();
      expect([data, pagination]).toEqual([[], { total: 0, count: 0, from: 0, to: 0 }]);
    }
  });
});

function withId({ idNames }: Route, call: Call, id: string): Call {
  return { ...call, params: { ...call.params, ...Object.fromEntries(idNames.map((name) => [name, id])) } };
}

/** Expects exactly the endpoint's envelope, and `data` that its schema parses without changing it. */
function expectEnvelope(endpoint: Endpoint, { body, headers }: Answer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).toMatch(/\w/);
  expect(Object.keys(body).sort()).toEqual(
    ['message', 'status', ...(endpoint.data ? ['data'] : []), ...(endpoint.paginated ? ['meta'] : [])].sort(),
  );
  expect(body.status).toBe('success');
  // Test mode may add to the message that the data is made up.
  expect(body.message.startsWith(endpoint.sample.message), body.message).toBe(true);
  if (endpoint.data) {
    const parsed = endpoint.data.safeParse(body.data);
    expect(parsed.error?.issues).toBeUndefined();
    expect(parsed.data).toEqual(body.data);
  }
  if (Array.isArray(body.data)) expect(body.data, 'a list that is not empty').not.toEqual([]);
  if (endpoint.paginated) {
    const count = (body.data as unknown as unknown[]).length;
    expect(body.meta).toEqual({
      pagination: { total: expect.any(Number) as number, count, from: 1, to: count },
    });
  }
}

function withoutRequestId({ status, body }: Answer): unknown {
  return { httpStatus: status, ...body, data: { ...body.data, requestId: '' } };
}

/** The names of the headers. Their values differ, because they contain the request id and the time. */
function namesOf({ headers }: Answer): string[] {
  return [...headers.keys()].sort();
}
