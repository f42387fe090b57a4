/** Bad input for every route of the API, aliases included: the reply is always the documented error, never a 5xx. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { api, type Endpoint, endpointsOf, pathsOf, sandbox } from 'crypto-checkout/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/call.js';
import type { TestEngine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

interface Route {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly method: string;
  /** One of the endpoint's paths, filled with the values of its sample. */
  readonly path: string;
  /** The same path with an id that does not exist. */
  readonly unknownPath: string;
  readonly body: unknown;
}

const unknownId = 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ';
function fill(path: string, value: (name: string) => string): string {
  return path.replace(/\{\*?(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
}

export const all = endpointsOf({ ...api, sandbox }).flatMap(({ endpoint }) =>
  pathsOf(endpoint).map((path): Route => {
    const value = (name: string) => endpoint.sample.params?.[name] ?? name;
    return {
      name: `${endpoint.method} ${path}`,
      endpoint,
      method: endpoint.method,
      path: fill(path, value),
      unknownPath: fill(path, (name) => (name.endsWith('_id') ? unknownId : value(name))),
      body: endpoint.sample.body,
    };
  }),
);
const withBody = all.filter(({ method }) => method !== 'GET');
export const ofRecord = all.filter(({ endpoint }) => /\{\w+_id\}/.test(endpoint.path));
/** All that need a key. */
const keyed = all.filter(({ endpoint }) => endpoint.key !== 'none');

const code = ({ status, body }: Answer) => [status, body.data.code] as const;

const wrongValues = [
  null,
  [],
  {},
  true,
  -1,
  1e300,
  '',
  ' ',
  'x'.repeat(3000),
  '\ud800',
  "'; drop table payments;--",
];
const fields = withBody.flatMap((route) =>
  Object.keys(route.endpoint.body?.def.shape ?? {}).map((field) => ({ ...route, field })),
);
const requiredFields = fields.filter(({ endpoint, field }) => {
  const { body } = endpoint;
  return body && !body.safeParse({ ...(endpoint.sample.body as object), [field]: undefined }).success;
});
const queries = all.flatMap((route) =>
  Object.keys(route.endpoint.query?.def.shape ?? {}).map((parameter) => ({ ...route, parameter })),
);

/** A server of its own for the tests of a suite. */
function useServer(engine: TestEngine): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server?.stop());
  return () => {
    if (!server) throw new Error('The server is started before the tests');
    return server;
  };
}

export function testBadInput(engine: TestEngine): void {
  const running = useServer(engine);
  testForms(running);
  testValues(running);
}

/** Requests that are refused by their form, before any record is looked up. */
function testForms(running: () => TestServer): void {
  it.each(keyed)('$name without a key is 401', async ({ method, path }) => {
    const answer = await running().api(method, path, { key: undefined });
    expect(code(answer)).toEqual([401, 'missing_api_key']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each(all)('$name with another method is 405 and lists the allowed ones', async ({ method, path }) => {
    for (const other of ['PUT', 'DELETE', 'PATCH', 'POST', 'GET']) {
      const answer = await running().api(other, path);
      const allowed = answer.headers.get('allow')?.split(', ');
      if (answer.status !== 405) continue;
      expect(answer.body.data.code).toBe('method_not_allowed');
      expect(allowed).toContain(method);
      expect(allowed).not.toContain(other);
    }
    expect((await running().api('PUT', path)).status).toBe(405);
  });

  it.each(withBody)('$name with a body over the limit is 413', async ({ method, path }) => {
    const body = { more: 'x'.repeat(200_000) };
    expect(code(await running().api(method, path, { body }))).toEqual([413, 'payload_too_large']);
    expect((await running().api(method, path, { body: JSON.stringify(body) })).status).toBe(413);
  });

  it.each(withBody)('$name with malformed JSON is 400', async ({ method, path }) => {
    for (const body of ['{', '{"a":}', 'nothing', '\u{feff}{}x', "{'a':1}", '{"a":1}{"b":2}']) {
      expect(code(await running().api(method, path, { body }))).toEqual([400, 'invalid_json']);
    }
  });

  it.each(withBody)('$name with another content type than JSON is 415', async ({ method, path, body }) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const headers = { 'Content-Type': type };
      const answer = await running().api(method, path, { body: body ?? { a: 1 }, headers });
      expect(code(answer)).toEqual([415, 'unsupported_media_type']);
    }
  });

  it.each(withBody)('$name with a body that is not an object is 400', async ({ method, path }) => {
    for (const body of ['[]', 'null', '1', '"text"', 'true', '[{}]']) {
      expect(code(await running().api(method, path, { body }))).toEqual([400, 'validation_error']);
    }
  });

  it.each(requiredFields)(
    '$name without $field is 400 and names it',
    async ({ method, path, body, field }) => {
      const answer = await running().api(method, path, { body: { ...(body as object), [field]: undefined } });
      expect(code(answer)).toEqual([400, 'validation_error']);
      expect(answer.body.data.param).toBe(field);
      expect(answer.body.data.errors).toEqual([
        { path: field, message: expect.stringMatching(/./) as string },
      ]);
    },
  );

  it.each(all)(
    '$name with an unknown query parameter is 400 and names it',
    async ({ method, path, body }) => {
      const options = body === undefined ? {} : { body };
      const answer = await running().api(method, `${path}?surplus=1`, options);
      expect(code(answer)).toEqual([400, 'validation_error']);
      expect(answer.body.data.param).toBe('surplus');
    },
  );

  it.each(keyed.filter(({ method }) => method === 'POST' || method === 'PATCH'))(
    '$name with an Idempotency-Key that is too long is 400',
    async ({ method, path, body }) => {
      const headers = { 'Idempotency-Key': 'k'.repeat(256) };
      const answer = await running().api(method, path, { headers, ...(body !== undefined && { body }) });
      expect(code(answer)).toEqual([400, 'validation_error']);
    },
  );
}

/** Requests that are refused, or accepted, by their values. */
function testValues(running: () => TestServer): void {
  it.each(keyed)('$name with an unknown key is 401', async ({ method, path }) => {
    const answer = await running().api(method, path, { key: `sk_test_${'x'.repeat(43)}` });
    expect(code(answer)).toEqual([401, 'invalid_api_key']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each(fields)(
    '$name with a wrong $field never fails with a 5xx, and names the field if it is refused',
    async ({ method, path, body, field, endpoint }) => {
      for (const value of wrongValues) {
        const answer = await running().api(method, path, { body: { ...(body as object), [field]: value } });
        expect(answer.status, `${field}: ${JSON.stringify(value)}`).toBeLessThan(500);
      }
      const isList = endpoint.body?.safeParse({ ...(endpoint.sample.body as object), [field]: [] }).success;
      const wrong = { ...(body as object), [field]: isList ? {} : [] };
      const answer = await running().api(method, path, { body: wrong });
      expect(code(answer)).toEqual([400, 'validation_error']);
      expect(answer.body.data.param).toBe(field);
    },
  );

  it.each(all)('$name ignores unknown fields', async ({ method, unknownPath, body }) => {
    const plain = await running().api(method, unknownPath, body === undefined ? {} : { body });
    const surplus = {
      __proto__x: 1,
      constructor: { prototype: { isAdmin: true } },
      surplus: [1, { a: null }],
      ...(body as object | undefined),
    };
    const answer = await running().api(method, unknownPath, method === 'GET' ? {} : { body: surplus });
    // A second payment with the same reference is a conflict. Every other reply is the same as before.
    expect([plain.status, 409]).toContain(answer.status);
    expect(answer.status).toBeLessThan(500);
  });

  it.each(all)('$name with HEAD answers without a body, or 405 if GET changes something', async (route) => {
    const { endpoint, path, method } = route;
    if (method !== 'GET') return expect(method).not.toBe('HEAD');
    // Only the books need parameters in the query.
    const query = new URLSearchParams(endpoint.sample.query);
    const answer = await running().api('HEAD', query.size > 0 ? `${path}?${query}` : path);
    expect(answer.body).toBeUndefined();
    if (!endpoint.changesOnGet) return expect([200, 404]).toContain(answer.status);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it.each(queries)(
    '$name with a repeated ?$parameter is 400, and with a wrong one never a 5xx',
    async ({ method, path, parameter }) => {
      expect((await running().api(method, `${path}?${parameter}=1&${parameter}=2`)).status).toBe(400);
      for (const value of [
        '-1',
        'x'.repeat(3000),
        '%00',
        '%ff',
        '{}',
        "'--",
        'NaN',
        '1e9',
        '2026-02-30',
        '\u202e',
      ]) {
        const answer = await running().api(method, `${path}?${parameter}=${encodeURI(value)}`);
        expect(answer.status, value).toBeLessThan(500);
      }
    },
  );

  it.each(ofRecord)('$name for an id that does not exist is 404', async ({ method, unknownPath, body }) => {
    expect(code(await running().api(method, unknownPath, { ...(body !== undefined && { body }) }))).toEqual([
      404,
      'not_found',
    ]);
  });

  it.each(ofRecord)('$name for a malformed id is 404 or 400', async ({ method, endpoint, body }) => {
    const ids = [
      '%00',
      '%ff',
      '%',
      '..',
      '.',
      "'",
      '%2e%2e%2f',
      'x'.repeat(5000),
      '%F0%9F%92%A9',
      '-1',
      'null',
      '__proto__',
    ];
    for (const id of ids) {
      const path = endpoint.path.replace(/\{\w+_id\}/, id).replace(/\{(\w+)\}/g, 'usdt');
      expect([400, 404], id).toContain(await statusOfRawPath(running(), method, path, body));
    }
  });

  it.each(all.filter(({ path }) => path.startsWith('/sandbox')))(
    '$name does not exist for live keys',
    async ({ method, path, body }) => {
      const live = await running().foreignKey('public', 'live');
      expect(code(await running().api(method, path, { key: live, body }))).toEqual([404, 'not_found']);
    },
  );
}

/** Sends the path exactly as written: `fetch` would normalize it. */
async function statusOfRawPath(
  server: TestServer,
  method: string,
  path: string,
  body: unknown,
): Promise<number | undefined> {
  const { hostname, port } = new URL(server.url);
  const headers = { Authorization: `Bearer ${server.secretKey}`, 'Content-Type': 'application/json' };
  const sent = request({ hostname, port, method, path, headers });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
