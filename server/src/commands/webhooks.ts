/** `webhooks …`: lists and retries the events that were sent to merchants. */
import { isoTime } from '../shared/clock.js';
import type { WebhookAttempt, WebhookRecord } from '../webhooks/webhooks.js';
import { oneOf, text, UsageError, type Command } from './command.js';

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
    async run({ database, webhooks }, options) {
      const { merchant, limit = String(defaultLimit) } = options;
      if (typeof limit !== 'string' || !/^[1-9]\d{0,5}$/.test(limit)) {
        throw new UsageError('--limit must be an integer from 1 to 999999');
      }
      const events = await webhooks.list(database.reader, {
        merchantId: typeof merchant === 'string' ? merchant : undefined,
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
  'webhooks retry': {
    usage: 'webhooks retry ID',
    help: `Sends an event again, whether it was delivered or not, with the same webhook-id. A running server sends it within a second. If that fails, it is retried like a new event.`,
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

function attemptText({ attemptedAt, durationMs, responseStatus, error }: WebhookAttempt): string {
  return `${isoTime(attemptedAt)}  ${durationMs} ms  ${error ?? `Returned HTTP ${responseStatus ?? ''}`}`;
}
