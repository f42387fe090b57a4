/** `transfers export`: writes pending transfers for the wallet that pays them. */
import type { TransferTable } from '../../db/schema.js';
import { toChain, type ChainAsset } from '../../chains/assets.js';
import { transferData } from '../../chains/evm/abi.js';
import { safeBatch, type WalletCall } from '../export.js';
import { unmatchedPayments, type UnmatchedPayment } from '../unmatched-payments.js';
import { command, type Group } from '../../commands/command.js';
import { UsageError } from '../../commands/errors.js';
import * as option from '../../commands/options.js';
import { amountOf } from '../../commands/records.js';
import { transferCommands } from '../../commands/transfers.js';
import { chosenNetwork } from './sweeps.js';

export const transferExportCommands: Group = {
  ...transferCommands,
  commands: [
    command({
      name: 'export',
      summary: 'Prints the pending transfers on an EVM network for the wallet that pays them.',
      details:
        'What a treasury pays settles by itself, once it has the network\'s confirmations: it must be the exact amount of the coin to the exact address. If it is not clear which of several transfers was paid, they wait for "transfers settle". A transfer that the treasury has paid in a block that is not final yet is left out. What only waits in your wallet or in a node is not seen: do not export again before it is in a block.',
      options: {
        network: option.code('the network').required(),
        format: option.format(
          ['json', 'safe', 'links'],
          "json, safe (a file for Safe's transaction builder) or links (EIP-681, one per transfer, for a wallet that opens ethereum: links)",
        ),
        merchant: option.merchant(
          'only the transfers of this merchant; needed for safe if there are several',
        ),
      },
      async run(context, { network: code, format, merchant: merchantId }) {
        const { database, transfers, depositKeys, clock, progress, signal } = context;
        const found = chosenNetwork(context, code);
        const { chainId } = found;
        const rows = (await transfers.listAll({ merchantId, status: 'pending' })).filter(
          (row) => row.executor === 'operator' && row.mode === found.network.mode && row.network === code,
        );
        if (format === 'safe' && new Set(rows.map((row) => row.merchant_id)).size > 1) {
          throw new UsageError(
            'These are transfers of several merchants, whose wallets differ: name one with --merchant',
          );
        }
        const keys = (await depositKeys.list(database.reader)).filter(
          (key) => key.mode === found.network.mode && rows.some((row) => row.merchant_id === key.merchantId),
        );
        const treasuries = [...new Set(keys.flatMap(({ treasury }) => treasury ?? []))];
        const paid = await unmatchedPayments(database.reader, found, treasuries, rows, signal);
        const exported = rows.map((row) => {
          const call = callOf(row, found.chainAssets[row.currency]);
          return {
            id: row.id,
            merchant: row.merchant_id,
            amount: amountOf(row.amount, row.currency),
            currency: row.currency,
            address: row.address,
            ...{ to: call.to, value: (call.value ?? 0n).toString(), data: call.data },
            link: linkOf(row, found.chainAssets[row.currency], chainId),
            // Waiting for confirmations, or maybe of another transfer.
            paidBy: paid.filter((one) => isOf(one, row)).map(({ txHash }) => txHash),
          };
        });
        const unpaid = exported.filter(({ paidBy }) => paidBy.length === 0);
        if (unpaid.length < exported.length) {
          progress(
            `Left out: ${exported.length - unpaid.length} transfers that the treasury seems to have paid. They settle once that is final. --format json names the transactions`,
          );
        }
        const calls = unpaid.map(({ to, value, data }) => ({ to, data, value: BigInt(value) }));
        const batch = safeBatch('Pending transfers', chainId, calls, clock.real());
        const output = {
          json: JSON.stringify(exported, null, 2),
          safe: JSON.stringify(batch, null, 2),
          links: unpaid.map(({ link }) => link).join('\n'),
        }[format];
        return { json: format === 'safe' ? batch : exported, text: output };
      },
    }),
  ],
};

const isOf = (paid: UnmatchedPayment, row: TransferTable): boolean =>
  paid.currency === row.currency &&
  paid.address === row.address.toLowerCase() &&
  paid.amount === BigInt(row.amount);

/** The amount as the chain counts it. */
function chainAmount({ amount, currency }: TransferTable, asset: ChainAsset): bigint {
  const converted = toChain(asset, BigInt(amount));
  if (converted !== undefined) return converted;
  throw new UsageError(`${amount} units of ${currency} have more decimals than its contract can send`);
}

function callOf(row: TransferTable, asset: ChainAsset | undefined): WalletCall {
  if (!asset) throw new UsageError(`NETWORKS_FILE has no ${row.currency} on ${row.network} any more`);
  const amount = chainAmount(row, asset);
  if (asset.contract === undefined) return { to: row.address, data: '0x', value: amount };
  return { to: asset.contract, data: transferData(row.address, amount) };
}

/** https://eips.ethereum.org/EIPS/eip-681 */
function linkOf(row: TransferTable, asset: ChainAsset | undefined, chainId: number): string {
  if (!asset) return '';
  const amount = chainAmount(row, asset);
  return asset.contract === undefined
    ? `ethereum:${row.address}@${chainId}?value=${amount}`
    : `ethereum:${asset.contract}@${chainId}/transfer?address=${row.address}&uint256=${amount}`;
}
