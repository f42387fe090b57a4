/**
 * One webhook event: what is sent, and what your server answered each time.
 *
 * @place {"order": 180, "parent": "developers", "permission": "webhooks.retrieve"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { webhooks } from '../../src/contract/webhook-deliveries.js';
import { time } from '../format.js';
import { texts } from '../messages/developers.js';
import { page, type View } from '../page.js';
import { copyable } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { table } from '../ui/table.js';
import { again, tones } from './webhook-parts.js';

type Data = ParsedData<typeof webhooks.retrieve>;
type Try = Data['tries'][number];

const load = async ({ api, id, signal }: View): Promise<Data> =>
  (await api(webhooks.retrieve, { params: { webhook_id: id } }, signal)).data;

function render(event: Data, view: View): TemplateResult {
  const { id, type, subjectId, status, createdAt, dueAt, url, body, tries } = event;
  const isPayment = type.startsWith('payment.') || type === 'wallet.transaction';
  return html`<div class="panels">
    ${section(
      texts.facts,
      details([
        [texts.id, copyable(id, view)],
        [texts.status, tag(texts.statuses[status], tones[status])],
        [
          texts.record,
          isPayment ? html`<a href=${view.link('payment', subjectId)}>${subjectId}</a>` : subjectId,
        ],
        [texts.created, time(createdAt)],
        [texts.due, time(dueAt)],
      ]),
      again(event, view),
    )}
    ${section(
      texts.attempts,
      table<Try>({
        label: texts.attempts,
        rows: tries,
        view,
        columns: [
          { label: texts.time, kind: 'time', cell: ({ triedAt }) => time(triedAt) },
          {
            label: texts.answer,
            kind: 'status',
            cell: ({ responseStatus, error }) =>
              tag(String(responseStatus ?? '–'), error === null ? 'good' : 'bad'),
          },
          { label: texts.duration, kind: 'money', cell: ({ durationMs }) => `${durationMs} ms` },
          {
            label: texts.excerpt,
            kind: 'prose',
            cell: ({ error, responseExcerpt }) =>
              html`${error ?? ''} ${responseExcerpt === '' ? nothing : html`<code>${responseExcerpt}</code>`}`,
          },
        ],
        empty: texts.noAttempts,
      }),
    )}
    ${section(
      texts.request,
      html`<p><code>POST ${url || '–'}</code></p>
        <pre tabindex="0"><code>${pretty(body)}</code></pre>`,
    )}
  </div>`;
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

export default page<Data>({
  title: (_view, data) => texts.delivery(data?.type ?? ''),
  load,
  render,
  everyMs: 2_000,
});
