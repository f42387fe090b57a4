/** Makes malformed requests from a seed, as the bytes that a client writes to its socket. */
import { api, endpointsOf, pathsOf, sandbox } from 'crypto-checkout/contract';

export interface MalformedRequest {
  /** Written one after the other. */
  readonly bytes: Buffer;
  /** The client's next step when it has written them: wait for the reply, close its side, or cut the connection. */
  readonly then: 'wait' | 'end' | 'destroy';
}

export interface KnownValues {
  readonly secretKey: string;
  readonly publicKey: string;
  /** A payment's id. */
  readonly paymentId: string;
}

/** In every value that the requests make up. It must never be in the log. */
export const canary = 'zQxCanary7';

type Pick = <T>(options: readonly T[]) => T;

/** The mulberry32 generator: small, and the same everywhere. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Target {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: unknown;
}

const page = (path: string, method = 'GET', body?: unknown): Target => ({ method, path, query: [], body });

const targets: readonly Target[] = [
  ...endpointsOf({ ...api, sandbox }).flatMap(({ endpoint }) =>
    pathsOf(endpoint).map((path) => ({
      method: endpoint.method,
      path: path.replace('{*', '{'),
      query: Object.keys(endpoint.query?.def.shape ?? {}),
      // A clock that runs ahead by half an hour each time would soon be years ahead.
      body: path === '/sandbox/clock' ? { advanceSeconds: 0 } : endpoint.sample.body,
    })),
  ),
  page('/'),
  page('/index.html'),
  page('/pay/{id}'),
  page('/pay/page.css'),
  page('/receipt/{id}'),
  page('/receipt/page.css'),
  page('/crypto-checkout.js'),
  page('/crypto-checkout-{version}.js'),
  page('/crypto-checkout.tgz'),
  page('/chunks/{name}'),
  page('/chunks/{name}.js'),
  page('/flags/{name}'),
  page('/flags/ng.svg'),
  page('/docs'),
  page('/docs/'),
  page('/docs/errors'),
  page('/docs/{name}'),
  page('/docs.css'),
  page('/openapi.json'),
  page('/healthz'),
  page('/readyz'),
  page('/metrics'),
  page('/demo-api/config'),
  page('/demo-api/orders', 'POST', { quantity: 1, baseCurrency: 'USD' }),
  page('/demo-api/orders/{reference}'),
  page('/demo-api/orders/4821-1-USD-0123456789/verification', 'POST', { paymentId: 'x' }),
  page('/demo-api/{name}'),
  page('/v1'),
  page('/v1/{name}'),
  page('/sandbox'),
  page('/{name}'),
];

const long = canary + 'x'.repeat(5000);
const segments = (known: KnownValues) => [
  ...[
    '%ff',
    '%00',
    '%',
    '%2',
    '%ZZ',
    '%u0000',
    '%c0%ae%c0%ae',
    '%F0%9F%92%A9',
    '%e2%80%ae',
    '%2e%2e%2f%2e%2e%2fetc',
  ],
  ...[
    '..',
    '.',
    '...',
    '',
    '-1',
    'null',
    '__proto__',
    'constructor',
    "'--",
    '"',
    '<b>',
    '{id}',
    ':id',
    '*',
    '%2f',
    ';',
  ],
  ...[
    long,
    known.paymentId,
    `${known.paymentId}%00`,
    known.paymentId.toLowerCase(),
    '\xff\xfe',
    '\u00e9',
    'usdt',
    'tron',
  ],
  ...['tlocks'.repeat(300), '%'.repeat(200), '%41'.repeat(300)],
];
const parameterNames = [
  'page',
  'skip',
  'from',
  'to',
  'method',
  '__proto__',
  'constructor',
  'page[]',
  'a[b][c]',
  '',
  '%ff',
  '%00',
  canary,
];
const parameterValues = [
  ...[
    '-1',
    '0',
    '1e9',
    'NaN',
    '999999999999999',
    '9007199254740993',
    '',
    '%',
    '%ff',
    '%00',
    '%ZZ',
    'true',
    '[]',
    '{}',
  ],
  ...[
    '2026-02-30',
    '2026-13-45T99:99:99Z',
    '0000-00-00',
    '9999-12-31T23:59:59+14:00',
    "' or 1=1--",
    '%E2%80%AE',
    long,
    '\xff',
  ],
];
const values: readonly unknown[] = [
  ...[null, true, -1, 0, 1e300, 1e-300, 0.1 + 0.2, 2 ** 60, '', ' ', 'NaN', 'Infinity', '-0', '0x10', '1e5'],
  ...[
    [],
    {},
    [[]],
    [null],
    { a: { b: {} } },
    canary,
    long,
    `${canary}\u0000`,
    '\ud800',
    '\u202e',
    "'; drop table payments;--",
  ],
  ...[
    '999999999999999',
    '0.000000000000000000001',
    '1'.repeat(400),
    ['USDT'],
    { email: `${canary}@example.com`, name: [] },
  ],
];
const authorizations = (known: KnownValues) => [
  ...Array.from({ length: 8 }, () => `Bearer ${known.secretKey}`),
  ...Array.from({ length: 3 }, () => `Bearer ${known.publicKey}`),
  ...[
    'Bearer',
    'Bearer  ',
    'Basic eDp5',
    `Bearer sk_test_${'x'.repeat(43)}`,
    `Bearer ${canary}`,
    `Bearer ${long}`,
    '\xff\xff',
  ],
  undefined,
];
const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'CONNECT',
  'BREW',
  'get',
  'P\xffT',
  '',
];
const contentTypes = [
  ...[
    'application/json',
    'text/plain',
    'application/json; charset=utf-16',
    'application/json;;;',
    'multipart/form-data',
    '',
  ],
  ...[
    `application/${canary}+json`,
    'application/x-www-form-urlencoded',
    '\xff/\xff',
    'application/json; charset="',
  ],
];
const oddHeaders = [
  ...[
    'Content-Encoding: gzip',
    'Content-Encoding: zstd',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: gzip, chunked',
  ],
  ...[
    'Expect: 100-continue',
    `Expect: ${canary}`,
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Range: bytes=99999999-',
    'Range: bytes=5-1,2-',
  ],
  ...[
    `If-Match: "${canary}"`,
    'If-Unmodified-Since: yesterday',
    'If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT',
    'If-None-Match: *',
  ],
  ...[
    'Accept-Encoding: ,;q=,*;q=2',
    'Accept: \xff',
    'Accept-Encoding: identity;q=0, *;q=0',
    `X-Forwarded-For: ${canary}, ::1`,
  ],
  ...[
    `X-Forwarded-For: ${'1.2.3.4,'.repeat(300)}`,
    'Host: a\r\nHost: b',
    `X-Big: ${'y'.repeat(20_000)}`,
    'X-Nul: a\0b',
    'no colon here',
  ],
  ...[
    'Content-Length: 5\r\nContent-Length: 6',
    'Origin: null',
    `Cookie: ${long}`,
    ' folded: value',
    'Access-Control-Request-Method: PUT',
  ],
  ...[
    'Idempotency-Key: ',
    `Idempotency-Key: ${canary}\xff`,
    `Idempotency-Key: ${'k'.repeat(256)}`,
    'Idempotency-Key: a\r\nIdempotency-Key: b',
  ],
];

export function malformedRequest(seed: number, known: KnownValues): MalformedRequest {
  const random = createRandom(seed);
  const pick: Pick = (options) => options[Math.floor(random() * options.length)] as (typeof options)[number];
  const chance = (share: number) => random() < share;

  const target = pick(targets);
  const isOddMethod = chance(0.08);
  const method = isOddMethod ? pick(methods) : target.method;
  const url = urlOf(target, known, pick, chance);
  const body = bodyOf(target, pick, chance);
  const headers = [
    ...(chance(0.97) ? ['Host: 127.0.0.1'] : []),
    ...(chance(0.3) ? [pick(oddHeaders)] : []),
    ...(chance(0.1) ? [pick(oddHeaders)] : []),
    ...(chance(0.2) ? [`Idempotency-Key: ${canary}-${seed % 50}`] : []),
  ];
  const authorization = pick(authorizations(known));
  if (authorization !== undefined) headers.push(`Authorization: ${authorization}`);
  if (body !== undefined) {
    headers.push(`Content-Type: ${chance(0.85) ? 'application/json' : pick(contentTypes)}`);
  }
  const { framing, sent, then } = framingOf(body, pick, chance);
  const head = [
    `${method} ${url} ${chance(0.98) ? 'HTTP/1.1' : pick(['HTTP/1.0', 'HTTP/9.9', 'HTTP', ''])}`,
    ...headers,
    ...framing,
  ];
  const text = `${head.join('\r\n')}\r\nConnection: close\r\n\r\n`;
  return { bytes: Buffer.concat([Buffer.from(text, 'latin1'), sent]), then };
}

function urlOf(target: Target, known: KnownValues, pick: Pick, chance: (share: number) => boolean): string {
  const path = target.path.replace(/\{\w+\}/g, () => pick(segments(known)));
  const query: string[] = [];
  while (chance(0.35)) {
    const name = target.query.length > 0 && chance(0.7) ? pick(target.query) : pick(parameterNames);
    query.push(`${name}=${pick(parameterValues)}`);
  }
  const whole = path + (query.length > 0 ? `?${query.join('&')}` : '');
  if (chance(0.03))
    return pick([
      `http://${canary}${whole}`,
      `http://[${whole}`,
      '*',
      whole.slice(1),
      `//${whole}`,
      `${whole}#a`,
      `${whole}??&&==`,
    ]);
  return whole;
}

function bodyOf(target: Target, pick: Pick, chance: (share: number) => boolean): Buffer | undefined {
  if (target.method === 'GET' && chance(0.9)) return undefined;
  const sample = (target.body ?? {}) as Record<string, unknown>;
  const names = Object.keys(sample);
  const kind = pick([
    'fields',
    'fields',
    'fields',
    'fields',
    'missing',
    'broken',
    'deep',
    'bytes',
    'large',
    'other',
  ] as const);
  switch (kind) {
    case 'fields': {
      const changed: Record<string, unknown> = { ...sample, [`more${canary}`]: pick(values) };
      do changed[names.length > 0 ? pick(names) : 'name'] = pick(values);
      while (chance(0.4));
      return Buffer.from(JSON.stringify(changed));
    }
    case 'missing':
      return Buffer.from(
        JSON.stringify(Object.fromEntries(Object.entries(sample).filter(() => chance(0.5)))),
      );
    case 'broken':
      return Buffer.from(
        pick([
          '{',
          `{"${canary}"`,
          '{"a":}',
          "{'a':1}",
          '{"a":1}{',
          '\ufeff{}',
          'nul',
          '{"a":"\\u00"}',
          '{"a":"\\ud800\\u0000"}',
        ]),
      );
    case 'deep': {
      const depth = pick([100, 5000, 40_000]);
      return Buffer.from(
        pick([
          `${'['.repeat(depth)}${']'.repeat(depth)}`,
          '{"a":'.repeat(depth / 4),
          `{"${names[0] ?? 'a'}":${'['.repeat(depth)}${']'.repeat(depth)}}`,
        ]),
      );
    }
    case 'bytes':
      return Buffer.from(
        pick([
          [0xff, 0xfe],
          [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d],
          [0],
          [0xef, 0xbb, 0xbf],
          [0x1f, 0x8b, 8, 0],
        ]),
      );
    case 'large':
      return Buffer.from(JSON.stringify({ ...sample, more: canary + 'x'.repeat(150_000) }));
    case 'other':
      return Buffer.from(pick(['[]', 'null', '1', '"text"', 'true', '', ' ', '[{}]', '-', 'a=b&c=d']));
  }
}

/** The announced length of the body, and the part of it that is sent. */
function framingOf(body: Buffer | undefined, pick: Pick, chance: (share: number) => boolean) {
  const none = Buffer.alloc(0);
  if (body === undefined)
    return { framing: [], sent: none, then: chance(0.02) ? ('destroy' as const) : ('wait' as const) };
  const length = (bytes: number | string) => [`Content-Length: ${bytes}`];
  const chunked = (text: string) => ({
    framing: ['Transfer-Encoding: chunked'],
    sent: Buffer.from(text, 'latin1'),
    then: 'wait' as const,
  });
  if (chance(0.8)) return { framing: length(body.length), sent: body, then: 'wait' as const };
  return pick([
    // It stops half way.
    () => ({ framing: length(body.length + 10), sent: body, then: 'end' as const }),
    () => ({ framing: length(body.length + 10), sent: body, then: 'destroy' as const }),
    () => ({ framing: length(Math.floor(body.length / 2)), sent: body, then: 'wait' as const }),
    () => ({
      framing: length(pick(['-1', 'NaN', '1e3', '99999999999999999999', ''])),
      sent: body,
      then: 'end' as const,
    }),
    () => chunked(`${body.length.toString(16)}\r\n${body.toString('latin1')}\r\n0\r\n\r\n`),
    () => chunked(`ZZ\r\n${canary}\r\n0\r\n\r\n`),
    () => ({ ...chunked('ffffff\r\n{"a":'), then: 'end' as const }),
    () => ({
      framing: [...length(3), 'Transfer-Encoding: chunked'],
      sent: Buffer.from('0\r\n\r\n'),
      then: 'end' as const,
    }),
    () => ({ framing: [], sent: body, then: 'end' as const }),
  ])();
}
