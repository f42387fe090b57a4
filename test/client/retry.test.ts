/**
 * Retries of the merchant client: which calls, how often and when, over real HTTP. Retried changes keep their
 * idempotency key.
 */
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMerchantClient, type MerchantClient } from '../../src/client/merchant-client.js';
import { api } from '../../src/contract/index.js';
import { reply, startLocalServer, type Answer, type LocalServer } from './local-server.js';

const customer = api.customers.create.sample.data;
const body = { email: 'ada@example.com' };
const params = { customer_id: customer.id };
const fine = reply(200, { status: 'success', message: 'Fine', data: customer });
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  reply(status, { status: 'error', message: 'No', data: { code, requestId: 'req-1' } }, headers);
const closeConnection = (response: ServerResponse) => response.destroy();

let server: LocalServer;
let merchant: MerchantClient;

beforeEach(async () => {
  server = await startLocalServer();
  merchant = createMerchantClient({ apiUrl: server.url, secretKey: 'sk_test_example', retryDelayMs: 1 });
});
afterEach(() => server.close());

/** Uses one answer per request, and repeats the last one. */
function answerInTurn(...answers: Answer[]): void {
  server.answer = (response, request) => {
    answers[Math.min(server.received.length, answers.length) - 1]?.(response, request);
  };
}

const keysSent = () => server.received.map(({ headers }) => headers['idempotency-key']);

describe('retries', () => {
  test.each<[string, Answer]>([
    ['a closed connection', closeConnection],
    ['429', refusal(429, 'rate_limited', { 'Retry-After': '0' })],
    ['500', refusal(500, 'internal_error')],
    ['503', refusal(503, 'chain_unavailable', { 'Retry-After': '0' })],
    ['a 502 from a proxy', reply(502, '<html>')],
    ['409 while the first attempt is in progress', refusal(409, 'idempotency_in_progress')],
  ])('a change is retried after %s, with the same random key', async (_name, failure) => {
    answerInTurn(failure, failure, fine);
    const { data } = await merchant.customers.create({ body });
    expect(data.id).toBe(customer.id);
    const [key, ...others] = keysSent();
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([key, key]);
    expect(server.received.map((request) => request.body)).toEqual(Array(3).fill(JSON.stringify(body)));
  });

  test('a change is retried with the caller’s key', async () => {
    answerInTurn(closeConnection, fine);
    await merchant.customers.update({ params, body, idempotencyKey: 'order-42-customer' });
    expect(keysSent()).toEqual(['order-42-customer', 'order-42-customer']);
  });

  test('reads and deletes are retried without a key', async () => {
    answerInTurn(closeConnection, fine);
    await merchant.customers.retrieve({ params });
    expect(keysSent()).toEqual([undefined, undefined]);
    const wallet = api.wallets.remove.sample;
    answerInTurn(
      closeConnection,
      closeConnection,
      closeConnection,
      reply(200, { status: 'success', message: 'Fine', data: wallet.data }),
    );
    await merchant.wallets.remove({ params: wallet.params });
    expect(server.received.at(-1)).toMatchObject({ method: 'DELETE' });
    expect(keysSent()).toEqual(Array(4).fill(undefined));
  });

  test('a call never has the key of another call', async () => {
    server.answer = fine;
    await merchant.customers.create({ body });
    await merchant.customers.create({ body });
    expect(new Set(keysSent()).size).toBe(2);
  });

  test('a call is retried three times, then rejects with the last error', async () => {
    answerInTurn(closeConnection, closeConnection, closeConnection, refusal(503, 'service_unavailable'));
    await expect(merchant.customers.create({ body })).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(server.received).toHaveLength(4);
  });

  test('a call is retried as often as `retries` says', async () => {
    const options = { apiUrl: server.url, secretKey: 'sk_test_example', retryDelayMs: 1 };
    server.answer = closeConnection;
    await expect(createMerchantClient({ ...options, retries: 0 }).countries.list()).rejects.toThrow();
    expect(server.received).toHaveLength(1);
    await expect(createMerchantClient({ ...options, retries: 5 }).countries.list()).rejects.toThrow();
    expect(server.received).toHaveLength(1 + 6);
  });

  test('a read is retried after a timeout', async () => {
    const impatient = createMerchantClient({
      apiUrl: server.url,
      secretKey: 'sk_test_example',
      timeoutMs: 1000,
      retryDelayMs: 1,
      retries: 1,
    });
    answerInTurn(() => {}, fine);
    await expect(impatient.customers.retrieve({ params })).resolves.toMatchObject({ data: customer });
  });
});

describe('the client does not retry', () => {
  test.each<[string, Answer, object]>([
    ['an invalid request', refusal(400, 'validation_error'), { code: 'validation_error' }],
    ['a conflict', refusal(409, 'customer_exists'), { code: 'customer_exists' }],
    ['another request with the same key', refusal(422, 'idempotency_mismatch'), { status: 422 }],
    ['a malformed reply', reply(200, '<html>'), { code: 'malformed_reply' }],
    [
      'a Retry-After of minutes',
      refusal(429, 'rate_limited', { 'Retry-After': '120' }),
      { retryAfterSeconds: 120 },
    ],
  ])('%s is not retried', async (_name, answer, error) => {
    server.answer = answer;
    await expect(merchant.customers.create({ body })).rejects.toMatchObject(error);
    expect(server.received).toHaveLength(1);
  });
});

describe('the delay', () => {
  const delayAfter = async (failure: Answer, retryDelayMs: number) => {
    const client = createMerchantClient({ apiUrl: server.url, secretKey: 'sk_test_example', retryDelayMs });
    const times: number[] = [];
    answerInTurn(
      (...args) => (times.push(performance.now()), failure(...args)),
      (...args) => (times.push(performance.now()), fine(...args)),
    );
    await client.customers.retrieve({ params });
    const [first = 0, second = 0] = times;
    return second - first;
  };

  test('the delay before a retry is jittered by at most half', async () => {
    expect(await delayAfter(closeConnection, 300)).toBeGreaterThanOrEqual(149);
  });

  test('the delay before a retry is never shorter than Retry-After', async () => {
    const delay = await delayAfter(refusal(503, 'service_unavailable', { 'Retry-After': '1' }), 1);
    expect(delay).toBeGreaterThanOrEqual(999);
  });

  test('an abort ends the delay before a retry: the call rejects with the reason and leaves no listeners', async () => {
    const abort = new AbortController();
    const reason = new Error('The order was closed');
    server.answer = (...args) => {
      refusal(503, 'service_unavailable', { 'Retry-After': '20' })(...args);
      setTimeout(() => abort.abort(reason), 20);
    };
    const started = performance.now();
    await expect(merchant.customers.create({ body, signal: abort.signal })).rejects.toBe(reason);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(server.received).toHaveLength(1);
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });
});

describe('the error', () => {
  test('the error lists every invalid field', async () => {
    const errors = [
      { path: 'email', message: 'Must be an email' },
      { path: 'fullName', message: 'Too long' },
    ];
    const data = { code: 'validation_error', requestId: 'req-1', param: 'email', errors };
    server.answer = reply(400, { status: 'error', message: 'email: Must be an email', data });
    await expect(merchant.customers.create({ body })).rejects.toMatchObject({
      name: 'ApiError',
      ...data,
      status: 400,
    });
  });

  test('the error names the payment that already has the reference', async () => {
    const data = { code: 'duplicate_tx_ref', requestId: 'req-1', paymentId: '01J9ZQ' };
    server.answer = reply(409, { status: 'error', message: 'Taken', data });
    const order = { amount: '5000', baseCurrency: 'NGN', txRef: 'order-42' };
    await expect(merchant.payments.create({ body: order })).rejects.toMatchObject({ paymentId: '01J9ZQ' });
  });
});
