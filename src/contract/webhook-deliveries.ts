/** Deliveries of webhooks: each event, the attempts to send it, and sending it again. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, listQuery, mode, requiredText, timestamp } from './fields.js';
import { webhookEventType } from './webhooks.js';

const status = z.enum(['pending', 'delivered', 'failed']);

const answer = {
  durationMs: z.number(),
  /** The HTTP status; null if no response arrived. */
  responseStatus: z.nullable(z.number()),
  /** The beginning of the response, without secrets. */
  responseExcerpt: z.string(),
  /** Why it failed; null if it succeeded. */
  error: z.nullable(z.string()),
};

const delivery = z.object({
  /** Also the `webhook-id` header. */
  id: z.string(),
  mode,
  type: webhookEventType,
  /** The record that the event is about: the id of a payment, transfer, refund, subscriber or deposit key. */
  subjectId: z.string(),
  /** `pending` waits for an attempt, `failed` was given up. */
  status,
  createdAt: timestamp,
  /** When the next attempt is due, by the clock of the mode; null unless pending. */
  dueAt: z.nullable(timestamp),
  /** The attempts so far, oldest first. */
  tries: z.array(z.object({ triedAt: timestamp, ...answer })),
});

const withRequest = z.extend(delivery, {
  /** The URL of the next attempt; empty if the mode has no URL. */
  url: z.string(),
  /** The body that is sent, byte for byte. */
  body: z.string(),
});

const params = z.object({ webhook_id: described(id, 'Id of the event: its `webhook-id`.') });

const sampleId = '01J9ZQ9X0A1B2C3D4E5F6G7H8J';
const sampleDelivery = {
  id: sampleId,
  mode: 'live' as const,
  type: 'payment.success' as const,
  subjectId: '01J9ZQ4W3V8K2M6N7P5R0S1T2X',
  status: 'failed' as const,
  createdAt: '2026-01-01T00:00:00.000Z',
  dueAt: null,
  tries: [
    {
      triedAt: '2026-01-01T00:00:00.000Z',
      durationMs: 231,
      responseStatus: 500,
      responseExcerpt: 'Internal Server Error',
      error: 'Returned HTTP 500',
    },
  ],
};
const samplePending = { ...sampleDelivery, status: 'pending' as const, dueAt: '2026-01-02T00:00:00.000Z' };

export const webhooks = {
  list: endpoint({
    method: 'GET',
    path: '/v1/webhooks',
    key: 'secret',
    description:
      'Lists the webhook events of the mode, newest first, each with its attempts. It reaches the newest 10,000 that match, and `total` counts no further: use `to` for older ones.',
    query: listQuery({
      subjectId: described(
        z.optional(requiredText()),
        'Only events about this record, such as the id of a payment.',
      ),
      type: described(z.optional(webhookEventType), 'Only events of this type.'),
      status: described(
        z.optional(z.enum([...status.options, 'failing'])),
        'Only events with this status. `failing`: pending ones that were tried without success.',
      ),
    }),
    data: z.array(delivery),
    paginated: true,
    sample: { query: { status: 'failed' }, message: 'Webhooks fetched', data: [sampleDelivery] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/webhooks/{webhook_id}',
    key: 'secret',
    description: 'Returns one webhook event, with the body that is sent.',
    params,
    data: withRequest,
    sample: {
      params: { webhook_id: sampleId },
      message: 'Webhook fetched',
      data: {
        ...sampleDelivery,
        url: 'https://shop.example/webhooks',
        body: '{"type":"payment.success","timestamp":"2026-01-01T00:00:00.000Z","data":{}}',
      },
    },
  }),
  retry: endpoint({
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/retry',
    key: 'secret',
    description:
      'Sends an event again, whether it was delivered or not, with the same `webhook-id` and a new schedule of attempts.',
    params,
    data: delivery,
    errors: ['webhook_not_configured'],
    sample: { params: { webhook_id: sampleId }, message: 'Webhook queued', data: samplePending },
  }),
  retryFailed: endpoint({
    method: 'POST',
    path: '/v1/webhooks/retry-failed',
    key: 'secret',
    description:
      'Sends the failed events of the mode again, the oldest 1,000 with each call. `remaining` says how many are left, at most 10,000.',
    data: z.object({ retried: z.int(), remaining: z.int() }),
    errors: ['webhook_not_configured'],
    sample: { message: 'Webhooks queued', data: { retried: 3, remaining: 0 } },
  }),
  sendSample: endpoint({
    method: 'POST',
    path: '/v1/webhooks/samples',
    key: 'secret',
    description:
      'Sends a signed sample of an event to your webhook URL, once, and returns the answer. Nothing is stored. Its `data` has `isSample: true` and the reference `webhook-test`.',
    body: z.object({
      type: described(
        z._default(webhookEventType, 'payment.success'),
        'The type of the event. Defaults to payment.success.',
      ),
    }),
    data: z.object({ id: z.string(), mode, type: webhookEventType, ...answer }),
    errors: ['webhook_not_configured'],
    sample: {
      body: { type: 'payment.success' },
      message: 'Sample sent',
      data: {
        id: sampleId,
        mode: 'live' as const,
        type: 'payment.success' as const,
        durationMs: 84,
        responseStatus: 204,
        responseExcerpt: '',
        error: null,
      },
    },
  }),
};
