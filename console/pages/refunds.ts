/**
 * All refunds: those that wait for approval first.
 *
 * @place {"order": 40, "label": "Refunds", "permission": "refunds.list"}
 */
import { html, type TemplateResult } from 'lit';
import { texts } from '../messages/refunds.js';
import { page, type View } from '../page.js';
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
    ${refundTable({ ...data, view, empty: html`<p>${texts.empty}</p>` })}
    <p class="under"><small>${texts.policy}</small></p>`;

export default page<RefundPage>({ title: () => texts.title, load, render, everyMs: 10_000 });
