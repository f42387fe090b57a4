/** The provider of account names, played by a local server: the requests to it, and how its answers are handled. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { createPaystackAccountNames } from '../../src/core/bank-accounts/paystack.js';
import { Problem } from '../../src/core/shared/problem.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const found = (data: object) => json(200, { status: true, message: 'Account number resolved', data });
const account = { account_number: '0123456785', account_name: 'ADA EXAMPLE', bank_id: 9 };

let answer: Answer = found(account);
const requests: IncomingMessage[] = [];
const provider = createServer((request, response) => {
  requests.push(request);
  answer(response);
});
let providerUrl = '';

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
beforeEach(() => {
  answer = found(account);
  requests.length = 0;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const secretKey = 'sk_example_of_the_provider';
const bank = { code: '103', name: 'Globus Bank', country: 'NG', currency: 'NGN', providerCode: '00103' };

describe('the provider', () => {
  const resolve = (url = providerUrl, timeoutMs = 5000, signal = new AbortController().signal) =>
    createPaystackAccountNames({ url, secretKey, timeoutMs }).resolve(
      { accountNumber: '0123456785', bank },
      signal,
    );
  const failure = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('the provider is asked with the key, for the account number and its own code of the bank', async () => {
    expect(await resolve()).toBe('ADA EXAMPLE');
    const [request] = requests;
    expect(request?.method).toBe('GET');
    expect(request?.url).toBe('/bank/resolve?account_number=0123456785&bank_code=00103');
    expect(request?.headers.authorization).toBe(`Bearer ${secretKey}`);
  });

  it.each([
    ['422', json(422, { status: false, message: 'Could not resolve account name.' })],
    ['400', json(400, { status: false, message: 'Unknown bank code: 00103' })],
    ['404', json(404, { status: false, message: 'Not found' })],
  ])('an account does not exist if the provider answers with %s', async (_, given) => {
    answer = given;
    expect(await resolve()).toBeUndefined();
  });

  it.each([
    ['500', json(500, { status: false, message: 'Oops' }), 5],
    ['502 in HTML', json(502, '<html>Bad gateway</html>'), 5],
    ['503 and seconds', json(503, {}, { 'Retry-After': '40' }), 40],
    ['429 and seconds', json(429, { status: false }, { 'Retry-After': '17' }), 17],
    ['429 and a date', json(429, {}, { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' }), 5],
    ['a refusal of the key', json(401, { status: false, message: 'Invalid key' }), 5],
    ['422 with an unexpected body', json(422, { error: 'what' }), 5],
    ['truncated JSON', json(200, '{"status": true, "data": {'), 5],
    ['no data', json(200, { status: true }), 5],
    ['a failure with 200', json(200, { status: false, message: 'No' }), 5],
    ['an empty name', found({ ...account, account_name: ' ' }), 5],
    ['another account', found({ ...account, account_number: '0000000000' }), 5],
    ['a redirect', json(302, '', { Location: 'http://127.0.0.1:1/' }), 5],
    ['a broken connection', (response: ServerResponse) => void response.destroy(), 5],
  ] satisfies [string, Answer, number][])(
    'the provider is unavailable if it answers with %s',
    async (_, given, retryAfterSeconds) => {
      answer = given;
      const error = await failure(resolve());
      expect(error).toBeInstanceOf(Problem);
      expect(error).toMatchObject({
        code: 'service_unavailable',
        status: 503,
        details: { retryAfterSeconds },
      });
      expect(String(error)).not.toContain(secretKey);
    },
  );

  it('a provider that hangs times out, before its answer or in the middle of it', async () => {
    answer = () => undefined;
    expect(await failure(resolve(providerUrl, 50))).toMatchObject({ code: 'service_unavailable' });
    answer = (response) => void response.writeHead(200).write('{"status": true,');
    expect(await failure(resolve(providerUrl, 50))).toMatchObject({ code: 'service_unavailable' });
  });

  it('the provider is not waited for once the caller has gone', async () => {
    const gone = new AbortController();
    answer = () => gone.abort();
    expect(await failure(resolve(providerUrl, 60_000, gone.signal))).toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('the provider is unavailable if nothing listens at its URL', async () => {
    expect(await failure(resolve('http://127.0.0.1:1'))).toMatchObject({ code: 'service_unavailable' });
  });
});

describe.each(enginesOfQuick)('account names in live mode, on $name', (engine) => {
  let server: TestServer;
  let key = '';
  const logged: string[] = [];

  beforeAll(async () => {
    server = await startServer({
      engine,
      env: { ACCOUNT_NAMES_URL: providerUrl, PAYSTACK_SECRET_KEY: secretKey },
      log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
    });
    key = await server.foreignKey('secret', 'live');
  });
  afterAll(() => server.stop());

  const check = (accountNumber = '0123456785', asking = key) =>
    server.api('POST', '/v1/bank-accounts/account/name', {
      key: asking,
      body: { accountNumber, accountBank: '058' },
    });

  it('account names in live mode come from the provider', async () => {
    const { status, body } = await check();
    expect([status, body.message]).toEqual([200, 'Account name fetched']);
    expect(body.data).toEqual({
      accountNumber: '0123456785',
      accountBank: '058',
      accountName: 'ADA EXAMPLE',
    });
    expect(requests[0]?.url).toBe('/bank/resolve?account_number=0123456785&bank_code=058');
  });

  it('account names are not looked up for an invalid number, or in test mode', async () => {
    expect((await check('0123456784')).status).toBe(400);
    expect((await check('0123456785', server.secretKey)).status).toBe(200);
    expect(requests).toEqual([]);
  });

  it('an account that does not exist is a validation error', async () => {
    answer = json(422, { status: false, message: 'Could not resolve account name.' });
    const { status, body } = await check();
    expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', 'accountNumber']);
  });

  it('account names are unavailable if the provider fails, and neither its words nor the key are revealed or logged', async () => {
    for (const given of [
      json(500, { message: 'secret words' }),
      json(401, { status: false, message: 'secret words' }),
      json(429, { message: 'secret words' }, { 'Retry-After': '9' }),
    ]) {
      answer = given;
      const { status, body, headers } = await check();
      expect([status, body.data.code]).toEqual([503, 'service_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(JSON.stringify(body)).not.toMatch(/secret words|sk_example/);
    }
    expect(logged.join('')).toContain('answered 401');
    expect(logged.join('')).not.toMatch(/secret words|sk_example|0123456785/);
  });
});
