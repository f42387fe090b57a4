/** Verifies webhooks by their Standard Webhooks signature: forged, changed and replayed ones are rejected. */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod/mini';
import { webhookEvent, webhookEventType, type WebhookEvent } from '../contract/webhooks.js';
import { CheckoutError } from '../errors.js';

interface FetchHeaders {
  get(name: string): string | null;
}

/** Headers as Node, Express, `fetch` or an edge runtime provides them; names in any case. */
export type WebhookHeaders = FetchHeaders | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** Maximum difference between `webhook-timestamp` and this machine's clock: 300 by default, and at most. */
  readonly toleranceSeconds?: number | undefined;
}

/** The event and its `webhook-id`, which stays the same in all retries: process each id once. */
export type ReceivedWebhook = WebhookEvent & { readonly id: string };

export type WebhookErrorCode =
  | 'webhook_signature_missing'
  | 'webhook_timestamp_invalid'
  | 'webhook_signature_invalid'
  | 'webhook_body_invalid'
  | 'webhook_type_unknown';

const remedies: Readonly<Record<WebhookErrorCode, string>> = {
  webhook_signature_missing: 'Reply 400. If the API sent it, a proxy is dropping the `webhook-…` headers.',
  webhook_timestamp_invalid: 'Reply 400. If the API sent it, correct this machine’s clock.',
  webhook_signature_invalid:
    'Reply 400. If the API sent it, check the secret, and pass the raw body, as it was before any parser.',
  webhook_body_invalid: 'Reply 400, and check that the API and this package have the same version.',
  webhook_type_unknown: 'Reply 204 and ignore it: the API is newer than this package.',
};

/** The request must not be acted on. `code` gives the reason, `remedy` the reply. */
export class WebhookError extends CheckoutError {
  override readonly name = 'WebhookError';
  declare readonly code: WebhookErrorCode;

  constructor(shortMessage: string, code: WebhookErrorCode, cause?: unknown) {
    super(shortMessage, { code, remedy: remedies[code], cause });
  }
}

const maxToleranceSeconds = 300;

/**
 * Verifies a webhook and parses its event.
 *
 *     app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
 *       const event = verifyWebhook(request.body, request.headers, process.env.WEBHOOK_SECRET);
 *       if (event.type === 'payment.success') deliver(event.data.txRef);
 *
 * It proves who sent the event, not that the event is current: events can arrive twice or out of order, so call
 * `verifyPayment` before you deliver.
 *
 * @param rawBody the raw body, as bytes or text; not parsed JSON
 * @param secrets `whsec_…`, or several during a rotation: any of them may have signed
 * @throws WebhookError if the request must not be acted on
 * @throws RangeError if a secret or the tolerance is invalid
 * @throws TypeError if the body was already parsed
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = maxToleranceSeconds }: VerifyWebhookOptions = {},
): ReceivedWebhook {
  const keys = [secrets].flat().map(keyOf);
  if (keys.length === 0) throw new RangeError('verifyWebhook needs a secret');
  if (!(toleranceSeconds >= 0 && toleranceSeconds <= maxToleranceSeconds)) {
    throw new RangeError(`toleranceSeconds must be from 0 to ${maxToleranceSeconds}`);
  }
  const signed = {
    'webhook-id': requireHeader(headers, 'webhook-id'),
    'webhook-timestamp': requireHeader(headers, 'webhook-timestamp'),
    'webhook-signature': requireHeader(headers, 'webhook-signature'),
  };
  const body = decodeBody(rawBody);
  checkTimestamp(signed['webhook-timestamp'], toleranceSeconds);
  if (body === undefined || !keys.some((key) => isSignedBy(key, body, signed))) {
    throw new WebhookError(
      'The webhook’s signature does not match any of the secrets',
      'webhook_signature_invalid',
    );
  }
  return { ...parseEvent(body), id: signed['webhook-id'] };
}

/** The key that a secret encodes. */
function keyOf(secret: string): Uint8Array {
  try {
    const key = decodeBase64(secret.replace(/^whsec_/, ''));
    if (key.length > 0) return key;
  } catch {
    // Reported below, without the secret: this message ends up in a log.
  }
  throw new RangeError('verifyWebhook needs the secret in the API’s format: whsec_ followed by base64');
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookError(`The request must have exactly one ${name} header`, 'webhook_signature_missing');
}

function isFetchHeaders(headers: WebhookHeaders): headers is FetchHeaders {
  return typeof (headers as Partial<FetchHeaders>).get === 'function';
}

/** Undefined if the bytes are not UTF-8: the API never signs such a body. */
function decodeBody(rawBody: unknown): string | undefined {
  if (typeof rawBody === 'string') return rawBody;
  if (!(rawBody instanceof Uint8Array)) {
    throw new TypeError('verifyWebhook needs the raw body as text or bytes, not parsed JSON');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch {
    return undefined;
  }
}

function checkTimestamp(value: string, toleranceSeconds: number): void {
  const seconds = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
  const isNear = Math.abs(Math.floor(Date.now() / 1000) - seconds) <= toleranceSeconds;
  if (!isNear)
    throw new WebhookError(
      'The webhook’s timestamp is too far from the current time',
      'webhook_timestamp_invalid',
    );
}

/** The header lists signatures: `v1,BASE64`, one for each secret that is in use. Other versions are skipped. */
function isSignedBy(key: Uint8Array, body: string, headers: Readonly<Record<string, string>>): boolean {
  const signed = utf8ToBytes(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  const expected = hmac(sha256, key, signed);
  return (headers['webhook-signature'] ?? '').split(' ').some((entry) => {
    const [version, signature = ''] = entry.split(',');
    return version === 'v1' && isEqual(signature, expected);
  });
}

/** Constant time: an almost correct signature takes as long as any other. */
function isEqual(signature: string, expected: Uint8Array): boolean {
  let actual: Uint8Array;
  try {
    actual = decodeBase64(signature);
  } catch {
    return false;
  }
  let difference = actual.length ^ expected.length;
  expected.forEach((byte, index) => (difference |= byte ^ (actual[index] ?? 0)));
  return difference === 0;
}

/** @throws DOMException if it is not base64 */
function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

const typedEvent = z.object({ type: z.string() });

function parseEvent(body: string): WebhookEvent {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    throw new WebhookError('The webhook’s body is not JSON', 'webhook_body_invalid', error);
  }
  const event = z.safeParse(webhookEvent, json);
  if (event.success) return event.data;
  const { data } = z.safeParse(typedEvent, json);
  if (data && !z.safeParse(webhookEventType, data.type).success) {
    throw new WebhookError(
      `This package does not know the event type "${data.type}"`,
      'webhook_type_unknown',
      event.error,
    );
  }
  const field = event.error.issues[0]?.path.join('.');
  throw new WebhookError(
    `The webhook has an unexpected ${field || 'body'}`,
    'webhook_body_invalid',
    event.error,
  );
}
