/** The API's documentation, `/openapi.json`, `/docs` and `/docs/errors`, compared with the contract it is made from. */
import { readFileSync } from 'node:fs';
import {
  api,
  endpointsOf,
  type ErrorCode,
  errorStatus,
  sandbox,
  webhookEventType,
} from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromJSONSchema } from 'zod';
import * as z from 'zod/mini';
import { apiErrors, errorsOf } from '../../src/core/reference/errors.js';
import { parametersOf } from '../../src/core/reference/parameters.js';
import { createOpenApi } from '../../src/core/reference/openapi.js';
import { product } from '../../src/modules.js';
import type { CallOptions } from '../support/call.js';
import { engines } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly {
    $ref?: string;
    name?: string;
    in?: string;
    description?: string;
    schema?: object;
  }[];
  readonly requestBody?: {
    content: { 'application/json': { schema: { properties: object }; example: unknown } };
  };
  readonly responses: Record<
    string,
    { content: { 'application/json': { example: Record<string, unknown> } } }
  >;
}
interface Document {
  readonly info: { readonly contact: { readonly name: string } };
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, { post: { operationId: string } }>;
  readonly components: { schemas: Record<string, { enum?: unknown; required?: readonly string[] }> };
}

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(committed) as Document;

const errorsFile = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

const rows = endpointsOf({ ...api, sandbox }).map((one) => ({
  ...one,
  // Two paths differ only in the name of a placeholder. OpenAPI treats them as one.
  path: one.endpoint.path
    .replace('{*', '{')
    .replace(/\/payment-plan-subscribers\/\{\w+\}/, '/payment-plan-subscribers/{id}'),
}));

function operationOf({ endpoint, path }: (typeof rows)[number]): Operation {
  const operation = document.paths[path]?.[endpoint.method.toLowerCase()];
  if (!operation) throw new Error(`${endpoint.method} ${path} is not described`);
  return operation;
}

describe('openapi.json', () => {
  it('openapi.json is up to date with the contract; npm run openapi writes it', () => {
    expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(createOpenApi('/', product))));
    expect(committed, 'a schema that is used twice has a name').not.toContain('/unnamed');
  });

  it('openapi.json describes each endpoint once, and nothing more', () => {
    expect(document.openapi).toBe('3.1.0');
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // The path of the quick docs may also be empty.
    const declared = [...rows.map(({ endpoint, path }) => `${endpoint.method} ${path}`), 'GET /v1/meta'];
    expect(described.sort()).toEqual(declared.sort());
    const ids = rows.map((row) => operationOf(row).operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  });

  it('openapi.json has no record of a resource that a server lacks', () => {
    const { links: _, ...resources } = product.resources;
    const without = createOpenApi('/', { ...product, resources }) as Document;
    expect(
      Object.keys(document.components.schemas).filter((name) => !(name in without.components.schemas)),
    ).toEqual(['Link']);
  });

  it('openapi.json describes every resource', () => {
    const used = new Set(rows.flatMap((row) => operationOf(row).tags));
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted());
    expect(document.tags[0]?.name).toBe('Payments');
    for (const { description } of document.tags) expect(description).toMatch(/^[A-Z].*\.$/);
  });

  it('openapi.json names a contact', () => {
    expect(document.info.contact.name).toMatch(/\w/);
  });

  it('openapi.json has the closed list of error codes', () => {
    expect(document.components.schemas['ErrorCode']?.enum).toEqual(Object.keys(errorStatus));
  });

  it('openapi.json has every webhook', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([...webhookEventType.options].sort());
  });

  it.each(rows)('openapi.json has the keys, parameters, samples and errors of $name', (row) => {
    const { endpoint } = row;
    const operation = operationOf(row);
    const names = operation.security.flatMap((scheme) => Object.keys(scheme));
    const schemes = { public: ['secretKey', 'publicKey'], secret: ['secretKey'], none: [], session: [] };
    expect(names).toEqual(schemes[endpoint.key]);
    expect(operation.description).toContain(endpoint.description);
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);

    const { parameters = [], requestBody, responses } = operation;
    const declared = parametersOf(endpoint);
    const inUrl = declared.filter(({ place }) => place !== 'body');
    const described = parameters.filter(({ $ref }) => $ref === undefined);
    expect(described.map((parameter) => [parameter.in, parameter.description])).toEqual(
      inUrl.map(({ place, description }) => [place, description]),
    );
    const isKeyed = endpoint.key !== 'none' && ['POST', 'PATCH'].includes(endpoint.method);
    expect(parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey')).toBe(isKeyed);

    expect(requestBody?.content['application/json'].example).toEqual(endpoint.sample.body);
    const fields = Object.keys(requestBody?.content['application/json'].schema.properties ?? {});
    expect(fields).toEqual(Object.keys(endpoint.body?.shape ?? {}));
    const { example } = responses['200']?.content['application/json'] ?? {};
    expect(example).toMatchObject({ status: 'success', message: endpoint.sample.message });
    expect(Object.keys(responses)).toEqual([
      ...new Set([
        '200',
        ...errorsOf(endpoint)
          .map((code) => String(errorStatus[code]))
          .sort(),
      ]),
    ]);
  });
});

/** Every field of a request, as the document and as the server see it. */
const fields = rows.flatMap((row) => {
  const { parameters = [], requestBody } = operationOf(row);
  const described: Record<string, unknown> = {
    ...requestBody?.content['application/json'].schema.properties,
    ...Object.fromEntries(
      parameters.flatMap(({ name, schema }) => (name === undefined ? [] : [[name, schema] as const])),
    ),
  };
  const shape: Record<string, z.core.$ZodType> = {
    ...row.endpoint.body?.def.shape,
    ...row.endpoint.query?.def.shape,
  };
  return Object.entries(shape).map(([field, schema]) => ({
    name: `${row.name}: ${field}`,
    inDocument: fromJSONSchema(described[field] as Parameters<typeof fromJSONSchema>[0]),
    accepts: (value: unknown) => z.safeParse(schema, value).success,
  }));
});

describe('A field of a request', () => {
  const values = [
    ...[-1, 0, 1, 1.5, 1e21, 0.1, Number.NaN, true, null, [], {}],
    ...[
      '',
      ' ',
      '-1',
      '0',
      '1',
      ' 1 ',
      '1.5',
      '0.00',
      '1e5',
      'NaN',
      'Infinity',
      '1,5',
      '.5',
      '5.',
      '+1',
      '0x10',
      '1'.repeat(20),
    ],
    ...[
      'true',
      'false',
      'yes',
      '2026-01-31',
      '2026-01-31T12:00:00Z',
      '2026-01-31 12:00',
      '31.01.2026',
      'monthly',
      'USD',
    ],
    ...[
      'ada@example.com',
      'ada@',
      'x'.repeat(300),
      'https://shop.example/thanks',
      ['USDT'],
      { email: 'ada@example.com' },
    ],
  ];

  it.each(fields)(
    '$name: the document refuses nothing that the server accepts',
    ({ inDocument, accepts }) => {
      const refused = values.filter((value) => accepts(value) && !inDocument.safeParse(value).success);
      expect(refused).toEqual([]);
    },
  );

  const numbers = fields.filter(
    ({ accepts }) => accepts('1') && accepts(1) && !accepts('-1') && !accepts('USD'),
  );
  it.each(numbers)(
    '$name: -1, "NaN" and "" fail in the document as on the server',
    ({ inDocument, accepts }) => {
      const wrong = [
        -1,
        '-1',
        'NaN',
        '',
        ' ',
        'Infinity',
        '1e5',
        '1,5',
        '.5',
        '5.',
        '+1',
        '0x10',
        'USD',
        true,
        // It takes away an amount that can be left out.
        ...(accepts(null) ? [] : [null]),
        [],
        {},
      ];
      expect(wrong.filter((value) => inDocument.safeParse(value).success)).toEqual([]);
    },
  );
  it('amounts and page numbers are among the fields for numbers', () => {
    const names = numbers.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'payments.create: amount',
        'transfers.create: amount',
        'customers.list: page',
        'payouts.list: minAmount',
      ]),
    );
  });

  const positive = numbers.filter(({ accepts }) => !accepts(0));
  it.each(positive)('$name: 0 fails in the document as on the server', ({ inDocument }) => {
    expect([0, '0', '0.00'].filter((value) => inDocument.safeParse(value).success)).toEqual([]);
  });
  it('a price is among the fields that must be above 0', () => {
    expect(positive.map(({ name }) => name)).toContain('payments.create: amount');
  });

  const times = fields.filter(({ accepts }) => accepts('2026-01-31') && !accepts('USD'));
  it.each(times)('$name: a text that is no date fails in the document', ({ inDocument }) => {
    expect(
      ['', 'yesterday', '31.01.2026', '2026-01-31 12:00', '1'].filter(
        (value) => inDocument.safeParse(value).success,
      ),
    ).toEqual([]);
  });
  it('the range of a list is among the fields for times', () => {
    expect(times.map(({ name }) => name)).toContain('customers.list: from');
  });
});

it.each(Object.entries(apiErrors))('%s means what docs/errors.md says', (code, { meaning }) => {
  const [, entry = ''] =
    new RegExp(`^## ${code}\\n+HTTP ${errorStatus[code as ErrorCode]}[.,] ([^]*?)\\n(?:##|$)`, 'm').exec(
      errorsFile,
    ) ?? [];
  expect(entry.replace(/\s+/g, ' ')).toContain(meaning);
});

describe('On a running server', () => {
  let server: TestServer;
  beforeAll(async () => {
    const [engine] = engines;
    if (!engine) throw new Error('No database engine is available');
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  it('the required fields of a payment, transfer and subscriber in the document are always there', async () => {
    const records = createRecords(server);
    const requiredOf = (schema: string) => document.components.schemas[schema]?.required ?? [];
    const retrieve = async (path: string) => (await server.api('GET', path)).body.data;
    const ids = [
      await records.payment(),
      await records.setPayment(),
      (await records.lockedPayment()).id,
      await records.paidPayment(),
    ];
    for (const id of ids) {
      expect(Object.keys(await retrieve(`/v1/payments/${id}`))).toEqual(
        expect.arrayContaining([...requiredOf('Payment')]),
      );
    }
    expect(requiredOf('Payment')).toEqual(
      expect.arrayContaining([
        'id',
        'status',
        'state',
        'txRef',
        'amount',
        'amountReceived',
        'customerDetails',
      ]),
    );
    const transfer = await retrieve(`/v1/transfers/${await records.transfer()}`);
    expect(Object.keys(transfer)).toEqual(expect.arrayContaining([...requiredOf('Transfer')]));
    const subscriber = await retrieve(`/v1/payment-plan-subscribers/${(await records.subscriber()).id}`);
    expect(Object.keys(subscriber)).toEqual(expect.arrayContaining([...requiredOf('Subscriber')]));
  });

  it('/openapi.json needs no key, and names the server', async () => {
    const reply = await fetch(`${server.url}/openapi.json`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    const served = (await reply.json()) as Document;
    expect(served).toEqual({ ...document, servers: [{ ...document.servers[0], url: server.url }] });
  });

  it.each(['/docs', '/docs/errors', '/docs/api/payments'])(
    '%s needs no key, and its policy allows no other origin',
    async (path) => {
      const reply = await fetch(server.url + path);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(reply.headers.get('content-security-policy')?.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        'img-src data:',
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]);
      expect((await fetch(`${server.url}${path}/`)).url).toBe(server.url + path);
    },
  );

  it('/docs/api has an entry for every endpoint, with its parameters, a sample call and a sample reply', async () => {
    const pages = await Promise.all(
      Object.keys(product.resources).map(async (name) => {
        const path = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        return (await fetch(`${server.url}/docs/api/${path}`)).text();
      }),
    );
    const articles = pages.flatMap((page) => page.split('<article ').slice(1)).map(textOf);
    expect(articles).toHaveLength(rows.length);
    for (const { endpoint, name, resource } of rows) {
      const start = `${endpoint.method} ${endpoint.path.replace('{*', '{')} `;
      const text = articles.find((article) => article.includes(start)) ?? '';
      expect(text, name).toContain(endpoint.description.replaceAll('`', ''));
      // The client has no method for the sandbox.
      expect(text.includes(`Client: client.${name} `), name).toBe(Object.hasOwn(api, resource));
      for (const parameter of parametersOf(endpoint)) {
        expect(text, name).toContain(`${parameter.name} ${parameter.type}`);
        expect(text, name).toContain(parameter.description.replaceAll('`', ''));
      }
      expect(text, name).toContain(
        `curl ${endpoint.method === 'GET' ? '' : `-X ${endpoint.method} `}"${server.url}/`,
      );
      expect(text, name).toContain(`"message": "${endpoint.sample.message}"`);
      for (const code of errorsOf(endpoint)) expect(text, name).toContain(`${errorStatus[code]} ${code}`);
    }
  });

  it('the pages share a stylesheet and a script that load nothing from elsewhere', async () => {
    for (const [file, type] of [
      ['docs.css', 'text/css; charset=utf-8'],
      ['docs.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const reply = await fetch(`${server.url}/${file}`);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type]);
      expect(await reply.text()).not.toMatch(/https?:\/\/|@import|url\(/);
    }
  });

  it('/docs/errors explains every code: its status, meaning, cause and remedy', async () => {
    const page = await (await fetch(`${server.url}/docs/errors`)).text();
    for (const [code, { meaning, cause, remedy }] of Object.entries(apiErrors)) {
      const entry = textOf(page.split(`<h2 id="${code}"`)[1]?.split('<h2')[0] ?? '');
      expect(entry, code).toContain(`HTTP ${errorStatus[code as ErrorCode]}`);
      for (const part of [meaning, cause, remedy]) expect(entry, code).toContain(part.replaceAll('`', ''));
    }
  });

  it.each<[ErrorCode, string, string, CallOptions]>([
    ['missing_api_key', 'GET', '/v1/customers', { key: undefined }],
    ['invalid_api_key', 'GET', '/v1/customers', { key: 'sk_test_unknown' }],
    ['validation_error', 'GET', '/v1/customers?page=0', {}],
    ['not_found', 'GET', '/v1/nothing', {}],
    ['not_found', 'GET', '/nothing', {}],
    ['method_not_allowed', 'DELETE', '/v1/customers', {}],
    ['invalid_json', 'POST', '/v1/customers', { body: '{' }],
    [
      'unsupported_media_type',
      'POST',
      '/v1/customers',
      { body: {}, headers: { 'Content-Type': 'text/plain' } },
    ],
    ['payload_too_large', 'POST', '/v1/customers', { body: { email: 'x'.repeat(200_000) } }],
    ['unsupported_currency', 'POST', '/v1/payments/checkout', { body: { amount: 1, baseCurrency: 'XXX' } }],
  ])('a %s reply of %s %s links to its entry on /docs/errors', async (code, method, path, options) => {
    const { body } = await server.api(method, path, options);
    const { docsUrl } = body.data as { docsUrl: string };
    expect(body.data).toMatchObject({ code, docsUrl: `${server.url}/docs/errors#${code}` });
    const page = await fetch(docsUrl);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(`id="${code}"`);
  });

  it('error replies link to the public URL', async () => {
    const [engine] = engines;
    if (!engine) throw new Error('No database engine is available');
    const proxied = await startServer({ engine, env: { PUBLIC_URL: 'https://pay.example.com/api/' } });
    const { body } = await proxied.api('GET', '/v1/nothing');
    expect(body.data).toMatchObject({ docsUrl: 'https://pay.example.com/api/docs/errors#not_found' });
    await proxied.stop();
  });

  it('/docs is sent compressed and can be cached', async () => {
    const reply = await fetch(`${server.url}/docs`, { headers: { 'Accept-Encoding': 'br' } });
    expect(reply.headers.get('content-encoding')).toBe('br');
    expect(reply.headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
    expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
  });
});

/** The text that a reader sees: without tags, and with white space collapsed. */
function textOf(markup: string): string {
  return markup
    .slice(markup.indexOf('>') + 1)
    .replaceAll('<wbr />', '')
    .replace(/<[^>]+>/g, '')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => {
      return { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }[name] ?? '';
    })
    .replace(/\s+/g, ' ');
}
