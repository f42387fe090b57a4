/** `webhooks …`: lists and retries the events that were sent to merchants. */
import { coreApi } from 'crypto-checkout/contract';
import type { WebhookRecord } from '../webhooks/webhooks.js';
import type { SampleResult } from '../webhooks/webhook-test.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import * as option from './options.js';
import { filtersOf, queryOptions, readQuery } from './query-options.js';
import { listRecords } from './records.js';

const { query } = coreApi.webhooks.list;

export const webhookCommands: Group = {
  name: 'webhooks',
  summary: 'Events that are sent to merchants.',
  commands: {
    list: command({
      summary: 'Lists webhook events, newest first, each with its delivery attempts.',
      details:
        'With --failing, those that were tried without success, with the URL that they go to and the reference of their order.',
      options: {
        merchant: option.merchant('only events of this merchant'),
        ...queryOptions(query, filtersOf(query)),
        failing: option.flag('only events that were tried without success, pending and failed ones'),
        limit: option.integer('N', 'how many events to list', { min: 1, max: 999_999 }).default(100),
      },
      async run(context, { merchant: merchantId, failing: isFailing, limit, ...given }) {
        const { database, webhooks } = context;
        const filter = { ...readQuery(query, given), merchantId, isFailing, limit };
        const events = await webhooks.list(database.reader, filter);
        if (!isFailing) return listRecords(events, (event) => event, eventText, 'There are no webhooks');
        const placed = await Promise.all(events.map((event) => withOrder(context, event)));
        return listRecords(
          placed,
          ({ event, url, txRef }) => ({ ...event, url, txRef }),
          ({ event, url, txRef }) => `${eventText(event)}\n    to ${url ?? 'no URL'}, order ${txRef ?? '-'}`,
          'No webhook fails',
        );
      },
    }),
    test: command({
      summary: 'Sends a signed sample of each event type to a webhook URL, and shows the answers.',
      details:
        'A sample has isSample: true in its data, and the reference webhook-test, which no order has. It is sent once, and not stored. Exits with 1 if one is not answered with a 2xx status.',
      options: {
        merchant: option.merchant('the merchant whose URL it is').required(),
        mode: option.mode('each mode has its own URL'),
      },
      async run({ database, webhookTest, signal }, { merchant: merchantId, mode }) {
        const scope = { merchantId, mode };
        const results = await webhookTest.run(database.reader, scope, webhookTest.types, signal);
        return {
          ...listRecords(results, sampleJson, sampleText, ''),
          hasFailed: results.some(({ error }) => error !== undefined),
        };
      },
    }),
    retry: command({
      summary: 'Sends an event again, whether it was delivered or not, with the same webhook-id.',
      details: 'A running server sends it within a second. If that fails, it is retried like a new event.',
      args: {
        id: option.id('the event\'s id, as "webhooks list" shows it, which is its webhook-id'),
      },
      async run({ database, webhooks }, { id }) {
        await database.write(async (transaction) =>
          webhooks.retry(transaction, await webhooks.owner(transaction, id), id),
        );
        return { json: { id, status: 'pending' }, text: `Queued ${id}` };
      },
    }),
  },
};

/** The target of an event, and the reference of the payment that it is about, if it is about one. */
async function withOrder({ database, endpoints, payments }: CommandContext, event: WebhookRecord) {
  const { merchantId, mode, type, subjectId } = event;
  const endpoint = await endpoints.find(database.reader, { merchantId, mode });
  const isPayment = type.startsWith('payment.') || type === 'wallet.transaction';
  const payment = isPayment
    ? await payments.verify({ merchantId, mode, kind: 'secret' }, subjectId)
    : undefined;
  return { event, url: endpoint?.url ?? null, txRef: payment?.txRef ?? null };
}

function sampleJson({ type, id, status, durationMs, excerpt, error }: SampleResult) {
  return { type, id, status: status ?? null, durationMs, response: excerpt, error: error ?? null };
}

function eventText(event: WebhookRecord): string {
  const { id, merchantId, mode, type, subjectId, status, dueAt, tries } = event;
  const due = dueAt === null ? '' : `  due ${dueAt}`;
  const head = `${id}  ${status.padEnd(9)}  ${type}  ${mode}  of ${subjectId}  to ${merchantId}${due}`;
  return [head, ...tries.map((one) => `    ${tryText(one)}`)].join('\n');
}

function sampleText({ type, status, durationMs, excerpt, error }: SampleResult): string {
  const verdict = error === undefined ? `ok    ${type}  HTTP ${status ?? ''}` : `FAIL  ${type}  ${error}`;
  const answer = excerpt === '' ? '' : `  ${JSON.stringify(excerpt.slice(0, 100))}`;
  return `${verdict}  ${durationMs} ms${answer}`;
}

function tryText({ triedAt, durationMs, responseStatus, error }: WebhookRecord['tries'][number]): string {
  return `${triedAt}  ${durationMs} ms  ${error ?? `Returned HTTP ${responseStatus ?? ''}`}`;
}
