/** Bad input for every route of the API, aliases included: the reply is always the documented error, never a 5xx. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { api, endpointsOf, sandbox } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, CallOptions } from '../support/call.js';
import { enginesOfQuick } from '../support/engines.js';
import { encodePath, fillPath, mainRoutesOf, routesOf, type Route } from '../support/routes.js';
import { startServer, type TestServer } from '../support/server.js';

const all = routesOf({ ...api, sandbox });
/** Aliases have the fields and parameters of their endpoint, and are read by the same code. */
const main = mainRoutesOf({ ...api, sandbox });
const withBody = all.filter(({ method }) => method !== 'GET');
const ofRecord = all.filter(({ idNames }) => idNames.length > 0);
/** All that need a key. */
const keyed = all.filter(({ endpoint }) => endpoint.key !== 'none');
/** The route with ids that no record has. */
const unknownUrl = ({ idNames, url }: Route) =>
  url((name) => (idNames.includes(name) ? 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ' : undefined));

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
const wrongParameters = [
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
];
const malformedIds = [
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
const fields = main.flatMap((route) => route.fields.map((field) => ({ ...route, field })));
const requiredFields = fields.filter(
  ({ endpoint, body, field }) =>
    endpoint.body?.safeParse({ ...(body as object), [field]: undefined }).success === false,
);
const queries = main.flatMap((route) => route.parameters.map((parameter) => ({ ...route, parameter })));
const placeholders = all.flatMap((route) =>
  route.placeholders.map((placeholder) => ({ ...route, placeholder })),
);

it('The tests cover every route', () => {
  const declared = endpointsOf({ ...api, sandbox });
  expect(new Set(all.map(({ endpoint }) => endpoint)).size).toBe(declared.length);
  expect(all.length).toBeGreaterThan(declared.length);
  for (const some of [ofRecord, requiredFields, queries, placeholders])
    expect(some.length).toBeGreaterThan(0);
});

/** Expects a refusal that names the part that is wrong. */
function expectNamed(answer: Answer, param: string): void {
  expect(code(answer)).toEqual([400, 'validation_error']);
  expect(answer.body.data.param).toBe(param);
  const message = expect.stringMatching(/\w/) as string;
  expect(answer.body.data.errors).toEqual(expect.arrayContaining([{ path: param, message }]));
}

describe.each(enginesOfQuick)('On $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  /** A request of the right form, but for these parts. */
  const ask = ({ method, body }: Route, url: string, change: CallOptions = {}) =>
    server.api(method, url, body === undefined ? change : { body, ...change });

  it.each(keyed)('$title without a key, or with an unknown one, is 401', async ({ method, url }) => {
    for (const [key, problem] of [
      [undefined, 'missing_api_key'],
      [`sk_test_${'x'.repeat(43)}`, 'invalid_api_key'],
    ] as const) {
      const answer = await server.api(method, url(), { key });
      expect(code(answer)).toEqual([401, problem]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it.each(all)('$title with another method is 405 and lists the allowed ones', async ({ method, url }) => {
    for (const other of ['PUT', 'DELETE', 'PATCH', 'POST', 'GET']) {
      const answer = await server.api(other, url());
      const allowed = answer.headers.get('allow')?.split(', ');
      if (answer.status !== 405) continue;
      expect(answer.body.data.code).toBe('method_not_allowed');
      expect(allowed).toContain(method);
      expect(allowed).not.toContain(other);
    }
    expect((await server.api('PUT', url())).status).toBe(405);
  });

  it.each(withBody)('$title with a body over the limit is 413', async (route) => {
    const body = { more: 'x'.repeat(200_000) };
    expect(code(await ask(route, route.url(), { body }))).toEqual([413, 'payload_too_large']);
    expect((await ask(route, route.url(), { body: JSON.stringify(body) })).status).toBe(413);
  });

  it.each(withBody)('$title with malformed JSON is 400', async (route) => {
    for (const body of ['{', '{"a":}', 'nothing', '\u{feff}{}x', "{'a':1}", '{"a":1}{"b":2}']) {
      expect(code(await ask(route, route.url(), { body }))).toEqual([400, 'invalid_json']);
    }
  });

  it.each(withBody)('$title with another content type than JSON is 415', async (route) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const headers = { 'Content-Type': type };
      const answer = await ask(route, route.url(), { body: route.body ?? { a: 1 }, headers });
      expect(code(answer)).toEqual([415, 'unsupported_media_type']);
    }
  });

  it.each(withBody)('$title with a body that is not an object is 400', async (route) => {
    for (const body of ['[]', 'null', '1', '"text"', 'true', '[{}]']) {
      expect(code(await ask(route, route.url(), { body }))).toEqual([400, 'validation_error']);
    }
  });

  it.each(requiredFields)('$title without $field is 400 and names it', async (route) => {
    const { body, field } = route;
    const answer = await ask(route, route.url(), { body: { ...(body as object), [field]: undefined } });
    expect(code(answer)).toEqual([400, 'validation_error']);
    expect(answer.body.data.param).toBe(field);
    expect(answer.body.data.errors).toEqual([{ path: field, message: expect.stringMatching(/./) as string }]);
  });

  it.each(all)('$title with an unknown query parameter is 400 and names it', async (route) => {
    expectNamed(await ask(route, `${route.url()}?surplus=1`), 'surplus');
  });

  it.each(placeholders)('$title with a $placeholder that is not UTF-8 is 400 and names it', async (route) => {
    const { path, placeholder, endpoint } = route;
    const valueOf = (name: string) => encodePath(endpoint.sample.params?.[name] ?? name);
    const url = fillPath(path, (name) => (name === placeholder ? '%FF' : valueOf(name)));
    expectNamed(await ask(route, url), placeholder);
  });

  it.each(keyed.filter(({ method }) => method === 'POST' || method === 'PATCH'))(
    '$title with an Idempotency-Key that is too long is 400',
    async (route) => {
      const headers = { 'Idempotency-Key': 'k'.repeat(256) };
      expect(code(await ask(route, route.url(), { headers }))).toEqual([400, 'validation_error']);
    },
  );

  it.each(fields)(
    '$title with a wrong $field never fails with a 5xx, and names the field if it is refused',
    async (route) => {
      const { body, field, endpoint } = route;
      const sendWith = (value: unknown) =>
        ask(route, route.url(), { body: { ...(body as object), [field]: value } });
      for (const value of wrongValues) {
        const { status } = await sendWith(value);
        expect(status, `${field}: ${JSON.stringify(value)}`).toBeLessThan(500);
      }
      const isList = endpoint.body?.safeParse({ ...(body as object), [field]: [] }).success;
      expectNamed(await sendWith(isList ? {} : []), field);
    },
  );

  it.each(all)('$title ignores unknown fields', async (route) => {
    const url = unknownUrl(route);
    const plain = await ask(route, url);
    const surplus = {
      __proto__x: 1,
      constructor: { prototype: { isAdmin: true } },
      surplus: [1, { a: null }],
      ...(route.body as object | undefined),
    };
    const answer = await ask(route, url, route.method === 'GET' ? {} : { body: surplus });
    // A second payment with the same reference is a conflict. Every other reply is the same as before.
    expect([plain.status, 409]).toContain(answer.status);
    expect(answer.status).toBeLessThan(500);
  });

  it.each(all.filter(({ method }) => method === 'GET'))(
    '$title with HEAD answers without a body, or 405 if GET changes something',
    async ({ endpoint, url }) => {
      // Only the books need parameters in the query.
      const query = new URLSearchParams(endpoint.sample.query);
      const answer = await server.api('HEAD', query.size > 0 ? `${url()}?${query}` : url());
      expect(answer.body).toBeUndefined();
      if (!endpoint.changesOnGet) return expect([200, 404]).toContain(answer.status);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
    },
  );

  it.each(queries)(
    '$title with a repeated ?$parameter is 400 and names it, and with a wrong one never a 5xx',
    async (route) => {
      const { parameter } = route;
      expectNamed(await ask(route, `${route.url()}?${parameter}=1&${parameter}=2`), parameter);
      for (const value of wrongParameters) {
        const { status } = await ask(route, `${route.url()}?${parameter}=${encodeURI(value)}`);
        expect(status, value).toBeLessThan(500);
      }
    },
  );

  it.each(ofRecord)('$title for an id that does not exist is 404', async (route) => {
    expect(code(await ask(route, unknownUrl(route)))).toEqual([404, 'not_found']);
  });

  it.each(ofRecord)('$title for a malformed id is 404 or 400', async ({ method, path, idNames, body }) => {
    for (const id of malformedIds) {
      const url = fillPath(path, (name) => (idNames.includes(name) ? id : 'usdt'));
      expect([400, 404], id).toContain(await statusOfRawPath(server, method, url, body));
    }
  });

  it.each(all.filter(({ path }) => path.startsWith('/sandbox')))(
    '$title does not exist for live keys',
    async (route) => {
      const key = await server.foreignKey('public', 'live');
      expect(code(await ask(route, route.url(), { key }))).toEqual([404, 'not_found']);
    },
  );
});

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
