/** Webhooks as a merchant's server receives them: signed by the standardwebhooks library, over real HTTP where that matters. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook, WebhookError, type WebhookHeaders } from '../../src/client/verify-webhook.js';
import { transactions } from '../../src/contract/transactions.js';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const id = 'msg_01J9ZQ4W3V8K2M6N7P5R0S1T2X';
const timestamp = '2026-01-01T00:01:00.000Z';
const payment = { ...transactions.verify.sample.data, mode: 'test', sequence: 3 };
const success = JSON.stringify({ type: 'payment.success', timestamp, data: payment });

/** What the API sends beside the body, `ago` seconds after it was signed. */
function signed(body: string, by: string | readonly string[] = secret, ago = 0): Record<string, string> {
  const time = new Date(Date.now() - ago * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': [by]
      .flat()
      .map((one) => new Webhook(one).sign(id, time, body))
      .join(' '),
  };
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof WebhookError) return error.code;
    throw error;
  }
  throw new Error('It was accepted');
}

test('a signed event is parsed, with the id that it keeps', () => {
  const event = verifyWebhook(success, signed(success), secret);
  expect(event).toMatchObject({ id, type: 'payment.success', timestamp });
  if (event.type !== 'payment.success') throw new Error('The type is another');
  const received: number | undefined = event.data.amountReceived;
  expect(received).toBe(payment.amountReceived);
  expect(event.data).toMatchObject({ txRef: payment.txRef, status: 'success', mode: 'test', sequence: 3 });
});

test('an event of another record keeps all of it', () => {
  const body = JSON.stringify({
    type: 'transfer.failed',
    timestamp,
    data: { id: '01J9', status: 'failed', amount: 5, mode: 'live', sequence: 1 },
  });
  expect(verifyWebhook(body, signed(body), secret).data).toMatchObject({
    id: '01J9',
    amount: 5,
    mode: 'live',
  });
});

describe('a request as it comes', () => {
  /** What Node's server makes of a request that fetch sent. */
  async function received(
    body: string,
    headers: Record<string, string>,
  ): Promise<[Buffer, IncomingHttpHeaders]> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const arrival = once(server, 'request') as Promise<[IncomingMessage, { end(): void }]>;
    const reply = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
    const [request, response] = await arrival;
    const bytes = await buffer(request);
    response.end();
    await (await reply).arrayBuffer();
    server.close();
    return [bytes, request.headers];
  }

  test('to Node: bytes and lower-case headers', async () => {
    const body = success.replace('Ada Example', 'Ada Éxample ₦');
    const [bytes, headers] = await received(body, signed(body));
    expect(verifyWebhook(bytes, headers, secret).id).toBe(id);
  });

  const capitals = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));

  test.each<[string, (headers: Record<string, string>) => WebhookHeaders]>([
    ['fetch’s Headers', (headers) => new Headers(headers)],
    ['a plain object', (headers) => headers],
    ['an object in capitals', capitals],
    ['an object with more in it', (headers) => ({ ...headers, accept: undefined, 'set-cookie': ['a', 'b'] })],
  ])('to others: %s', (_name, headersOf) => {
    expect(verifyWebhook(new TextEncoder().encode(success), headersOf(signed(success)), secret).id).toBe(id);
  });
});

describe('while a secret is replaced by another', () => {
  const next = newSecret();

  test.each([
    ['signed by the old one', secret],
    ['signed by the new one', next],
    ['signed by both', [secret, next]],
  ])('%s', (_name, by) => {
    expect(verifyWebhook(success, signed(success, by), [secret, next]).id).toBe(id);
  });

  test('signed by both, and only the new one is known', () => {
    expect(verifyWebhook(success, signed(success, [secret, next]), next).id).toBe(id);
  });
});

describe('is refused', () => {
  const headers = signed(success);
  const { 'webhook-id': _id, ...withoutId } = headers;

  test.each<[string, string | Uint8Array, WebhookHeaders, string]>([
    ['by another secret', success, signed(success, newSecret()), 'webhook_signature_invalid'],
    ['a changed body', success.replace('success', 'error'), headers, 'webhook_signature_invalid'],
    ['another space', `${success} `, headers, 'webhook_signature_invalid'],
    ['no body', '', headers, 'webhook_signature_invalid'],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe), headers, 'webhook_signature_invalid'],
    ['another id', success, { ...headers, 'webhook-id': 'msg_2' }, 'webhook_signature_invalid'],
    ['another version', success, swap(headers, /^v1/, 'v2'), 'webhook_signature_invalid'],
    ['half a signature', success, swap(headers, /.{10}$/, ''), 'webhook_signature_invalid'],
    ['a signature in words', success, swap(headers, /.*/, 'trust me'), 'webhook_signature_invalid'],
    ['no headers', success, {}, 'webhook_signature_missing'],
    ['no id', success, withoutId, 'webhook_signature_missing'],
    ['an empty signature', success, { ...headers, 'webhook-signature': '' }, 'webhook_signature_missing'],
    ['two ids', success, { ...headers, 'webhook-id': [id, id] }, 'webhook_signature_missing'],
    ['a time that is none', success, { ...headers, 'webhook-timestamp': 'now' }, 'webhook_timestamp_invalid'],
    ['six minutes ago', success, signed(success, secret, 360), 'webhook_timestamp_invalid'],
    ['in six minutes', success, signed(success, secret, -360), 'webhook_timestamp_invalid'],
  ])('%s', (_name, body, given, code) => {
    expect(codeOf(() => verifyWebhook(body, given, secret))).toBe(code);
  });

  test('a replay within the tolerance of others, but not of one’s own', () => {
    const minuteOld = signed(success, secret, 60);
    expect(verifyWebhook(success, minuteOld, secret).id).toBe(id);
    const work = () => verifyWebhook(success, minuteOld, secret, { toleranceSeconds: 30 });
    expect(codeOf(work)).toBe('webhook_timestamp_invalid');
  });

  test.each([
    ['not JSON', 'payment.success', 'webhook_body_invalid'],
    ['no event', '{}', 'webhook_body_invalid'],
    ['a payment without an id', success.replace('"id":', '"no":'), 'webhook_body_invalid'],
    ['a type of later days', success.replace('payment.success', 'refund.paid'), 'webhook_type_unknown'],
  ])('signed, but %s', (_name, body, code) => {
    expect(codeOf(() => verifyWebhook(body, signed(body), secret))).toBe(code);
  });

  test('with an error that says what to do', () => {
    const work = () => verifyWebhook(success, signed(success, newSecret()), secret);
    expect(work).toThrow(
      expect.objectContaining({
        name: 'WebhookError',
        remedy: expect.stringContaining('raw') as string,
        docsUrl: 'docs/errors.md#webhook_signature_invalid',
      }) as Error,
    );
  });
});

describe('a mistake of one’s own', () => {
  test.each([
    ['no secret', ''],
    ['no secrets', []],
    ['a secret that is no base64', 'whsec_?'],
  ])('%s is a RangeError that does not tell it', (_name, secrets) => {
    const work = () => verifyWebhook(success, signed(success), secrets);
    expect(work).toThrow(RangeError);
    expect(work).not.toThrow(/\?/);
  });

  test.each([-1, 301, Number.NaN])('a tolerance of %s seconds is a RangeError', (toleranceSeconds) => {
    expect(() => verifyWebhook(success, signed(success), secret, { toleranceSeconds })).toThrow(RangeError);
  });

  test('a body that was parsed already is a TypeError', () => {
    const parsed = JSON.parse(success) as string;
    expect(() => verifyWebhook(parsed, signed(success), secret)).toThrow(TypeError);
  });
});

function swap(headers: Record<string, string>, search: RegExp, replacement: string): Record<string, string> {
  const signature = headers['webhook-signature'] ?? '';
  return { ...headers, 'webhook-signature': signature.replace(search, replacement) };
}
