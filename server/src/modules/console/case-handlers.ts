/** Handlers of `/console/api/cases`. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../../core/api/handler.js';
import type { Cases } from './cases.js';

export function createCaseHandlers(cases: Cases): Handlers<ConsoleApi>['cases'] {
  return {
    retrieve: ({ params }, { caller }) => replyWith(cases.retrieve(caller, params.payment_id)),

    listMine: (_input, { caller }) => replyWith(cases.listMine(caller)),

    addNote: ({ params, body }, { caller, change }) =>
      change((transaction) => cases.addNote(transaction, caller, params.payment_id, body.text)),

    assign: ({ params, body }, { caller, change }) =>
      change((transaction) => cases.assign(transaction, caller, params.payment_id, body.personId)),

    handle: ({ params, body }, { caller, change }) =>
      change((transaction) => cases.handle(transaction, caller, params.payment_id, body.note)),

    reopen: ({ params, body }, { caller, change }) =>
      change((transaction) => cases.reopen(transaction, caller, params.payment_id, body.note)),
  };
}
