/** Webhooks as a merchant's server receives them: signed with the standardwebhooks library, partly over real HTTP. */
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

/** The headers of a webhook that was signed `ageSeconds` ago. */
function sign(body: string, by: string | readonly string[] = secret, ageSeconds = 0): Record<string, string> {
  const time = new Date(Date.now() - ageSeconds * 1000);
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
  throw new Error('The webhook was accepted');
}

test('a signed event is returned with its id', () => {
  const event = verifyWebhook(success, sign(success), secret);
  expect(event).toMatchObject({ id, type: 'payment.success', timestamp });
  if (event.type !== 'payment.success') throw new Error('The event has another type');
  const received: number | undefined = event.data.amountReceived;
  expect(received).toBe(payment.amountReceived);
  expect(event.data).toMatchObject({ txRef: payment.txRef, status: 'success', mode: 'test', sequence: 3 });
});

test('events of other records are returned with all their fields', () => {
  const body = JSON.stringify({
    type: 'transfer.failed',
    timestamp,
    data: { id: '01J9', status: 'failed', amount: 5, mode: 'live', sequence: 1 },
  });
  expect(verifyWebhook(body, sign(body), secret).data).toMatchObject({
    id: '01J9',
    amount: 5,
    mode: 'live',
  });
});

describe('verifyWebhook accepts the headers and body in several forms', () => {
  /** Sends the request with fetch, and returns what a Node server receives. */
  async function sendToNode(
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

  test('the headers and body that Node receives are accepted', async () => {
    const body = success.replace('Ada Example', 'Ada Éxample ₦');
    const [bytes, headers] = await sendToNode(body, sign(body));
    expect(verifyWebhook(bytes, headers, secret).id).toBe(id);
  });

  const upperCase = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));

  test.each<[string, (headers: Record<string, string>) => WebhookHeaders]>([
    ['fetch’s Headers', (headers) => new Headers(headers)],
    ['a plain object', (headers) => headers],
    ['an object with upper-case names', upperCase],
    [
      'an object with other headers',
      (headers) => ({ ...headers, accept: undefined, 'set-cookie': ['a', 'b'] }),
    ],
  ])('headers as %s are accepted', (_name, headersOf) => {
    expect(verifyWebhook(new TextEncoder().encode(success), headersOf(sign(success)), secret).id).toBe(id);
  });
});

describe('during a secret rotation, accepts', () => {
  const newer = newSecret();

  test.each([
    ['a signature by the old secret', secret],
    ['a signature by the new secret', newer],
    ['signatures by both', [secret, newer]],
  ])('a webhook is accepted during a secret rotation with %s', (_name, by) => {
    expect(verifyWebhook(success, sign(success, by), [secret, newer]).id).toBe(id);
  });

  test('signatures by both secrets are accepted when only the new one is configured', () => {
    expect(verifyWebhook(success, sign(success, [secret, newer]), newer).id).toBe(id);
  });
});

describe('rejects', () => {
  const headers = sign(success);
  const { 'webhook-id': _id, ...withoutId } = headers;

  test.each<[string, string | Uint8Array, WebhookHeaders, string]>([
    ['a signature by another secret', success, sign(success, newSecret()), 'webhook_signature_invalid'],
    ['a changed body', success.replace('success', 'error'), headers, 'webhook_signature_invalid'],
    ['an extra space', `${success} `, headers, 'webhook_signature_invalid'],
    ['an empty body', '', headers, 'webhook_signature_invalid'],
    ['bytes that are not UTF-8', Uint8Array.of(0xff, 0xfe), headers, 'webhook_signature_invalid'],
    ['another id', success, { ...headers, 'webhook-id': 'msg_2' }, 'webhook_signature_invalid'],
    ['another signature version', success, swap(headers, /^v1/, 'v2'), 'webhook_signature_invalid'],
    ['half a signature', success, swap(headers, /.{10}$/, ''), 'webhook_signature_invalid'],
    ['a garbage signature', success, swap(headers, /.*/, 'trust me'), 'webhook_signature_invalid'],
    ['no headers', success, {}, 'webhook_signature_missing'],
    ['no id', success, withoutId, 'webhook_signature_missing'],
    ['an empty signature', success, { ...headers, 'webhook-signature': '' }, 'webhook_signature_missing'],
    ['two ids', success, { ...headers, 'webhook-id': [id, id] }, 'webhook_signature_missing'],
    [
      'an invalid timestamp',
      success,
      { ...headers, 'webhook-timestamp': 'now' },
      'webhook_timestamp_invalid',
    ],
    ['a timestamp six minutes ago', success, sign(success, secret, 360), 'webhook_timestamp_invalid'],
    ['a timestamp in six minutes', success, sign(success, secret, -360), 'webhook_timestamp_invalid'],
  ])('a webhook with %s is rejected', (_name, body, given, code) => {
    expect(codeOf(() => verifyWebhook(body, given, secret))).toBe(code);
  });

  test('a webhook older than a custom tolerance is rejected', () => {
    const minuteOld = sign(success, secret, 60);
    expect(verifyWebhook(success, minuteOld, secret).id).toBe(id);
    const work = () => verifyWebhook(success, minuteOld, secret, { toleranceSeconds: 30 });
    expect(codeOf(work)).toBe('webhook_timestamp_invalid');
  });

  test.each([
    ['not JSON', 'payment.success', 'webhook_body_invalid'],
    ['not an event', '{}', 'webhook_body_invalid'],
    ['a payment without an id', success.replace('"id":', '"no":'), 'webhook_body_invalid'],
    ['of an unknown type', success.replace('payment.success', 'payment.lost'), 'webhook_type_unknown'],
  ])('a signed webhook that is %s is rejected', (_name, body, code) => {
    expect(codeOf(() => verifyWebhook(body, sign(body), secret))).toBe(code);
  });

  test('the error of a rejected webhook says what to do', () => {
    const work = () => verifyWebhook(success, sign(success, newSecret()), secret);
    expect(work).toThrow(
      expect.objectContaining({
        name: 'WebhookError',
        remedy: expect.stringContaining('raw') as string,
        message: expect.stringMatching(/^The webhook’s signature does not match.*\n\nReply 400/) as string,
        docsUrl: undefined,
      }) as Error,
    );
  });
});

describe('throws for a mistake in the call:', () => {
  test.each([
    ['no secret', ''],
    ['no secrets', []],
    ['a secret that is not base64', 'whsec_?'],
  ])('%s is a RangeError that does not contain the secret', (_name, secrets) => {
    const work = () => verifyWebhook(success, sign(success), secrets);
    expect(work).toThrow(RangeError);
    expect(work).not.toThrow(/\?/);
  });

  test.each([-1, 301, Number.NaN])('a tolerance of %s seconds is a RangeError', (toleranceSeconds) => {
    expect(() => verifyWebhook(success, sign(success), secret, { toleranceSeconds })).toThrow(RangeError);
  });

  test('a parsed body is a TypeError', () => {
    const parsed = JSON.parse(success) as string;
    expect(() => verifyWebhook(parsed, sign(success), secret)).toThrow(TypeError);
  });
});

function swap(headers: Record<string, string>, search: RegExp, replacement: string): Record<string, string> {
  const signature = headers['webhook-signature'] ?? '';
  return { ...headers, 'webhook-signature': signature.replace(search, replacement) };
}
