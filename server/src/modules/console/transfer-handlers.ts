/** Handlers of how people end transfers by hand, in the console. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { TransfersByHand } from '../../core/withdrawals/transfers-by-hand.js';
import type { Transfers } from '../../core/withdrawals/transfers.js';

export function createTransferByHandHandlers(
  transfers: Pick<Transfers, 'retrieve'>,
  byHand: TransfersByHand,
): Handlers<ConsoleApi>['transfersByHand'] {
  return {
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
  };
}
