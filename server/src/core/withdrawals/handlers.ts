/** Handlers of `/v1/balances`, `/v1/payouts` and `/v1/transfers`, and of how people end transfers in the console. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type ApiHandlers, type Handlers } from '../api/handler.js';
import { actorOf } from '../merchants/audit-log.js';
import type { Balances } from './balances.js';
import type { Payouts } from './payouts.js';
import type { TransfersByHand } from './transfers-by-hand.js';
import type { Transfers } from './transfers.js';

export function createBalanceHandlers(balances: Balances): ApiHandlers<'balances'> {
  return {
    list: (_input, { caller }) => replyWith(balances.list(caller)),
  };
}

export function createPayoutHandlers(payouts: Payouts): ApiHandlers<'payouts'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, payouts.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(payouts.retrieve(caller, params.payout_id)),
  };
}

export function createTransferHandlers(transfers: Transfers): ApiHandlers<'transfers'> {
  return {
    create: ({ body }, { caller, change }) =>
      change((transaction) => transfers.create(transaction, caller, body)),

    quoteFee: ({ body }, { caller }) => replyWith(transfers.quoteFee(caller, body)),

    retrieve: ({ params }, { caller }) => replyWith(transfers.retrieve(caller, params.transfer_id)),

    list: ({ query }, { caller }) => replyWithPage(query, transfers.list(caller, query)),
  };
}

export function createTransferByHandHandlers(
  transfers: Pick<Transfers, 'retrieve'>,
  byHand: TransfersByHand,
): Pick<Handlers<ConsoleApi>, 'transfersByHand'> {
  return {
    transfersByHand: {
      async settle({ params: { transfer_id: id }, body }, { caller, signal }) {
        await transfers.retrieve(caller, id);
        const { txHash, block: height, networkFee } = body;
        await byHand.settle({ transferId: id, txHash, height, networkFee }, actorOf(caller), signal);
        return replyWith(transfers.retrieve(caller, id));
      },

      async fail({ params: { transfer_id: id }, body }, { caller, signal }) {
        await transfers.retrieve(caller, id);
        await byHand.fail(id, body.reason, actorOf(caller), signal);
        return replyWith(transfers.retrieve(caller, id));
      },
    },
  };
}
