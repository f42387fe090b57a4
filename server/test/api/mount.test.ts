/** The API layer on a small table of endpoints: order of checks, routing, validation, replies and errors. */
import { api, endpoint } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integer, positiveDecimal, requiredText } from '../../../src/contract/fields.js';
import type { Handlers } from '../../src/core/api/handler.js';
import { Problem } from '../../src/core/shared/problem.js';
import { call, type CallOptions } from '../support/call.js';
import { startTable, type TableServer } from '../support/table-server.js';
import type { Scope } from '../../src/core/shared/scope.js';
import { clockAt } from '../support/clock.js';

const sample = { message: 'Done' };
const thing = z.object({ id: z.string(), label: z.string() });

const table = {
  things: {
    list: endpoint({
      method: 'GET',
      path: '/v1/things',
      key: 'secret',
      description: 'Lists things.',
      query: z.object({ page: z._default(integer(1), 1), label: z.optional(z.string()) }),
      data: z.array(thing),
      paginated: true,
      sample,
    }),
    create: endpoint({
      method: 'POST',
      path: '/v1/things',
      key: 'secret',
      description: 'Creates a thing.',
      body: z.object({
        label: requiredText(20),
        amount: positiveDecimal,
        owner: z.optional(z.object({ email: z.email() })),
        tags: z.optional(z.array(z.string())),
      }),
      data: z.unknown(),
      sample,
    }),
    retrieve: endpoint({
      method: 'GET',
      path: '/v1/things/{thing_id}',
      aliases: ['/v1/things/special/{thing_id}'],
      key: 'public',
      description: 'Fetches a thing.',
      params: z.object({ thing_id: z.string() }),
      data: thing,
      sample,
    }),
    special: endpoint({
      method: 'POST',
      path: '/v1/things/special',
      key: 'public',
      description: 'Special.',
      sample,
    }),
    move: endpoint({
      method: 'PATCH',
      path: '/v1/things/{owner_id}/move/{place}',
      key: 'secret',
      description: 'Moves a thing.',
      params: z.object({ owner_id: z.string(), place: z.string() }),
      data: z.object({ owner_id: z.string(), place: z.string() }),
      sample,
    }),
    remove: endpoint({
      method: 'DELETE',
      path: '/v1/things/all',
      key: 'secret',
      description: 'Removes.',
      sample,
    }),
    wrong: endpoint({
      method: 'GET',
      path: '/v1/wrong',
      key: 'secret',
      description: 'Breaks its contract.',
      data: z.object({ count: z.number() }),
      sample,
    }),
    broken: endpoint({ method: 'GET', path: '/v1/broken', key: 'secret', description: 'Breaks.', sample }),
    refused: endpoint({ method: 'GET', path: '/v1/refused', key: 'public', description: 'Refuses.', sample }),
    unreachable: endpoint({
      method: 'GET',
      path: '/v1/unreachable',
      key: 'secret',
      description: 'Down.',
      sample,
    }),
    rest: endpoint({
      method: 'GET',
      path: '/v1/docs/{*path}',
      key: 'secret',
      description: 'Takes the rest.',
      params: z.object({ path: z.string() }),
      data: z.object({ path: z.string() }),
      sample,
    }),
  },
};

const handlers: Handlers<typeof table> = {
  things: {
    list: ({ query }) =>
      Promise.resolve({
        message: 'Things fetched',
        data: [{ id: String(query.page), label: query.label ?? '' }],
        pagination: { total: 1, count: 1, from: 1, to: 1 },
      }),
    create: ({ body }) => Promise.resolve({ message: 'Thing created', data: body }),
    retrieve: ({ params }) =>
      Promise.resolve({
        message: 'Thing fetched',
        data: { id: params.thing_id, label: 'A thing', secret: 'not in the contract' } as {
          id: string;
          label: string;
        },
      }),
    special: () => Promise.resolve({ message: 'Special done', data: undefined }),
    move: ({ params }) => Promise.resolve({ message: 'Moved', data: params }),
    remove: () => Promise.resolve({ message: 'Removed', data: undefined }),
    wrong: () => Promise.resolve({ message: 'Wrong', data: { count: 'many' as unknown as number } }),
    broken: () => Promise.reject(new Error('select * from secrets where password = 1')),
    refused: () =>
      Promise.reject(new Problem('duplicate_tx_ref', 'Taken', { param: 'txRef', paymentId: 'PAYMENT' })),
    unreachable: () =>
      Promise.reject(
        Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' }),
      ),
    rest: ({ params }) => Promise.resolve({ message: 'Found', data: params }),
  },
};

let server: TableServer;
beforeAll(async () => {
  server = await startTable({ table, handlers });
});
afterAll(() => server.stop());

const callWithKey = (method: string, path: string, options: CallOptions = {}) =>
  call(server.url, method, path, { key: server.secret, ...options });
const createThing = (body: unknown) => callWithKey('POST', '/v1/things', { body });
const good = { label: 'Lamp', amount: 1 };
const docsUrl = (code: string) => `${server.publicUrl}/docs/errors#${code}`;

describe('A reply', () => {
  it('A reply is the envelope with the fields of the contract and no others', async () => {
    const { status, headers, body } = await callWithKey('GET', '/v1/things/T1');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      message: 'Thing fetched',
      data: { id: 'T1', label: 'A thing' },
    });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });

  it('A list has meta.pagination', async () => {
    const { body } = await callWithKey('GET', '/v1/things?page=3&label=x');
    expect(body).toMatchObject({
      data: [{ id: '3', label: 'x' }],
      meta: { pagination: { total: 1, count: 1, from: 1, to: 1 } },
    });
  });

  it('A reply without data has only status and message', async () => {
    const { body } = await callWithKey('POST', '/v1/things/special');
    expect(body).toEqual({ status: 'success', message: 'Special done' });
  });

  it('The reply to HEAD is the reply to GET without the body', async () => {
    const { status, headers, body } = await callWithKey('HEAD', '/v1/things/T1');
    expect([status, body]).toEqual([200, undefined]);
    expect(Number(headers.get('content-length'))).toBeGreaterThan(20);
  });

  it('A reply that breaks the contract is a 500, logged with the field', async () => {
    const { status, body } = await callWithKey('GET', '/v1/wrong');
    expect([status, body.data.code]).toEqual([500, 'internal_error']);
    expect(server.logged.at(-1)).toContain('The reply of GET /v1/wrong has invalid fields: data.count');
  });
});

describe('A path', () => {
  it.each([
    ['GET', '/v1/things/special', 405, 'POST'],
    ['GET', '/v1/things/all', 405, 'DELETE'],
    ['PUT', '/v1/things', 405, 'GET, HEAD, POST'],
    ['DELETE', '/v1/things/T1', 405, 'GET, HEAD'],
    ['POST', '/v1/things/special/T1', 405, 'GET, HEAD'],
  ])('A path is matched before the method: %s %s is %i, Allow: %s', async (method, path, status, allow) => {
    const answer = await callWithKey(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    expect(answer.body.data.code).toBe('method_not_allowed');
  });

  it.each(['/v1/things/special/T2', '/v1/things/T2', '/v1/things/T2/'])('%s retrieves T2', async (path) => {
    const { body } = await callWithKey('GET', path);
    expect(body.data).toEqual({ id: 'T2', label: 'A thing' });
  });

  it('Each placeholder of a path gets its decoded value', async () => {
    const { body } = await callWithKey('PATCH', '/v1/things/a%20b/move/%C3%A9t%C3%A9%2F1');
    expect(body.data).toEqual({ owner_id: 'a b', place: 'été/1' });
  });

  it.each([
    ['/v1/docs', ''],
    ['/v1/docs/', ''],
    ['/v1/docs/a', 'a'],
    ['/v1/docs/a/:b/{c}', 'a/:b/{c}'],
    ['/v1/docs/things', 'things'],
  ])('A rest placeholder matches any number of segments: %s', async (path, rest) => {
    const { body } = await callWithKey('GET', path);
    expect(body.data).toEqual({ path: rest });
  });

  it.each(['/v1', '/v1/nothing', '/v1/things/a/b/c', '/v1//things', '/v1/__proto__', '/v1/things//'])(
    'A path that does not exist is 404 with a key and 401 without: %s',
    async (path) => {
      const known = await callWithKey('GET', path);
      expect([known.status, known.body.data.code]).toEqual([404, 'not_found']);
      const unknown = await callWithKey('GET', path, { key: undefined });
      expect([unknown.status, unknown.body.data.code]).toEqual([401, 'missing_api_key']);
    },
  );

  it.each(['/v1/things/%ZZ', '/v1/things/%ff', '/v1/things/a%00b'])(
    'A path that cannot be decoded is 400: %s',
    async (path) => {
      const { status, body } = await callWithKey('GET', path);
      expect([status, body.data.code]).toEqual([400, 'validation_error']);
      expect((await callWithKey('GET', path, { key: undefined })).status).toBe(401);
    },
  );
});

describe('The key', () => {
  it.each([
    ['no header', {}, 'missing_api_key'],
    ['an empty header', { Authorization: '' }, 'missing_api_key'],
    ['another scheme', { Authorization: 'Basic c2tfdGVzdDo=' }, 'invalid_api_key'],
    ['no token', { Authorization: 'Bearer' }, 'invalid_api_key'],
    ['two tokens', { Authorization: 'Bearer a b' }, 'invalid_api_key'],
    ['a malformed key', { Authorization: 'Bearer abc' }, 'invalid_api_key'],
    ['an unknown key', { Authorization: `Bearer sk_test_${'a'.repeat(43)}` }, 'invalid_api_key'],
  ])('A request with %s is refused with 401', async (_name, headers, code) => {
    const {
      status,
      headers: answered,
      body,
    } = await callWithKey('GET', '/v1/things', { key: undefined, headers });
    expect([status, body.data.code, answered.get('www-authenticate')]).toEqual([401, code, 'Bearer']);
    expect(body.data.requestId).toBe(answered.get('x-request-id'));
  });

  it('The key may be sent with its scheme in any case', async () => {
    const headers = { Authorization: `bearer ${server.secret}` };
    expect((await callWithKey('GET', '/v1/things', { key: undefined, headers })).status).toBe(200);
  });

  it('A public key is refused where the endpoint needs a secret one, before the body is read', async () => {
    const { status, body } = await callWithKey('POST', '/v1/things', {
      key: server.public,
      body: '{"broken',
    });
    expect([status, body.data.code]).toEqual([403, 'secret_key_required']);
  });

  it('A key of either kind works on a public endpoint', async () => {
    expect((await callWithKey('GET', '/v1/things/T1', { key: server.public })).status).toBe(200);
    expect((await callWithKey('GET', '/v1/things/T1', { key: server.secret })).status).toBe(200);
  });
});

describe('A body', () => {
  it.each([
    ['an array', '[]', 400, 'validation_error'],
    ['null', 'null', 400, 'validation_error'],
    ['text', '"label"', 400, 'validation_error'],
    ['truncated', '{"label":', 400, 'invalid_json'],
    ['not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_json'],
    ['100 kB and more', JSON.stringify({ ...good, more: 'x'.repeat(102_400) }), 413, 'payload_too_large'],
    ['with U+0000', '{"label":"a\\u0000b","amount":1}', 400, 'validation_error'],
    [
      'deeply nested',
      `{"label":${'['.repeat(40_000)}${']'.repeat(40_000)},"amount":1}`,
      400,
      'validation_error',
    ],
  ])('A body is refused if it is: %s', async (_name, body, status, code) => {
    const answer = await createThing(body);
    expect([answer.status, answer.body.data.code]).toEqual([status, code]);
  });

  it('A body with a Content-Length over the limit is refused', async () => {
    const { status, body } = await createThing({ ...good, more: 'x'.repeat(300_000) });
    expect([status, body.data.code]).toEqual([413, 'payload_too_large']);
  });

  it('A body with \\u0000 after an escaped backslash is accepted', async () => {
    const { status, body } = await createThing('{"label":"a\\\\u0000b","amount":1}');
    expect([status, body.data]).toMatchObject([200, { label: 'a\\u0000b' }]);
  });

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/json; charset=iso-8859-1'],
    ['multipart/form-data; boundary=x'],
  ])('A body sent as %s is 415', async (type) => {
    const { status, body } = await callWithKey('POST', '/v1/things', {
      body: good,
      headers: { 'Content-Type': type },
    });
    expect([status, body.data.code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset="UTF-8"',
    'application/merge-patch+json',
  ])('A body sent as %s is accepted', async (type) => {
    const { status } = await callWithKey('POST', '/v1/things', {
      body: good,
      headers: { 'Content-Type': type },
    });
    expect(status).toBe(200);
  });

  it('A compressed body is 415', async () => {
    const { status } = await callWithKey('POST', '/v1/things', {
      body: good,
      headers: { 'Content-Encoding': 'gzip' },
    });
    expect(status).toBe(415);
  });

  it('A missing body counts as an empty object, even with a Content-Type', async () => {
    const { status, body } = await callWithKey('POST', '/v1/things', {
      headers: { 'Content-Type': 'application/json' },
    });
    expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', 'label']);
    expect((await callWithKey('DELETE', '/v1/things/all')).status).toBe(200);
    expect((await createThing('')).status).toBe(400);
  });

  it.each([
    ['DELETE', '/v1/things/all'],
    ['POST', '/v1/things/special'],
    ['PATCH', '/v1/things/a/move/b'],
  ])('A body is validated even if the endpoint takes none: %s %s', async (method, path) => {
    expect((await callWithKey(method, path, { body: '{"broken' })).status).toBe(400);
    expect((await callWithKey(method, path, { body: [] })).status).toBe(400);
    expect((await callWithKey(method, path, { body: { surplus: 1 } })).status).toBe(200);
  });

  it('A body loses unknown fields and cannot set the prototype', async () => {
    const { status, body } = await createThing(
      '{"label":"Lamp","amount":"1.50","__proto__":{"isAdmin":true},"constructor":{"prototype":{}},"more":1}',
    );
    expect([status, body.data]).toEqual([200, { label: 'Lamp', amount: '1.5' }]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

describe('Validation', () => {
  it('Validation lists every invalid field by its path', async () => {
    const { status, body } = await createThing({ label: '', amount: 'x', owner: { email: 'nobody' } });
    expect(status).toBe(400);
    expect(body.status).toBe('error');
    expect(body.data).toEqual({
      code: 'validation_error',
      requestId: expect.any(String) as string,
      docsUrl: docsUrl('validation_error'),
      param: 'label',
      errors: [
        { path: 'label', message: expect.stringMatching(/too small/i) as string },
        {
          path: 'amount',
          message:
            'Must be a number of at most 15 digits and 40 characters, not negative. Round it, or send text such as "0.30"',
        },
        { path: 'owner.email', message: 'Invalid email address' },
      ],
    });
  });

  it('A repeated query parameter is refused', async () => {
    const { status, body } = await callWithKey('GET', '/v1/things?page=1&page=2');
    expect([status, body.data.param]).toEqual([400, 'page']);
  });

  it.each(['page=0', 'page=x', 'page=', 'page=1.5', 'page[a]=1&page=-1', 'label=%00'])(
    'The query ?%s is refused',
    async (query) => {
      expect((await callWithKey('GET', `/v1/things?${query}`)).status).toBe(400);
    },
  );

  it.each([
    ['__proto__=1', '__proto__'],
    ['constructor=x', 'constructor'],
    ['hasOwnProperty=1', 'hasOwnProperty'],
    ['page[a]=1', 'page[a]'],
    ['page=1&Page=2', 'Page'],
    ['surplus', 'surplus'],
  ])('The unknown parameter in ?%s is refused and named', async (query, name) => {
    const { status, body } = await callWithKey('GET', `/v1/things?${query}`);
    expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', name]);
    expect(body.message).toMatch(/: Unknown query parameter. This endpoint takes only .*page/);
  });

  it('An endpoint that takes no query refuses any', async () => {
    const { status, body } = await callWithKey('GET', '/v1/things/T1?page=1');
    expect([status, body.message]).toEqual([
      400,
      'page: Unknown query parameter. This endpoint takes no query parameters',
    ]);
  });

  it('an error lists 20 mistakes at most, and none at length', async () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`name${index}`, 'x']));
    const unknown = await callWithKey('GET', `/v1/things?${new URLSearchParams(many).toString()}`);
    const entries = await createThing({ label: 'Lamp', amount: 1, tags: Array<number>(11_000).fill(1) });
    const long = await callWithKey('GET', `/v1/things?${'x'.repeat(5000)}=1`);
    for (const { status, body } of [unknown, entries, long]) {
      expect([status, body.data.code]).toEqual([400, 'validation_error']);
      expect(JSON.stringify(body).length).toBeLessThan(5000);
    }
    expect([unknown, entries].map(({ body }) => body.data.errors)).toEqual([
      expect.objectContaining({ length: 20 }),
      expect.objectContaining({ length: 20 }),
    ]);
  });

  it('A missing field is reported as required', async () => {
    const { body } = await createThing({ owner: {} });
    expect(body.message).toBe('label: Is required');
    expect(body.data.errors).toContainEqual({ path: 'amount', message: 'Is required' });
  });

  it.each(['%ZZ=%', 'page=%ff', 'label=%'])('The undecodable query ?%s is refused', async (query) => {
    const { status, body } = await callWithKey('GET', `/v1/things?${query}`);
    expect([status, body.data.param]).toEqual([400, 'query']);
  });
});

describe('An error', () => {
  it('An error of the server hides its cause, which is logged under the request id', async () => {
    const { status, headers, body } = await callWithKey('GET', '/v1/broken');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('select');
    expect(body.data).toEqual({
      code: 'internal_error',
      requestId: headers.get('x-request-id'),
      docsUrl: docsUrl('internal_error'),
    });
    const line = server.logged.at(-1);
    expect(line).toContain(headers.get('x-request-id'));
    expect(line).toContain('select * from secrets');
    expect(line).not.toContain(server.secret);
  });

  it('An error of an unreachable database is 503 with Retry-After', async () => {
    const { status, headers, body } = await callWithKey('GET', '/v1/unreachable');
    expect([status, body.data.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '5']);
    expect(JSON.stringify(body)).not.toContain('10.0.0.1');
  });

  it('An error names the payment that already has the reference only to secret keys', async () => {
    const secret = await callWithKey('GET', '/v1/refused');
    expect([secret.status, secret.body.data]).toMatchObject([409, { param: 'txRef', paymentId: 'PAYMENT' }]);
    const page = await callWithKey('GET', '/v1/refused', { key: server.public });
    expect(page.body.data).not.toHaveProperty('paymentId');
  });

  it.each([
    ['missing_api_key', '/v1/things', { key: undefined }],
    ['not_found', '/v1/nothing', {}],
    ['method_not_allowed', '/v1/things/all', {}],
    ['validation_error', '/v1/things?page=0', {}],
    ['duplicate_tx_ref', '/v1/refused', {}],
    ['internal_error', '/v1/broken', {}],
    ['service_unavailable', '/v1/unreachable', {}],
  ])('An error links to the docs of its code: %s', async (code, path, options) => {
    const { body } = await callWithKey('GET', path, options);
    expect(body.data).toMatchObject({ code, docsUrl: docsUrl(code) });
  });
});

describe('Browsers', () => {
  const preflight = {
    Origin: 'https://shop.example',
    'Access-Control-Request-Method': 'GET',
    'Access-Control-Request-Headers': 'authorization',
  };

  it.each(['/v1/things/T1', '/v1/things/special/T1', '/v1/things/special', '/v1/nothing'])(
    'Browsers may send a preflight request for %s',
    async (path) => {
      const { status, headers } = await callWithKey('OPTIONS', path, { key: undefined, headers: preflight });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
      expect(headers.get('access-control-allow-headers')).toBe('Authorization,Content-Type,Idempotency-Key');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    },
  );

  it.each(['/v1/things/T1', '/v1/refused', '/v1/nothing'])(
    'Browsers may read the replies and errors of %s',
    async (path) => {
      for (const key of [server.public, undefined]) {
        const { headers } = await callWithKey('GET', path, {
          key,
          headers: { Origin: 'https://shop.example' },
        });
        expect(headers.get('access-control-allow-origin')).toBe('*');
        expect(headers.get('access-control-expose-headers')).toBe(
          'Date,Retry-After,X-Request-Id,Idempotent-Replayed',
        );
      }
    },
  );

  it('Browsers learn nothing about an endpoint that only a secret key may call', async () => {
    const { status, headers } = await callWithKey('OPTIONS', '/v1/things', {
      key: undefined,
      headers: preflight,
    });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });
});

describe('The table', () => {
  it('A table must have a handler for each endpoint', async () => {
    const table = { a: { one: api.countries.list } };
    // The types catch this too. A cast gets around them, so it is checked again at startup.
    const incomplete = { a: {} } as Handlers<typeof table>;
    await expect(startTable({ table, handlers: incomplete })).rejects.toThrow('a.one has no handler');
  });

  it('A table must not declare an endpoint twice', async () => {
    const twice = { a: { one: api.countries.list, two: api.countries.list } };
    const none = () => Promise.resolve({ message: '', data: [] });
    await expect(startTable({ table: twice, handlers: { a: { one: none, two: none } } })).rejects.toThrow(
      'GET /v1/countries is declared twice',
    );
  });

  it('A table that is mounted for test mode only does not exist for live keys', async () => {
    const sandbox = await startTable({ table, handlers, modes: ['test'] });
    const answers = await Promise.all(
      [sandbox.live, sandbox.secret].map((key) => call(sandbox.url, 'GET', '/v1/things', { key })),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 200]);
    await sandbox.stop();
  });
});

describe('The Date header', () => {
  it('The Date header follows the clock of the key’s merchant', async () => {
    const clock = {
      ...clockAt(() => 1_500_000_000_000),
      now: ({ mode }: Scope) => (mode === 'test' ? 2_000_000_000_000 : 1_500_000_000_000),
    };
    const moved = await startTable({ table, handlers, clock });
    const dates = await Promise.all(
      [moved.secret, moved.live].map(async (key) =>
        (await call(moved.url, 'GET', '/v1/things', { key })).headers.get('date'),
      ),
    );
    expect(dates).toEqual(['Wed, 18 May 2033 03:33:20 GMT', 'Fri, 14 Jul 2017 02:40:00 GMT']);
    await moved.stop();
  });
});
