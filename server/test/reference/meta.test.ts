/** `/v1/meta`: the API describes every endpoint, over real HTTP. */
import { api, endpointsOf } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parametersOf } from '../../src/core/reference/parameters.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const rows = endpointsOf(api).map((one) => ({
  ...one,
  /** The path as the docs show it: `{*rest}` becomes `{rest}`. */
  path: one.endpoint.path.replace('{*', '{'),
}));

let server: TestServer;
beforeAll(async () => {
  const [engine] = engines;
  if (!engine) throw new Error('No database engine is available');
  server = await startServer({ engine });
});
afterAll(() => server.stop());

const retrieve = (path: string, key = server.secretKey) => server.api('GET', `/v1/meta${path}`, { key });
const endpointAt = async (path: string) => (await retrieve(path)).body.data['endpoint'];

describe.each(rows)('The quick docs of $name', ({ endpoint, path }) => {
  const { method } = endpoint;
  const inMeta = `${path.replace('/v1', '')}?method=${method}`;

  it('The quick docs of an endpoint have exactly the six fields', async () => {
    const { status, body } = await retrieve(inMeta);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      description: endpoint.description,
      endpoint: `${method} ${path}`,
      headers: expect.objectContaining({
        ...(endpoint.key !== 'none' && { Authorization: 'Bearer <API_KEY>' }),
        'Content-Type': 'application/json',
      }) as object,
      request_spec: { type: expect.any(String) as string, spec: expect.any(Object) as object },
      sample_request: expect.stringMatching(
        endpoint.key === 'none' ? /^curl (?!.*<API_KEY>)/ : /^curl .*<API_KEY>/,
      ) as string,
      sample_response: expect.objectContaining({ status: 'success' }) as object,
    });
  });

  it('The quick docs describe every path, query and body parameter', async () => {
    const { type, spec } = (await retrieve(inMeta)).body.data['request_spec'] as {
      type: string;
      spec: Record<string, string>;
    };
    const declared = [endpoint.params, endpoint.query, endpoint.body].flatMap((schema) =>
      Object.keys(schema?.shape ?? {}),
    );
    expect(Object.keys(spec).filter((name) => !name.includes('.'))).toEqual(declared);
    for (const [name, text] of Object.entries(spec)) expect(text, name).toMatch(/^[A-Z].+[^ ]\.?$/);
    const kinds = [
      endpoint.params && 'path-params',
      endpoint.query && 'query-params',
      endpoint.body && 'body',
    ].filter(Boolean);
    expect(type).toBe(kinds.join(', ') || 'none');
  });

  it('The quick docs show a reply that the contract parses', async () => {
    const { sample_response } = (await retrieve(inMeta)).body.data as {
      sample_response: { message: string; data?: unknown; meta?: { pagination: unknown } };
    };
    expect(sample_response.message).toBe(endpoint.sample.message);
    expect('data' in sample_response).toBe(endpoint.data !== undefined);
    if (endpoint.data) expect(endpoint.data.parse(sample_response.data)).toEqual(sample_response.data);
    expect(sample_response.meta).toEqual(
      endpoint.paginated && { pagination: { total: 1, count: 1, from: 1, to: 1 } },
    );
  });

  it('The quick docs show a call with every required parameter', async () => {
    const { sample_request } = (await retrieve(inMeta)).body.data as { sample_request: string };
    expect(sample_request).toContain(`"{base_url}${path}`);
    if (method !== 'GET') expect(sample_request).toContain(`-X ${method} `);
    for (const { name, place, isRequired } of parametersOf(endpoint)) {
      const isTop = !name.includes('.');
      if (place === 'body' && isRequired && isTop) expect(sample_request).toContain(`"${name}":`);
    }
    if (endpoint.key !== 'none' && (method === 'POST' || method === 'PATCH')) {
      const { headers } = (await retrieve(inMeta)).body.data as { headers: object };
      expect(headers).toHaveProperty('Idempotency-Key');
    }
  });
});

describe('An endpoint is found', () => {
  it.each([
    ['/customers', 'GET /v1/customers'],
    ['/customers/', 'GET /v1/customers'],
    ['/customers?method=POST', 'POST /v1/customers'],
    ['/customers/01J9ZQ1C0A1B2C3D4E5F6G7H8J', 'GET /v1/customers/{customer_id}'],
    ['/customers/{customer_id}?method=PATCH', 'PATCH /v1/customers/{customer_id}'],
    ['/customers/%7Bid%7D', 'GET /v1/customers/{customer_id}'],
    ['/customers/:customer_id', 'GET /v1/customers/{customer_id}'],
    ['/transfers/fee', 'POST /v1/transfers/fee'],
    ['/transfers/{transfer_id}', 'GET /v1/transfers/{transfer_id}'],
    ['/payment-plans/misc', 'GET /v1/payment-plans/misc'],
    ['/payments/checkout', 'POST /v1/payments/checkout'],
    ['/payments/checkout/01J9ZQ4W3V8K2M6N7P5R0S1T2X', 'GET /v1/payments/{payment_id}'],
    [
      '/payments/{id}/currency/set/USDT/tron',
      'PATCH /v1/payments/{payment_id}/currency/set/{currency}/{network}',
    ],
    ['/bank-accounts/account/name', 'POST /v1/bank-accounts/account/name'],
    ['/bank-accounts/banks/NG', 'GET /v1/bank-accounts/banks/{country_code}'],
    ['/meta', 'GET /v1/meta/{endpoint}'],
    ['/meta/countries', 'GET /v1/meta/{endpoint}'],
  ])('%s finds the docs of %s', async (path, expected) => {
    expect(await endpointAt(path)).toBe(expected);
  });

  it('An unknown endpoint is a 404', async () => {
    for (const path of [
      '/nothing',
      '/customers/a/b',
      '/v1/customers',
      '/customers?method=DELETE',
      '/sandbox',
    ]) {
      const { status, body } = await retrieve(path);
      expect([status, body.data.code], path).toEqual([404, 'not_found']);
    }
  });

  it('An endpoint is found only by a valid method', async () => {
    const { status, body } = await retrieve('/customers?method=PUT');
    expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', 'method']);
  });
});

it('/v1/meta lists every endpoint, in the order of the contract', async () => {
  const { data } = (await retrieve('')).body as unknown as { data: { endpoint: string }[] };
  expect(data.map(({ endpoint }) => endpoint)).toEqual(
    rows.map(({ endpoint, path }) => `${endpoint.method} ${path}`),
  );
});

it('/v1/meta/countries returns the sample in the docs of /v1/meta', async () => {
  expect((await retrieve('/countries')).body.data).toEqual(api.meta.retrieve.sample.data);
});

it('/v1/meta requires a secret key', async () => {
  const { status, body } = await retrieve('/customers', server.publicKey);
  expect([status, body.data.code]).toEqual([403, 'secret_key_required']);
});
