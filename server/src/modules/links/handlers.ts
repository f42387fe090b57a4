/** Handlers of `/v1/links`. */
import type { Api } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { Links } from './links.js';

export function createLinkHandlers(links: Links): Handlers<Api>['links'] {
  return {
    create: ({ body }, { caller, change }) =>
      change((transaction) => links.create(transaction, caller, body, actorOf(caller))),

    list: ({ query }, { caller }) => replyWithPage(query, links.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(links.retrieve(caller, params.link_id)),

    update: ({ params, body }, { caller, change }) =>
      change((transaction) => links.update(transaction, caller, params.link_id, body, actorOf(caller))),
  };
}
