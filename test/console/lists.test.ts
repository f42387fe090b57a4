/** Lists of the console: the query that the filters in an address stand for. */
import { expect, it } from 'vitest';
import { refundList } from '../../console/pages/refund-parts.js';
import { subscriptionList } from '../../console/pages/subscription-parts.js';
import { deliveryList } from '../../console/pages/webhook-parts.js';

const lists = {
  refunds: refundList('all'),
  subscribers: subscriptionList('all'),
  deliveries: deliveryList,
};

it.each([
  ['refunds', 'status=paid', { status: 'paid' }],
  ['refunds', 'status=lost', {}],
  ['refunds', 'status=toString', {}],
  ['refunds', 'status=&page=2', {}],
  ['subscribers', 'state=active', { isActive: true }],
  ['subscribers', 'state=ended&customer=ada@shop.example', { isActive: false, customer: 'ada@shop.example' }],
  ['deliveries', 'status=failing&type=refund.paid', { status: 'failing', type: 'refund.paid' }],
  ['deliveries', 'type=refund.lost&subjectId=01J', { subjectId: '01J' }],
  ['deliveries', '', {}],
] as const)('%s?%s asks for %j', (name, address, query) => {
  expect(lists[name].asked({ query: new URLSearchParams(address) })).toEqual(query);
});
