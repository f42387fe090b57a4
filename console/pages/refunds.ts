/**
 * All refunds: those that wait for approval first.
 *
 * @place {"order": 40, "label": "Refunds", "permission": "refunds.list"}
 */
import { html, nothing } from 'lit';
import { texts } from '../messages/refunds.js';
import { listPage } from '../ui/list.js';
import { refundList } from './refund-parts.js';

export default listPage(refundList('all'), {
  title: texts.title,
  empty: texts.empty,
  next: { text: texts.toPayments, page: 'payments' },
  done: ({ query }) => query.get('status') === 'awaiting_approval' && texts.noneToApprove,
  under: (view) =>
    html`<p class="under">
      <small>${texts.policy}</small>
      ${view.sees('limits') ? html`<a href=${view.link('limits')}>${texts.policyLink}</a>` : nothing}
    </p>`,
  everyMs: 10_000,
});
