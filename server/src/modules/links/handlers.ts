/** Handlers of `/v1/links`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { Links } from './links.js';

export function createLinkHandlers(links: Links): ApiHandlers<'links'> {
  return {
    create: ({ body }, { caller, change }) =>
      change((transaction) => links.create(transaction, caller, body, actorOf(caller))),

    list: ({ query }, { caller }) => replyWithPage(query, links.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(links.retrieve(caller, params.link_id)),

    update: ({ params, body }, { caller, change }) =>
      change((transaction) => links.update(transaction, caller, params.link_id, body, actorOf(caller))),
  };
}
