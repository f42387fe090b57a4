/** `webhooks …`: lists and retries the events that were sent to merchants. */
import { isoTime } from '../shared/clock.js';
import type { WebhookAttempt, WebhookRecord } from '../webhooks/webhooks.js';
import type { SampleResult } from '../webhooks/webhook-test.js';
import { modeOf, oneOf, optional, required, text, UsageError, type Command } from './command.js';

const defaultLimit = 100;

export const webhookCommands: Readonly<Record<string, Command>> = {
  'webhooks list': {
    usage: 'webhooks list [--merchant ID] [--status pending|delivered|failed] [--limit N]',
    help: `Lists webhook events, newest first, each with its delivery attempts.

  --merchant ID   only events of this merchant
  --status S      pending (waits for an attempt), delivered, or failed (given up)
  --limit N       how many events to list (default ${defaultLimit})`,
    options: { merchant: text, status: text, limit: text },
    positionals: [],
    async run({ database, webhooks, merchants }, options) {
      const { limit = String(defaultLimit) } = options;
      const merchantId = optional(options, 'merchant');
      if (merchantId !== undefined) await merchants.retrieve(database.reader, merchantId);
      if (typeof limit !== 'string' || !/^[1-9]\d{0,5}$/.test(limit)) {
        throw new UsageError('--limit must be an integer from 1 to 999999');
      }
      const events = await webhooks.list(database.reader, {
        merchantId,
        status:
          options['status'] === undefined
            ? undefined
            : oneOf(options, 'status', ['pending', 'delivered', 'failed']),
        limit: Number(limit),
      });
      return {
        json: events.map(eventJson),
        text: events.map(eventText).join('\n') || 'There are no webhooks',
      };
    },
  },
  'webhooks test': {
    usage: 'webhooks test --merchant ID --mode test|live',
    help: `Sends a signed sample of each event type to a webhook URL, and shows the answers. A sample has isSample: true in its data, and the reference webhook-test, which no order has. It is sent once, and not stored. Exits with 1 if one is not answered with a 2xx status.

  --merchant ID   the merchant whose URL it is
  --mode MODE     test or live: each has its own URL`,
    options: { merchant: text, mode: text },
    positionals: [],
    async run({ database, webhookTest }, options) {
      const scope = {
        merchantId: required(options, 'merchant'),
        mode: modeOf(options),
      };
      const results = await webhookTest.run(database.reader, scope);
      return {
        json: results.map(({ type, id, status, durationMs, excerpt, error }) => ({
          ...{ type, id, status: status ?? null, durationMs, response: excerpt, error: error ?? null },
        })),
        text: results.map(sampleText).join('\n'),
        hasFailed: results.some(({ error }) => error !== undefined),
      };
    },
  },
  'webhooks retry': {
    usage: 'webhooks retry ID',
    help: `Sends an event again, whether it was delivered or not, with the same webhook-id. A running server sends it within a second. If that fails, it is retried like a new event.

  ID   the event's id, as "webhooks list" shows it, which is its webhook-id`,
    options: {},
    positionals: ['ID'],
    async run({ database, webhooks }, _options, [id = '']) {
      await database.write((transaction) => webhooks.retry(transaction, id));
      return { json: { id, status: 'pending' }, text: `Queued ${id}` };
    },
  },
};

function eventJson({ createdAt, dueAt, attempts, ...event }: WebhookRecord) {
  return {
    ...event,
    createdAt: isoTime(createdAt),
    dueAt: dueAt === null ? null : isoTime(dueAt),
    tries: attempts.map(({ attemptedAt, ...attempt }) => ({ ...attempt, triedAt: isoTime(attemptedAt) })),
  };
}

function eventText(event: WebhookRecord): string {
  const { id, merchantId, mode, type, subjectId, status, dueAt, attempts } = event;
  const due = dueAt === null ? '' : `  due ${isoTime(dueAt)}`;
  const head = `${id}  ${status.padEnd(9)}  ${type}  ${mode}  of ${subjectId}  to ${merchantId}${due}`;
  return [head, ...attempts.map((attempt) => `    ${attemptText(attempt)}`)].join('\n');
}

function sampleText({ type, status, durationMs, excerpt, error }: SampleResult): string {
  const verdict = error === undefined ? `ok    ${type}  HTTP ${status ?? ''}` : `FAIL  ${type}  ${error}`;
  const answer = excerpt === '' ? '' : `  ${JSON.stringify(excerpt.slice(0, 100))}`;
  return `${verdict}  ${durationMs} ms${answer}`;
}

function attemptText({ attemptedAt, durationMs, responseStatus, error }: WebhookAttempt): string {
  return `${isoTime(attemptedAt)}  ${durationMs} ms  ${error ?? `Returned HTTP ${responseStatus ?? ''}`}`;
}
