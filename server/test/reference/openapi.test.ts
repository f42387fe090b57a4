/** The API's description for programs and for people: `/openapi.json` and `/docs`, against the table they are made from. */
import { readFileSync } from 'node:fs';
import {
  api,
  errorStatus,
  sandbox,
  webhookEventType,
  type Endpoint,
  type ErrorCode,
} from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorMeanings, errorsOf } from '../../src/reference/errors.js';
import { parametersOf } from '../../src/reference/parameters.js';
import { createOpenApi } from '../../src/reference/openapi.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { $ref?: string; name?: string; in?: string; description?: string }[];
  readonly requestBody?: {
    content: { 'application/json': { schema: { properties: object }; example: unknown } };
  };
  readonly responses: Record<
    string,
    { content: { 'application/json': { example: Record<string, unknown> } } }
  >;
}
interface Document {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, { post: { operationId: string } }>;
  readonly components: { schemas: Record<string, { enum?: unknown }> };
}

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(committed) as Document;

const rows = Object.entries({ ...api, sandbox }).flatMap(([resource, verbs]) =>
  Object.entries(verbs).map(([verb, endpoint]: [string, Endpoint]) => ({
    name: `${resource}.${verb}`,
    endpoint,
    // Two paths of the table differ in a placeholder's name alone, which OpenAPI takes for one path.
    path: endpoint.path
      .replace('{*', '{')
      .replace(/\/payment-plan-subscribers\/\{\w+\}/, '/payment-plan-subscribers/{id}'),
  })),
);

function operationOf({ endpoint, path }: (typeof rows)[number]): Operation {
  const operation = document.paths[path]?.[endpoint.method.toLowerCase()];
  if (!operation) throw new Error(`${endpoint.method} ${path} is not described`);
  return operation;
}

describe('openapi.json', () => {
  it('is what the contract says; npm run openapi writes it', () => {
    expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(createOpenApi('/'))));
  });

  it('describes each endpoint once, and nothing else', () => {
    expect(document.openapi).toBe('3.1.0');
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(rows.map(({ endpoint, path }) => `${endpoint.method} ${path}`).sort());
    const ids = rows.map((row) => operationOf(row).operationId);
    expect(new Set(ids).size).toBe(54);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  });

  it('describes every resource', () => {
    const used = new Set(rows.flatMap((row) => operationOf(row).tags));
    expect(document.tags.map(({ name }) => name)).toEqual([...used]);
    for (const { description } of document.tags) expect(description).toMatch(/^[A-Z].*\.$/);
  });

  it('has the closed list of error codes', () => {
    expect(document.components.schemas['ErrorCode']?.enum).toEqual(Object.keys(errorStatus));
  });

  it('has every webhook', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([...webhookEventType.options].sort());
  });

  it.each(rows)('$name: its keys, parameters, samples and errors', (row) => {
    const { endpoint } = row;
    const operation = operationOf(row);
    const names = operation.security.flatMap((scheme) => Object.keys(scheme));
    expect(names).toEqual(endpoint.key === 'public' ? ['secretKey', 'publicKey'] : ['secretKey']);
    expect(operation.description).toContain(endpoint.description);
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);

    const { parameters = [], requestBody, responses } = operation;
    const declared = parametersOf(endpoint);
    const inUrl = declared.filter(({ place }) => place !== 'body');
    const described = parameters.filter(({ $ref }) => $ref === undefined);
    expect(described.map((parameter) => [parameter.in, parameter.description])).toEqual(
      inUrl.map(({ place, description }) => [place, description]),
    );
    const isKeyed = ['POST', 'PATCH'].includes(endpoint.method) && endpoint.path.startsWith('/v1');
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

it.each(Object.entries(errorMeanings))('%s means what docs/errors.md says', (code, meaning) => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  const [, entry = ''] =
    new RegExp(`^## ${code}\\n+HTTP ${errorStatus[code as ErrorCode]}[.,] ([^]*?)\\n(?:##|$)`, 'm').exec(
      page,
    ) ?? [];
  expect(entry.replace(/\s+/g, ' ')).toContain(meaning);
});

describe('On a running server', () => {
  let server: TestServer;
  beforeAll(async () => {
    const [engine] = engines;
    if (!engine) throw new Error('There is no database engine');
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  it('/openapi.json is open to everybody, and names the server', async () => {
    const reply = await fetch(`${server.url}/openapi.json`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    const served = (await reply.json()) as Document;
    expect(served).toEqual({ ...document, servers: [{ ...document.servers[0], url: server.url }] });
  });

  it('/docs is open to everybody, under a policy that lets nothing else in', async () => {
    const reply = await fetch(`${server.url}/docs`);
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
    expect((await fetch(`${server.url}/docs/`)).url).toBe(`${server.url}/docs`);
  });

  it('/docs has an entry for every endpoint, with its parameters, a call and a reply', async () => {
    const page = await (await fetch(`${server.url}/docs`)).text();
    const articles = page.split('<article ').slice(1);
    expect(articles).toHaveLength(rows.length);
    rows.forEach(({ endpoint, name }, index) => {
      const text = textOf(articles[index] ?? '');
      expect(text, name).toContain(`${endpoint.method} ${endpoint.path.replace('{*', '{')}`);
      expect(text, name).toContain(endpoint.description.replaceAll('`', ''));
      for (const parameter of parametersOf(endpoint)) {
        expect(text, name).toContain(`${parameter.name} ${parameter.type}`);
        expect(text, name).toContain(parameter.description.replaceAll('`', ''));
      }
      expect(text, name).toContain(
        `curl ${endpoint.method === 'GET' ? '' : `-X ${endpoint.method} `}"${server.url}/`,
      );
      expect(text, name).toContain(`"message": "${endpoint.sample.message}"`);
      for (const code of errorsOf(endpoint)) expect(text, name).toContain(`${errorStatus[code]} ${code}`);
    });
  });

  it('/docs links to what it has, and loads only what this server has', async () => {
    const page = await (await fetch(`${server.url}/docs`)).text();
    const all = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    const ids = new Set(all);
    expect(ids.size, 'each id stands once').toBe(all.length);
    const links = [...page.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link = '']) => link);
    const inside = links.filter((link) => link.startsWith('#')).map((link) => link.slice(1));
    expect(inside.filter((id) => !ids.has(id))).toEqual([]);
    expect(inside.length).toBeGreaterThan(100);
    const outside = [...new Set(links.filter((link) => !link.startsWith('#')))];
    expect(outside.sort()).toEqual(['data:,', 'docs.css', 'docs.js', 'openapi.json']);
    for (const [file, type] of [
      ['docs.css', 'text/css; charset=utf-8'],
      ['docs.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const reply = await fetch(`${server.url}/${file}`);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type]);
      expect(await reply.text()).not.toMatch(/https?:\/\/|@import|url\(/);
    }
    for (const code of Object.keys(errorStatus)) expect(ids).toContain(`error-${code}`);
  });

  it('/docs comes compressed, and is not sent again to who has it', async () => {
    const reply = await fetch(`${server.url}/docs`, { headers: { 'Accept-Encoding': 'br' } });
    expect(reply.headers.get('content-encoding')).toBe('br');
    expect(reply.headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
    expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
  });
});

/** What a reader sees: without tags, with one space for any. */
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
