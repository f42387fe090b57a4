/** Handlers of `/console/api/bank-payouts`. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../../core/api/handler.js';
import type { BankPayouts } from './bank-payouts.js';

export function createBankPayoutHandlers(bankPayouts: BankPayouts): Handlers<ConsoleApi>['bankPayouts'] {
  return {
    list: (_input, { caller }) => replyWith(bankPayouts.list(caller)),

    listSums: (_input, { caller }) => replyWith(bankPayouts.sums(caller)),

    create: ({ body }, { caller, change }) =>
      change((transaction) => bankPayouts.create(transaction, caller, body)),

    async settle({ params: { payout_id: id }, body }, { caller, change }) {
      await bankPayouts.find(caller, id);
      return change((transaction) => bankPayouts.settle(transaction, caller, id, body.bankReference));
    },

    async fail({ params: { payout_id: id }, body }, { caller, change }) {
      await bankPayouts.find(caller, id);
      return change((transaction) => bankPayouts.fail(transaction, caller, id, body.reason));
    },
  };
}
