/** Makes malformed requests from a seed, as the bytes that a client writes to its socket. */
import { api, sandbox } from 'crypto-checkout/contract';
import { fillPath, routesOf, type Route } from './routes.js';

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

type Choose = <T>(options: readonly T[]) => T;

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

type Target = Pick<Route, 'method' | 'path' | 'parameters' | 'body'>;

const page = (path: string): Target => ({ method: 'GET', path, parameters: [], body: undefined });
const form = (path: string, body: object): Target => ({ method: 'POST', path, parameters: [], body });
const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const lines = (text: string): readonly string[] => text.trim().split(/\n\s*/);

const targets: readonly Target[] = [
  ...routesOf({ ...api, sandbox }),
  ...words(`
    / /index.html /pay/{id} /pay/page.css /receipt/{id} /receipt/page.css /crypto-checkout.js
    /crypto-checkout-{version}.js /crypto-checkout.tgz /chunks/{name} /chunks/{name}.js /flags/{name} /flags/ng.svg
    /docs /docs/ /docs/errors /docs/{name} /docs.css /openapi.json /healthz /readyz /metrics /demo-api/config
  `).map(page),
  form('/demo-api/orders', { quantity: 1, baseCurrency: 'USD' }),
  page('/demo-api/orders/{reference}'),
  form('/demo-api/orders/4821-1-USD-0123456789/verification', { paymentId: 'x' }),
  ...words('/demo-api/{name} /v1 /v1/{name} /sandbox /{name}').map(page),
];

const long = canary + 'x'.repeat(5000);
const oddSegments = [
  ...words(`
    %ff %00 % %2 %ZZ %u0000 %c0%ae%c0%ae %F0%9F%92%A9 %e2%80%ae %2e%2e%2f%2e%2e%2fetc .. . ... -1 null __proto__ constructor
    '-- " <b> {id} :id * %2f ; usdt tron \xff\xfe \u00e9
  `),
  '',
  long,
  'tlocks'.repeat(300),
  '%'.repeat(200),
  '%41'.repeat(300),
];
const segments = ({ paymentId: id }: KnownValues) => [...oddSegments, id, `${id}%00`, id.toLowerCase()];
const parameterNames = [
  ...words('page skip from to method __proto__ constructor page[] a[b][c] %ff %00'),
  '',
  canary,
];
const parameterValues = [
  ...words(`
    -1 0 1e9 NaN 999999999999999 9007199254740993 % %ff %00 %ZZ true [] {} 2026-02-30 2026-13-45T99:99:99Z 0000-00-00
    9999-12-31T23:59:59+14:00 %E2%80%AE \xff
  `),
  '',
  "' or 1=1--",
  long,
];
const values: readonly unknown[] = [
  ...words(`NaN Infinity -0 0x10 1e5 999999999999999 0.000000000000000000001 \u202e ${canary}`),
  ...[-1, 0, 1e300, 1e-300, 0.1 + 0.2, 2 ** 60],
  null,
  true,
  '',
  ' ',
  [],
  {},
  [[]],
  [null],
  ['USDT'],
  { a: { b: {} } },
  { email: `${canary}@example.com`, name: [] },
  long,
  `${canary}\u0000`,
  '\ud800',
  "'; drop table payments;--",
  '1'.repeat(400),
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
  ...words('GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND M-SEARCH CONNECT BREW get P\xffT'),
  '',
];
const contentTypes = [
  ...words(
    `application/json text/plain application/json;;; multipart/form-data application/x-www-form-urlencoded \xff/\xff`,
  ),
  `application/${canary}+json`,
  'application/json; charset=utf-16',
  'application/json; charset="',
  '',
];
const oddHeaders = [
  ...lines(`
    Content-Encoding: gzip
    Content-Encoding: zstd
    Transfer-Encoding: identity
    Transfer-Encoding: gzip, chunked
    Expect: 100-continue
    Expect: ${canary}
    Range: bytes=99999999-
    Range: bytes=5-1,2-
    If-Match: "${canary}"
    If-Unmodified-Since: yesterday
    If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT
    If-None-Match: *
    Accept-Encoding: ,;q=,*;q=2
    Accept: \xff
    Accept-Encoding: identity;q=0, *;q=0
    X-Forwarded-For: ${canary}, ::1
    X-Nul: a\0b
    no colon here
    Origin: null
    Cookie: ${long}
    Access-Control-Request-Method: PUT
    Idempotency-Key: ${canary}\xff
  `),
  'Upgrade: websocket\r\nConnection: Upgrade',
  `X-Forwarded-For: ${'1.2.3.4,'.repeat(300)}`,
  'Host: a\r\nHost: b',
  `X-Big: ${'y'.repeat(20_000)}`,
  'Content-Length: 5\r\nContent-Length: 6',
  ' folded: value',
  'Idempotency-Key: ',
  `Idempotency-Key: ${'k'.repeat(256)}`,
  'Idempotency-Key: a\r\nIdempotency-Key: b',
];

export function malformedRequest(seed: number, known: KnownValues): MalformedRequest {
  const random = createRandom(seed);
  const pick: Choose = (options) =>
    options[Math.floor(random() * options.length)] as (typeof options)[number];
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

function urlOf(target: Target, known: KnownValues, pick: Choose, chance: (share: number) => boolean): string {
  const path = fillPath(target.path, () => pick(segments(known)));
  const query: string[] = [];
  while (chance(0.35)) {
    const { parameters } = target;
    const name = parameters.length > 0 && chance(0.7) ? pick(parameters) : pick(parameterNames);
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

function bodyOf(target: Target, pick: Choose, chance: (share: number) => boolean): Buffer | undefined {
  if (target.method === 'GET' && chance(0.9)) return undefined;
  const sample = (target.body ?? {}) as Record<string, unknown>;
  const names = Object.keys(sample);
  if (chance(0.4)) {
    const changed: Record<string, unknown> = { ...sample, [`more${canary}`]: pick(values) };
    do changed[names.length > 0 ? pick(names) : 'name'] = pick(values);
    while (chance(0.4));
    return Buffer.from(JSON.stringify(changed));
  }
  switch (pick(['missing', 'broken', 'deep', 'bytes', 'large', 'other'] as const)) {
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
function framingOf(body: Buffer | undefined, pick: Choose, chance: (share: number) => boolean) {
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
