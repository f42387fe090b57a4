/** `webhooks …`: what was sent to merchants, and what became of it. */
import { isoTime } from '../shared/clock.js';
import type { WebhookRecord, WebhookTry } from '../webhooks/webhooks.js';
import { oneOf, text, UsageError, type Command } from './command.js';

const usualLimit = 100;

export const webhookCommands: Readonly<Record<string, Command>> = {
  'webhooks list': {
    usage: 'webhooks list [--merchant ID] [--status pending|delivered|failed] [--limit N]',
    help: `Lists events, newest first, each with its tries.

  --merchant ID   of one account
  --status S      pending (waits for a try), delivered, or failed (given up)
  --limit N       at most so many (default ${usualLimit})`,
    options: { merchant: text, status: text, limit: text },
    positionals: [],
    async run({ database, webhooks }, options) {
      const { merchant, limit = String(usualLimit) } = options;
      if (typeof limit !== 'string' || !/^[1-9]\d{0,5}$/.test(limit)) {
        throw new UsageError('--limit must be an integer, 1 to 999999');
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
    help: `Sends an event once more, delivered or not, under the same webhook-id. A server that runs does it within a
second; if it fails, it is tried again as a new event would be.`,
    options: {},
    positionals: ['ID'],
    async run({ database, webhooks }, _options, [id = '']) {
      await database.write((transaction) => webhooks.retry(transaction, id));
      return { json: { id, status: 'pending' }, text: `Queued ${id}` };
    },
  },
};

function eventJson({ createdAt, dueAt, tries, ...event }: WebhookRecord) {
  return {
    ...event,
    createdAt: isoTime(createdAt),
    dueAt: dueAt === null ? null : isoTime(dueAt),
    tries: tries.map(({ triedAt, ...one }) => ({ ...one, triedAt: isoTime(triedAt) })),
  };
}

function eventText({ id, merchantId, mode, type, subjectId, status, dueAt, tries }: WebhookRecord): string {
  const due = dueAt === null ? '' : `  due ${isoTime(dueAt)}`;
  const head = `${id}  ${status.padEnd(9)}  ${type}  ${mode}  of ${subjectId}  to ${merchantId}${due}`;
  return [head, ...tries.map((one) => `    ${tryText(one)}`)].join('\n');
}

function tryText({ triedAt, durationMs, responseStatus, error }: WebhookTry): string {
  return `${isoTime(triedAt)}  ${durationMs} ms  ${error ?? `Answered ${responseStatus ?? ''}`}`;
}
