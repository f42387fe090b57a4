/** Handlers of exports of transfers, which people hand to the shop's wallet in the console. */
import { fromUnits, type ConsoleApi } from 'crypto-checkout/contract';
import type { Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { Currencies } from '../../core/money/currencies.js';
import { isoTime } from '../../core/shared/clock.js';
import { groupBy } from '../../core/shared/group-by.js';
import type { EvmConnected } from './context.js';
import type { PayoutExport } from './payout-exports.js';
import type { Treasury } from './treasury.js';

export function createPayoutExportHandlers(
  {
    payoutExports,
    walletHandOver,
    outflows,
  }: Pick<Treasury, 'payoutExports' | 'walletHandOver' | 'outflows'>,
  currencies: Pick<Currencies, 'known'>,
): Pick<Handlers<ConsoleApi>, 'payoutExports'> {
  return {
    payoutExports: {
      async list(_input, { caller }) {
        const [waiting, reserved, left] = await Promise.all([
          payoutExports.waiting(caller),
          payoutExports.list(caller),
          outflows.list(caller),
        ]);
        const exports = [...groupBy(reserved, (row) => row.export_id)].map(([id, rows]) => ({
          id,
          network: rows[0]?.network ?? '',
          createdAt: isoTime(rows[0]?.exported_at ?? 0),
          exportedBy: rows[0]?.exported_by ?? '',
          chain: payoutExports.chainOf(caller.mode, rows[0]?.network ?? ''),
          transfers: rows.map(({ id: transfer, amount, currency, address, ...row }) => ({
            id: transfer,
            currency,
            address,
            walletAnswer: row.wallet_answer,
            handedAt: row.handed_at === null ? null : isoTime(row.handed_at),
            amount: fromUnits(amount, currencies.known(currency).decimals),
          })),
        }));
        const unexplained = left.map(({ tx_hash: txHash, treasury, address, currency, ...row }) => ({
          network: row.network,
          txHash,
          treasury,
          address,
          currency,
          paidAt: isoTime(row.paid_at),
          amount: fromUnits(row.amount, currencies.known(currency).decimals),
        }));
        return { data: { waiting, exports, unexplained } };
      },

      async create({ body }, { caller, signal }) {
        const on = payoutExports.networkOf(caller.mode, body.network);
        const made = await payoutExports.create(on, caller.merchantId, actorOf(caller), signal);
        return { data: viewFile(on, made) };
      },

      async write({ params }, { caller, signal }) {
        const { on, ...written } = await payoutExports.retrieve(caller, params.export_id, undefined, signal);
        return { data: viewFile(on, written) };
      },

      async handOver({ params, body }, { caller, signal }) {
        const asked = { exportId: params.export_id, ...body };
        await walletHandOver.handOver(caller, asked, actorOf(caller), signal);
        return { data: undefined };
      },

      async keepAnswer({ params, body }, { caller, signal }) {
        const given = { exportId: params.export_id, ...body };
        await walletHandOver.keepAnswer(caller, given, actorOf(caller), signal);
        return { data: undefined };
      },

      async release({ params, body: { nonce } }, { caller, signal }) {
        const transfers = await payoutExports.find(params.export_id, caller);
        await payoutExports.release(transfers, { nonce }, actorOf(caller), signal);
        return { data: { transfers: transfers.map(({ id }) => id) } };
      },

      async decide({ params, body: { reason } }, { caller, signal }) {
        const transfers = await payoutExports.find(params.export_id, caller);
        await payoutExports.release(transfers, { decision: reason }, actorOf(caller), signal);
        return { data: { transfers: transfers.map(({ id }) => id) } };
      },

      async explain({ body }, { caller }) {
        const explained = await outflows.explain(caller, body, actorOf(caller));
        return { data: { payments: explained } };
      },
    },
  };
}

function viewFile({ network, chainId }: EvmConnected, { id, transfers, leftOut, held, safe }: PayoutExport) {
  return {
    export: id ?? null,
    network: network.code,
    chainId,
    safe,
    transfers: [...transfers],
    leftOut: leftOut.map((one) => ({ id: one.id, paidBy: [...one.paidBy] })),
    held: [...held],
  };
}
