/** Tells a webhook of the API from a forged, changed or replayed one, by the Standard Webhooks signature. */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import * as z from 'zod/mini';
import { webhookEvent, webhookEventType, type WebhookEvent } from '../contract/webhooks.js';
import { CheckoutError } from '../errors.js';

interface FetchHeaders {
  get(name: string): string | null;
}

/** Headers as Node, Express, `fetch` and the edge runtimes hand them over; names in any case. */
export type WebhookHeaders = FetchHeaders | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** How far `webhook-timestamp` may be from this machine's clock; 300 when absent, which is also the most. */
  readonly toleranceSeconds?: number | undefined;
}

/** The event, and the `webhook-id` that it keeps through all retries: what was done for an id is not done again. */
export type ReceivedWebhook = WebhookEvent & { readonly id: string };

export type WebhookErrorCode =
  | 'webhook_signature_missing'
  | 'webhook_timestamp_invalid'
  | 'webhook_signature_invalid'
  | 'webhook_body_invalid'
  | 'webhook_type_unknown';

const remedies: Readonly<Record<WebhookErrorCode, string>> = {
  webhook_signature_missing: 'Answer 400: it is none of the API’s, unless a proxy drops `webhook-…` headers.',
  webhook_timestamp_invalid: 'Answer 400; if it is the API’s, set this machine’s clock.',
  webhook_signature_invalid:
    'Answer 400; if it is the API’s, check the secret, and that the body is the raw one, read before any parser.',
  webhook_body_invalid: 'Answer 400, and check that API and package are of one version.',
  webhook_type_unknown: 'Answer 204 and ignore it: the API is newer than this package.',
};

/** The request is not a webhook to act on. `code` says why, `remedy` what to answer. */
export class WebhookError extends CheckoutError {
  override readonly name = 'WebhookError';
  declare readonly code: WebhookErrorCode;

  constructor(message: string, code: WebhookErrorCode, cause?: unknown) {
    super(message, { code, remedy: remedies[code], cause });
  }
}

const mostToleranceSeconds = 300;

/**
 * Verifies a webhook and parses what it tells.
 *
 *     app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
 *       const event = verifyWebhook(request.body, request.headers, process.env.WEBHOOK_SECRET);
 *       if (event.type === 'payment.success') deliver(event.data.txRef);
 *
 * It proves who sent it, not that it is the latest word: events may arrive twice or out of order, so ask
 * `verifyPayment` before value is given.
 *
 * @param rawBody the bytes as they came, or their text; not parsed JSON
 * @param secrets `whsec_…`, or several while one is replaced by another: any may have signed
 * @throws WebhookError when it is not to be acted on
 * @throws RangeError when a secret or the tolerance is none; TypeError when the body was parsed already
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = mostToleranceSeconds }: VerifyWebhookOptions = {},
): ReceivedWebhook {
  const verifiers = [secrets].flat().map(verifierOf);
  if (verifiers.length === 0) throw new RangeError('verifyWebhook needs a secret');
  if (!(toleranceSeconds >= 0 && toleranceSeconds <= mostToleranceSeconds)) {
    throw new RangeError(`toleranceSeconds must be from 0 to ${mostToleranceSeconds}`);
  }
  const signed = {
    'webhook-id': header(headers, 'webhook-id'),
    'webhook-timestamp': header(headers, 'webhook-timestamp'),
    'webhook-signature': header(headers, 'webhook-signature'),
  };
  const body = textOf(rawBody);
  checkTimestamp(signed['webhook-timestamp'], toleranceSeconds);
  if (body === undefined || !verifiers.some((verifier) => hasSigned(verifier, body, signed))) {
    throw new WebhookError('The webhook’s signature is of none of the secrets', 'webhook_signature_invalid');
  }
  return { ...eventOf(body), id: signed['webhook-id'] };
}

function verifierOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch (error) {
    // Without the secret itself, since this ends in a log.
    throw new RangeError('verifyWebhook needs the secret as the API gave it, whsec_ and base64', {
      cause: error,
    });
  }
}

function header(headers: WebhookHeaders, name: string): string {
  const value = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookError(`The request has no ${name} header, or several`, 'webhook_signature_missing');
}

function isFetchHeaders(headers: WebhookHeaders): headers is FetchHeaders {
  return typeof (headers as Partial<FetchHeaders>).get === 'function';
}

/** Undefined for bytes that are no UTF-8, which the API never signed. */
function textOf(rawBody: unknown): string | undefined {
  if (typeof rawBody === 'string') return rawBody;
  if (!(rawBody instanceof Uint8Array)) {
    throw new TypeError('verifyWebhook needs the raw body, a text or bytes, as it was before it was parsed');
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
  if (!isNear) throw new WebhookError('The webhook is of another time than now', 'webhook_timestamp_invalid');
}

function hasSigned(verifier: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    verifier.verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const typed = z.object({ type: z.string() });

function eventOf(body: string): WebhookEvent {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    throw new WebhookError('The webhook’s body is not JSON', 'webhook_body_invalid', error);
  }
  const event = z.safeParse(webhookEvent, json);
  if (event.success) return event.data;
  const { data } = z.safeParse(typed, json);
  if (data && !z.safeParse(webhookEventType, data.type).success) {
    throw new WebhookError(
      `This package knows no event of the type "${data.type}"`,
      'webhook_type_unknown',
      event.error,
    );
  }
  const where = event.error.issues[0]?.path.join('.');
  throw new WebhookError(
    `The webhook has an unexpected ${where || 'body'}`,
    'webhook_body_invalid',
    event.error,
  );
}
