/** Webhook deliveries: on the page of a payment, and on the developers' page. */
import { html, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { webhooks } from '../../src/contract/webhook-deliveries.js';
import { webhookEventType } from '../../src/contract/webhooks.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts as delivery } from '../messages/developers.js';
import { texts } from '../messages/payments.js';
import type { View } from '../page.js';
import { tag } from '../ui/details.js';
import { choice, listOf } from '../ui/list.js';

export type Delivery = ParsedData<typeof webhooks.list>[number];

export const tones = { pending: 'plain', delivered: 'good', failed: 'bad' } as const;

export const deliveryList = listOf(webhooks.list, {
  label: texts.webhooks,
  filters: [
    choice('status', delivery.status, { failing: delivery.failing, ...delivery.statuses }, (status) => ({
      status,
    })),
    choice('type', delivery.type, webhookEventType.def.entries, (type) => ({ type })),
    { name: 'subjectId', label: delivery.record, ask: (subjectId) => ({ subjectId }) },
  ],
  href: ({ id }, view) => view.link('delivery', id),
  columns: (view) => [
    { label: texts.webhook, cell: (one) => one.type },
    {
      label: texts.status,
      kind: 'status',
      cell: (one) => tag(delivery.statuses[one.status], tones[one.status]),
    },
    { label: texts.answer, cell: lastAnswer },
    { label: texts.time, kind: 'time', cell: (one) => time(one.createdAt) },
    { label: common.actions, kind: 'actions', cell: (one) => again(one, view) },
  ],
});

function lastAnswer({ tries }: Delivery): TemplateResult | string {
  const last = tries.at(-1);
  if (!last) return '–';
  const { responseStatus, durationMs, error, responseExcerpt } = last;
  return html`<div>
    ${responseStatus ?? '–'} <small>${Math.round(durationMs)} ms, ${tries.length} ×</small>
    ${error === null ? '' : html`<br /><small title=${responseExcerpt}>${error}</small>`}
  </div>`;
}

export function again({ id }: Delivery, view: View): TemplateResult | string {
  if (!view.can('webhooks.retry')) return '';
  const retry = () => view.act(() => view.api(webhooks.retry, { params: { webhook_id: id } }), texts.resent);
  return html`<button class="small" ?disabled=${view.isBusy} @click=${() => void retry()}>
    ${texts.again}
  </button>`;
}
