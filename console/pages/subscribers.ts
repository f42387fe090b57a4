/**
 * Subscribers with recurring charges, what each has paid, and when it is charged next.
 *
 * @place {"order": 140, "label": "Subscribers", "permission": "subscribers.list"}
 */
import { html, type TemplateResult } from 'lit';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { emptyHint } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { loadSubscriptions, subscriptionTable, type Subscriptions } from './subscription-parts.js';

function load(view: View): Promise<Subscriptions> {
  const state = view.query.get('state') ?? undefined;
  return loadSubscriptions(view, {
    customer: view.query.get('customer') ?? undefined,
    isActive: state === undefined ? undefined : state === 'active',
  });
}

const render = (data: Subscriptions, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [
        { name: 'customer', label: texts.email },
        {
          ...{ name: 'state', label: texts.state },
          options: [
            ['active', texts.active],
            ['ended', texts.inactive],
          ],
        },
      ])}
    </div>
    ${subscriptionTable(
      data,
      'all',
      view,
      emptyHint(view, texts.noSubscribers, { text: texts.toPlans, page: 'plans' }),
    )}`;

export default page<Subscriptions>({ title: () => texts.subscribers, load, render });
