/**
 * All refunds: those that wait for approval first.
 *
 * @place {"order": 40, "label": "Refunds", "permission": "refunds.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { texts } from '../messages/refunds.js';
import { page, type View } from '../page.js';
import { emptyHint } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { loadRefunds, refundTable, type RefundPage } from './refund-parts.js';

const statuses = Object.keys(texts.statuses) as (keyof typeof texts.statuses)[];

const load = (view: View): Promise<RefundPage> =>
  loadRefunds(view, {
    status: statuses.find((one) => one === view.query.get('status')),
    page: view.query.get('page') ?? undefined,
  });

const render = (data: RefundPage, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [{ name: 'status', label: texts.filter, options: Object.entries(texts.statuses) }])}
    </div>
    ${refundTable({
      ...{ ...data, view },
      empty: emptyHint(view, texts.empty, { text: texts.toPayments, page: 'payments' }),
      done: view.query.get('status') === 'awaiting_approval' && texts.noneToApprove,
    })}
    <p class="under">
      <small>${texts.policy}</small>
      ${view.sees('limits') ? html`<a href=${view.link('limits')}>${texts.policyLink}</a>` : nothing}
    </p>`;

export default page<RefundPage>({ title: () => texts.title, load, render, everyMs: 10_000 });
