/**
 * Subscribers with recurring charges, what each has paid, and when it is charged next.
 *
 * @place {"order": 140, "label": "Subscribers", "permission": "subscribers.list"}
 */
import { texts } from '../messages/customers.js';
import { listPage } from '../ui/list.js';
import { subscriptionList } from './subscription-parts.js';

export default listPage(subscriptionList('all'), {
  title: texts.subscribers,
  empty: texts.noSubscribers,
  next: { text: texts.toPlans, page: 'plans' },
});
