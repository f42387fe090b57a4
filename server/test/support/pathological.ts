/** Requests that are made to take long: each parameter, field and header of each endpoint with each hostile value. */
import { Agent, request } from 'node:http';
import { api, consoleApi, sandbox } from 'crypto-checkout/contract';
import { encodePath, fillPath, mainRoutesOf } from './routes.js';

export interface PathologicalRequest {
  /** The oddity of the request: `POST /v1/transfers, field amount: zeros`. */
  readonly name: string;
  readonly method: string;
  /** With its query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Values of a running server that the requests need. */
interface Known {
  readonly secretKey: string;
  /** The cookie of an owner's session. */
  readonly cookie: string;
  /** Values of path parameters that exist, by name. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Just below the 100 kB that the server reads. */
const long = 95_000;
/** Just below the 16 kB of a request's head. */
const longHead = 15_000;

const text = (value: string) => JSON.stringify(value);
const many = (count: number, entry: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => entry(index)).join(',');

/** JSON values, as they are written. */
const values: Readonly<Record<string, string>> = {
  'zeros before a one': text(`0.${'0'.repeat(long)}1`),
  zeros: text('0'.repeat(long)),
  'a number of nines': '9'.repeat(long),
  nines: text('9'.repeat(long)),
  spaces: text(`1${' '.repeat(long)}1`),
  'a large exponent': '1e308',
  'a small exponent': '1e-300',
  'nested lists': '['.repeat(long / 2) + ']'.repeat(long / 2),
  'nested objects': '{"a":'.repeat(15_000) + '0' + '}'.repeat(15_000),
  'a long list': `[${many(40_000, () => '0')}]`,
  'many keys': `{${many(6000, (index) => `"k${index}":0`)}}`,
  backslashes: text('\\'.repeat(long / 2)),
  emoji: text('😀'.repeat(long / 4)),
  domains: text(`a@${'a.'.repeat(long / 2)}`),
  'a URL': text(`https://${'a:@'.repeat(long / 3)}`),
  'nothing before @': text('@.'.repeat(long / 2)),
};

/** Texts of a path or a query, percent-encoded. */
const shortTexts: Readonly<Record<string, string>> = {
  'zeros before a one': `0.${'0'.repeat(longHead)}1`,
  nines: '9'.repeat(longHead),
  spaces: `1${'%20'.repeat(longHead / 3)}1`,
  emoji: '%F0%9F%98%80'.repeat(longHead / 12),
  'a date and more': `2026-01-31T12:00:00.${'0'.repeat(longHead)}`,
};

const headers: Readonly<Record<string, string>> = {
  Authorization: `Bearer ${' '.repeat(longHead)}x`,
  Cookie: 'a=;  '.repeat(longHead / 5),
  'Idempotency-Key': '0'.repeat(longHead),
  'X-Forwarded-For': '1.2.3.4, '.repeat(longHead / 9),
  'Content-Type': `application/json${'; charset = '.repeat(longHead / 12)}`,
  'If-None-Match': `W/"a", `.repeat(longHead / 7),
  'Accept-Language': 'en;q=0.1,'.repeat(longHead / 9),
  Range: `bytes=${'0-,'.repeat(longHead / 3)}`,
  Origin: `https://${'a.'.repeat(longHead / 2)}`,
};

// After a sign-out, the session cannot be used.
const routes = mainRoutesOf({ ...api, ...consoleApi, sandbox }).filter(
  ({ path }) => !path.endsWith('/sign-out'),
);

function withField(sample: unknown, field: string, value: string): Buffer {
  const rest = Object.entries(sample ?? {}).filter(([name]) => name !== field);
  return Buffer.from(
    `{${[...rest.map(([name, one]) => `${text(name)}:${text(one as string)}`), `${text(field)}:${value}`].join(',')}}`,
  );
}

/** Every request of the fuzz, in the order of the contract. */
export function* pathologicalRequests({ secretKey, cookie, ids }: Known): Iterable<PathologicalRequest> {
  for (const { endpoint, method, path, title, placeholders, parameters, fields, body: sample } of routes) {
    const hasBody = method === 'POST' || method === 'PATCH';
    const isForPeople = endpoint.key === 'session' || path.startsWith('/console/');
    const usual: Record<string, string> = isForPeople
      ? { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin', 'X-Checkout-Mode': 'test' }
      : { Authorization: `Bearer ${secretKey}` };
    const filled = (odd: Readonly<Record<string, string>> = {}) =>
      fillPath(path, (name) => odd[name] ?? encodePath(ids[name] ?? endpoint.sample.params?.[name] ?? name));
    const requestOf = (odd: string, change: Partial<PathologicalRequest> = {}): PathologicalRequest => {
      const body = change.body ?? (hasBody ? Buffer.from(JSON.stringify(sample ?? {})) : undefined);
      return {
        name: `${title}, ${odd}`,
        method,
        path: filled(),
        ...change,
        body,
        headers: {
          ...usual,
          ...(body && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }),
          ...change.headers,
        },
      };
    };
    for (const field of hasBody ? [...fields, 'unknown'] : [])
      for (const [odd, value] of Object.entries(values))
        yield requestOf(`field ${field}: ${odd}`, { body: withField(sample, field, value) });
    if (hasBody) {
      const keys = many(6000, (index) => `"k${index}":0`);
      yield requestOf('6,000 unknown fields', { body: Buffer.from(`{${keys}}`) });
      yield requestOf('only spaces', { body: Buffer.from(' '.repeat(long)) });
      yield requestOf('open brackets', { body: Buffer.from('['.repeat(long)) });
      yield requestOf('an open text', { body: Buffer.from(`{"a":"${'\\\\'.repeat(long / 2)}`) });
    }
    for (const parameter of parameters)
      for (const [odd, value] of Object.entries(shortTexts))
        yield requestOf(`?${parameter}: ${odd}`, { path: `${filled()}?${parameter}=${value}` });
    yield requestOf('many query parameters', { path: `${filled()}?${'a=&'.repeat(longHead / 3)}` });
    yield requestOf('brackets in the query', { path: `${filled()}?a${'[a]'.repeat(longHead / 3)}=1` });
    for (const name of placeholders)
      for (const [odd, value] of Object.entries(shortTexts))
        yield requestOf(`{${name}}: ${odd}`, { path: filled({ [name]: value }) });
    for (const [name, value] of Object.entries(headers))
      yield requestOf(`header ${name}`, { headers: { [name]: value } });
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Sends a request that may break the connection. @returns the status; 0 if there was no reply */
export function statusOf(
  url: string,
  { method, path, headers, body }: Omit<PathologicalRequest, 'name'>,
): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(url + path, { agent, method, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0));
    sent.end(body);
  });
}

export interface Cost<Reply> {
  readonly reply: Reply;
  /** Processor time of the process with everything that runs in it meanwhile: the least of three tries if it is much. */
  readonly ms: number;
}

/** @param muchMs from when on it is tried again, as garbage and jobs may have been the cause */
export async function costOf<Reply>(send: () => Promise<Reply>, muchMs: number): Promise<Cost<Reply>> {
  let least = Infinity;
  for (let tries = 1; ; tries += 1) {
    const before = process.cpuUsage();
    const reply = await send();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
    // Ten times as much was no garbage.
    if (tries === 3 || least <= muchMs || least > 10 * muchMs) return { reply, ms: least };
  }
}
