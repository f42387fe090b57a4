/** Handlers of `/v1/webhooks`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { createWebhookTest } from './webhook-test.js';
import type { Webhooks } from './webhooks.js';

export function createWebhookHandlers(
  { reader }: { readonly reader: Parameters<Webhooks['page']>[0] },
  webhooks: Webhooks,
  samples: ReturnType<typeof createWebhookTest>,
): ApiHandlers<'webhooks'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, webhooks.page(reader, caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(webhooks.retrieve(reader, caller, params.webhook_id)),

    retry: ({ params }, { caller, change }) =>
      change((transaction) => webhooks.retry(transaction, caller, params.webhook_id)),

    retryFailed: (_input, { caller, change }) =>
      change((transaction) => webhooks.retryFailed(transaction, caller)),

    async sendSample({ body }, { caller, signal }) {
      const [sample] = await samples.run(reader, caller, [body.type], signal);
      if (!sample) throw new Error('No sample was sent');
      const { id, type, status = null, excerpt, error = null, durationMs } = sample;
      const answer = { durationMs, responseStatus: status, responseExcerpt: excerpt, error };
      return { data: { id, mode: caller.mode, type, ...answer } };
    },
  };
}
