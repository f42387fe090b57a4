/** Handlers of subscribers, plans and customers that show each other. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type Handlers } from '../../core/api/handler.js';
import type { Relations } from './relations.js';

export function createRelationHandlers(relations: Relations): Handlers<ConsoleApi>['relations'] {
  return {
    listSubscriptions: ({ query }, { caller }) =>
      replyWithPage(query, relations.listSubscriptions(caller, query)),

    sumCustomer: ({ params }, { caller }) => replyWith(relations.sumCustomer(caller, params.customer_id)),

    sumPlan: ({ params }, { caller }) => replyWith(relations.sumPlan(caller, params.plan_id)),
  };
}
