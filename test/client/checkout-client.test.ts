/** The checkout client over real HTTP: what it sends, what it accepts, and how it fails. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCheckoutClient, type CheckoutClient } from '../../src/client/checkout-client.js';
import {
  createdPayment as createdReply,
  payment as paymentReply,
} from '../../src/contract/checkout-schemas.js';
import { payments } from '../../src/contract/payments.js';
import { ApiError, NetworkError, ReplyError } from '../../src/errors.js';
import { reply, startLocalServer, type LocalServer } from './local-server.js';

/** The fields of the whole record that the widget reads. */
const payment = paymentReply.parse(payments.retrieve.sample.data);
const created = createdReply.parse(payments.create.sample.data);
const success = (data?: unknown) => ({ status: 'success', message: 'Fine', data });

let server: LocalServer;
let client: CheckoutClient;

beforeEach(async () => {
  server = await startLocalServer();
  client = createCheckoutClient({ apiUrl: server.url, publicKey: 'pk_test_example', timeoutMs: 5_000 });
});
afterEach(() => server.close());

/** The error that the call rejects with. A call that resolves fails the test. */
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome) return outcome.error;
  throw new Error(`Resolved to ${JSON.stringify(outcome.value)}`);
}

describe('sends', () => {
  const calls: [string, (client: CheckoutClient) => Promise<unknown>, string, unknown][] = [
    ['create', (c) => c.create({ amount: 5000, baseCurrency: 'NGN' }), 'POST /v1/payments/checkout', created],
    ['retrieve', (c) => c.retrieve('p1'), 'GET /v1/payments/checkout/p1', payment],
    [
      'setCurrency',
      (c) => c.setCurrency('p1', 'USDT', 'tron'),
      'PATCH /v1/payments/checkout/p1/currency/set/USDT/tron',
      payment,
    ],
    ['lockCurrency', (c) => c.lockCurrency('p1'), 'PATCH /v1/payments/checkout/p1/currency/lock', payment],
    ['cancel', (c) => c.cancel('p1'), 'PATCH /v1/payments/checkout/p1/cancel', undefined],
    ['verify', (c) => c.verify('p1'), 'GET /v1/transactions/p1/verify/checkout', payment],
  ];

  test.each(calls)('%s goes to its endpoint, with the public key', async (_name, call, expected, data) => {
    server.answer = reply(200, success(data), { Date: 'Thu, 01 Jan 2026 00:00:00 GMT' });
    await expect(call(client)).resolves.toEqual({ data, serverTime: Date.UTC(2026, 0, 1) });
    const [request] = server.received;
    expect(`${request?.method} ${request?.url}`).toBe(expected);
    expect(request?.headers.authorization).toBe('Bearer pk_test_example');
    expect(request?.headers['content-type']).toBe('application/json');
  });

  test('the create call sends its body and its idempotency key', async () => {
    server.answer = reply(200, success(created));
    const body = { amount: '5000', baseCurrency: 'NGN', customer: { email: 'ada@example.com' } };
    await client.create(body, { idempotencyKey: 'f3b0' });
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual(body);
    expect(server.received[0]?.headers['idempotency-key']).toBe('f3b0');
  });

  test('any path parameter is sent as a single segment', async () => {
    server.answer = reply(200, success(payment));
    await client.setCurrency('a/b?c#d', 'ü', '../lock');
    expect(server.received[0]?.url).toBe('/v1/payments/checkout/a%2Fb%3Fc%23d/currency/set/%C3%BC/..%2Flock');
  });

  test.each(['', '.', '..'])('nothing is sent for the id "%s"', async (id) => {
    expect(await errorOf(client.retrieve(id))).toBeInstanceOf(RangeError);
    expect(server.received).toHaveLength(0);
  });

  test('Calls go to an API under a path, with or without a trailing slash', async () => {
    server.answer = reply(200, success(payment));
    await createCheckoutClient({ apiUrl: `${server.url}/pay/`, publicKey: 'pk' }).retrieve('p1');
    expect(server.received[0]?.url).toBe('/pay/v1/payments/checkout/p1');
  });
});

describe('parses the reply:', () => {
  test('unknown fields are dropped', async () => {
    server.answer = reply(200, success({ ...payment, later: 'addition' }));
    expect((await client.retrieve('p1')).data).toEqual(payment);
  });

  test('the whole record is accepted, and what only servers need is dropped', async () => {
    const { metadata, receipts, ...record } = payments.retrieve.sample.data;
    expect([metadata, receipts]).toEqual([{ orderId: '42' }, []]);
    server.answer = reply(200, success({ ...record, metadata, receipts }));
    expect((await client.verify('p1')).data).toEqual(payment);
  });

  test('cancel has no data, even if the server sends some', async () => {
    server.answer = reply(200, success(payment));
    expect((await client.cancel('p1')).data).toBeUndefined();
  });

  test('the server time is undefined without a Date header', async () => {
    server.answer = (response) => {
      response.sendDate = false;
      response.end(JSON.stringify(success(payment)));
    };
    expect((await client.retrieve('p1')).serverTime).toBeUndefined();
  });

  test.each([
    ['an HTML page', '<!doctype html><title>Welcome</title>'],
    ['an empty body', ''],
    ['a truncated object', '{"status":"success","data":{'],
    ['a bare value', 'null'],
    ['another envelope', { ok: true, data: payment }],
    ['a failure with HTTP 200', { status: 'error', message: 'No', data: { code: 'not_found' } }],
    ['no data', success()],
    ['a payment without an id', success({ ...payment, id: undefined })],
    ['an amount that is text', success({ ...payment, baseAmount: '5000' })],
    ['an unknown status', success({ ...payment, status: 'paid' })],
  ])('%s is a ReplyError', async (_name, body) => {
    server.answer = reply(200, body);
    const error = await errorOf(client.retrieve('p1'));
    expect(error).toBeInstanceOf(ReplyError);
    expect(error).toMatchObject({ code: 'malformed_reply' });
  });

  test('a ReplyError names the field', async () => {
    server.answer = reply(200, success({ ...payment, addressInformation: { address: 7 } }));
    expect(await errorOf(client.verify('p1'))).toMatchObject({
      shortMessage:
        'GET /v1/transactions/{transaction_id}/verify/checkout returned an unexpected data.addressInformation.address',
    });
  });
});

describe('refusals', () => {
  test('an ApiError contains what the server sent', async () => {
    server.answer = reply(400, {
      status: 'error',
      message: 'amount: Must be more than 0',
      data: { code: 'validation_error', requestId: 'req-1', param: 'amount', errors: [] },
    });
    const error = await errorOf(client.create({ amount: 0, baseCurrency: 'NGN' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'validation_error',
      status: 400,
      shortMessage: 'amount: Must be more than 0',
      message: ['amount: Must be more than 0', '', 'Correct the request.'].join('\n'),
      docsUrl: undefined,
      requestId: 'req-1',
      param: 'amount',
      retryAfterSeconds: undefined,
    });
  });

  test('an ApiError links to the docs that the server names', async () => {
    const docsUrl = 'https://docs.example.com/errors#not_found';
    const data = { code: 'not_found', requestId: 'req-3', docsUrl };
    server.answer = reply(404, { status: 'error', message: 'No such payment', data });
    expect(await errorOf(client.verify('p1'))).toMatchObject({ docsUrl });
  });

  test.each([
    ['seconds', '7', 7],
    ['a date by the server’s clock', 'Thu, 01 Jan 2026 00:00:42 GMT', 42],
    ['a date in the past', 'Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['garbage', 'soon', undefined],
  ])('a 429 with Retry-After as %s is an ApiError', async (_name, header, retryAfterSeconds) => {
    server.answer = reply(
      429,
      { status: 'error', message: 'Too many requests', data: { code: 'rate_limited', requestId: 'req-2' } },
      { 'Retry-After': header, Date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
    );
    expect(await errorOf(client.verify('p1'))).toMatchObject({
      name: 'ApiError',
      code: 'rate_limited',
      status: 429,
      retryAfterSeconds,
    });
  });

  test.each([
    [502, '<html><h1>502 Bad Gateway</h1></html>', 'internal_error'],
    [503, '', 'internal_error'],
    [504, { message: 'Endpoint request timed out' }, 'internal_error'],
    [429, 'slow down', 'rate_limited'],
  ])('a %s from a proxy is an ApiError, so it can be retried', async (status, body, code) => {
    server.answer = reply(status, body, { 'Retry-After': '3', 'X-Request-Id': 'proxy-1' });
    const error = await errorOf(client.verify('p1'));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code, status, retryAfterSeconds: 3, requestId: 'proxy-1' });
  });

  test.each([
    [404, '<html>Not here</html>'],
    [403, { message: 'Forbidden' }],
  ])('a %s from a proxy is a ReplyError', async (status, body) => {
    server.answer = reply(status, body);
    expect(await errorOf(client.verify('p1'))).toBeInstanceOf(ReplyError);
  });
});

describe('network failures', () => {
  test('a connection closed before the response is a NetworkError', async () => {
    server.answer = (response) => response.destroy();
    const error = await errorOf(client.verify('p1'));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      code: 'network_error',
      shortMessage: 'GET /v1/transactions/{transaction_id}/verify/checkout got no response',
      docsUrl: `${server.url}/docs/errors#network_error`,
    });
  });

  test('a connection closed during the response is a NetworkError', async () => {
    server.answer = (response) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write('{"status":"success"', () => response.destroy());
    };
    expect(await errorOf(client.verify('p1'))).toBeInstanceOf(NetworkError);
  });

  test('a closed port is a NetworkError', async () => {
    const closed = await startLocalServer();
    await closed.close();
    const unreachable = createCheckoutClient({ apiUrl: closed.url, publicKey: 'pk_test_example' });
    expect(await errorOf(unreachable.retrieve('p1'))).toBeInstanceOf(NetworkError);
  });

  test.each([
    ['headers', () => {}],
    [
      'the end of the body',
      (response: { writeHead(status: number): void; write(text: string): void }) => {
        response.writeHead(200);
        response.write('{');
      },
    ],
  ])('waiting for %s times out as a NetworkError', async (_name, answer) => {
    server.answer = answer;
    const impatient = createCheckoutClient({
      apiUrl: server.url,
      publicKey: 'pk_test_example',
      timeoutMs: 50,
    });
    const error = await errorOf(impatient.verify('p1'));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      shortMessage: 'GET /v1/transactions/{transaction_id}/verify/checkout took longer than 0.05 s',
    });
  });
});

describe('an abort by the caller', () => {
  test('an abort rejects the call with an AbortError and closes the connection', async () => {
    const abort = new AbortController();
    const closed = new Promise<void>((resolve) => {
      server.answer = (response) => {
        response.on('close', resolve);
        abort.abort();
      };
    });
    expect(await errorOf(client.verify('p1', { signal: abort.signal }))).toMatchObject({
      name: 'AbortError',
    });
    await closed;
  });

  test('a call that is already aborted sends nothing', async () => {
    expect(await errorOf(client.verify('p1', { signal: AbortSignal.abort() }))).toMatchObject({
      name: 'AbortError',
    });
    expect(server.received).toHaveLength(0);
  });

  test('an abort rejects the call with the caller’s reason', async () => {
    const reason = new Error('The element was removed');
    expect(await errorOf(client.verify('p1', { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  test('a call leaves no listeners on its signal', async () => {
    const { signal } = new AbortController();
    server.answer = reply(200, success(payment));
    await client.verify('p1', { signal });
    server.answer = reply(500, '');
    await errorOf(client.verify('p1', { signal }));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
