/** The merchant client is generated from the contract: it has every endpoint, and calls each as declared. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMerchantClient, type MerchantClient } from '../../src/client/merchant-client.js';
import { api, endpointsOf } from '../../src/contract/index.js';
import { reply, startLocalServer, type LocalServer } from './local-server.js';

let server: LocalServer;
let merchant: MerchantClient;

beforeEach(async () => {
  server = await startLocalServer();
  merchant = createMerchantClient({ apiUrl: server.url, secretKey: 'sk_test_example' });
});
afterEach(() => server.close());

type AnyMethod = (call: { params?: unknown; query?: unknown; body?: unknown }) => Promise<{ data: unknown }>;

describe('every endpoint', () => {
  test.each(endpointsOf(api))(
    '$resource.$verb sends its sample request and parses its sample reply',
    async ({ resource, verb, endpoint }) => {
      const { params = {}, query, body, message, data } = endpoint.sample;
      server.answer = reply(200, { status: 'success', message, data });
      const table: unknown = merchant;
      const method = (table as Record<string, Record<string, AnyMethod>>)[resource]?.[verb];
      const result = await method?.({ params, query, body });

      const path = endpoint.path.replace(/\{\*?(\w+)\}/g, (_all, name: string) => params[name] ?? '');
      const search = query ? `?${new URLSearchParams(query)}` : '';
      const [request] = server.received;
      expect(`${request?.method} ${request?.url}`).toBe(`${endpoint.method} ${path}${search}`);
      expect(request?.headers.authorization).toBe('Bearer sk_test_example');
      expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(body);
      expect(JSON.stringify(result?.data)).toBe(JSON.stringify(endpoint.data?.parse(data)));
    },
  );
});

test.each([
  ['no secret key', { secretKey: undefined as unknown as string }],
  ['an empty secret key', { secretKey: '' }],
  ['a public key', { secretKey: 'pk_test_example' }],
  ['the example of a key', { secretKey: 'sk_test_…' }],
  ['an API without a scheme', { apiUrl: 'pay.example.com' }],
])('a client with %s is refused when it is made', (_name, change) => {
  const options = { apiUrl: 'https://pay.example.com', secretKey: 'sk_live_-aB3_k-9Z' };
  expect(() => createMerchantClient(options)).not.toThrow();
  expect(() => createMerchantClient({ ...options, ...change })).toThrow(RangeError);
});

test('the types follow the contract', async () => {
  const { data } = api.transactions.retrieve.sample;
  server.answer = reply(200, { status: 'success', message: 'Fine', data });
  const retrieved = await merchant.transactions.retrieve({ params: { transaction_id: data.id } });
  const received: number | undefined = retrieved.data.amountReceived;
  expect(received).toBe(data.amountReceived);
  // @ts-expect-error: an endpoint with a path parameter cannot be called without it
  await expect(merchant.transactions.retrieve()).rejects.toBeInstanceOf(RangeError);
});

test('a list has its pagination', async () => {
  const pagination = { total: 60, count: 25, from: 26, to: 50 };
  server.answer = reply(200, { status: 'success', message: 'Fine', data: [], meta: { pagination } });
  const list = await merchant.transactions.list({ query: { page: 2, skip: undefined } });
  expect(list).toMatchObject({ data: [], pagination });
  expect(server.received[0]?.url).toBe('/v1/transactions?page=2');
});
