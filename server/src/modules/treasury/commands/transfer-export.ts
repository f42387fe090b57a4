/** `transfers export`, `exported` and `release`: pending transfers for the wallet that pays them, each at most once. */
import type { TransferRow } from '../../../core/db/schema.js';
import { isoTime } from '../../../core/shared/clock.js';
import { command, type Group } from '../../../core/commands/command.js';
import type { CommandContext } from '../../../core/commands/context.js';
import { UsageError } from '../../../core/commands/errors.js';
import * as option from '../../../core/commands/options.js';
import { listCommand, noFilters } from '../../../core/commands/read-commands.js';
import { amountOf, amountText, counted, recordJson } from '../../../core/commands/records.js';
import { transferCommands } from '../../../core/commands/transfers.js';
import type { Treasury } from '../treasury.js';
import { chosenNetwork, writtenAs } from './sweeps.js';

/** @param rules of a running command */
export const transferExportCommands = (rules: (context: CommandContext) => Treasury): Group => ({
  ...transferCommands,
  commands: {
    export: command({
      summary:
        'Writes the pending transfers on an EVM network for the wallet that pays them, and reserves them.',
      details:
        'A payment of a treasury settles a transfer automatically, once it has the network\'s confirmations: it must be the exact amount of the coin to the exact address. If it is not clear which of several transfers was paid, they wait for "transfers settle". The gas that the treasury paid is booked too.\n\nAn exported transfer is reserved: it is not exported again, and cannot fail, until it is settled or "transfers release" lets it go. A transfer that the treasury seems to have paid already is left out. Refused while the watcher of treasuries is behind.',
      options: {
        network: option.code('the network').required(),
        format: option.format(
          ['json', 'safe', 'links'],
          "json, safe (a file for Safe's transaction builder) or links (EIP-681, one per transfer, for a wallet that opens ethereum: links)",
        ),
        merchant: option.merchant(
          'only the transfers of this merchant; needed for safe if there are several',
        ),
        again: option.text(
          'EXPORT',
          'writes what still waits of an earlier export once more, for example if its file was lost. Never send both',
        ),
      },
      async run(context, { network: code, format, merchant: merchantId, again }) {
        const { transfers, actor, progress, signal } = context;
        const on = chosenNetwork(context, code);
        const { payoutExports } = rules(context);
        const previous =
          again === undefined ? undefined : await payoutExports.retrieve({ merchantId }, again, on, signal);
        if (format === 'safe') {
          const merchants = previous
            ? previous.transfers.map(({ merchant }) => merchant)
            : (await transfers.listAll({ merchantId, status: 'pending' }))
                .filter(
                  (row) =>
                    row.executor === 'operator' && row.mode === on.network.mode && row.network === code,
                )
                .map((row) => row.merchant_id);
          if (new Set(merchants).size > 1) {
            throw new UsageError(
              'These are transfers of several merchants, whose wallets differ: name one with --merchant',
            );
          }
        }
        const made = previous ?? (await payoutExports.create(on, merchantId, actor, signal));
        const { id, safe, leftOut, held } = made;
        if (id !== undefined) {
          progress(
            `Export ${id}: ${counted(made.transfers.length, 'transfer')}, reserved until settled or released. "transfers export --again ${id}" writes it once more`,
          );
        }
        for (const { id: transfer, paidBy } of leftOut) {
          progress(`Left out: ${transfer}, which the treasury seems to have paid in ${paidBy.join(', ')}`);
        }
        for (const { id: transfer, reason } of held) progress(`Held: ${transfer}. ${reason}`);
        const exported = { export: id ?? null, transfers: made.transfers, leftOut, held };
        const links = made.transfers.map(({ link }) => link);
        return writtenAs(format, exported, safe, links);
      },
    }),
    exported: listCommand(noFilters, {
      summary: 'Lists the transfers that were exported and wait for their payment, oldest export first.',
      what: 'exported transfers',
      none: 'No transfer is reserved by an export',
      rows: (context, { merchantId }) => rules(context).payoutExports.list({ merchantId }),
      json: (row) => ({
        ...recordJson(row, 'export_id', 'exported_by', 'exported_at', 'id', 'merchant_id', 'mode'),
        amount: amountOf(row.amount, row.currency),
        ...recordJson(row, 'currency', 'network', 'address'),
      }),
      line: (row) =>
        [row.export_id, isoTime(row.exported_at), row.exported_by, ...transferWords(row)].join('  '),
    }),
    release: command({
      summary:
        'Releases exported transfers that will not be paid: they can be exported again, or marked as failed.',
      details:
        'Without --nonce or --yes it only says what to check. A transfer that is released while a wallet can still send it is paid twice if it is exported again: the second payment is booked and reported. A transaction that a node has is never let go.',
      args: { id: option.id('the export, or one transfer of it, as "transfers exported" shows them') },
      options: {
        nonce: option.integer(
          'N',
          'the highest nonce with which the wallet has signed the export: released if it is at or above the next one when the wallet was given it, and the same account has used it up in blocks that are final. The nonce of the account, or of the Safe',
          { max: Number.MAX_SAFE_INTEGER },
        ),
        yes: option.flag(
          'releases without a proof, by your decision: you have checked that nothing was signed, or can be sent',
        ),
        reason: option.text('TEXT', 'what you have checked, for the audit log; needed with --yes'),
      },
      async run(context, { id, nonce, yes: isSure, reason = '' }) {
        const { actor, signal } = context;
        const { payoutExports } = rules(context);
        if (isSure && nonce === undefined && reason.trim() === '')
          throw new UsageError('--yes needs --reason: the audit log keeps what was checked');
        const transfers = await payoutExports.find(id, {});
        const isReleased = nonce !== undefined || isSure;
        const why = nonce === undefined ? { decision: reason } : { nonce };
        if (isReleased) await payoutExports.release(transfers, why, actor, signal);
        const list = transfers.map((row) => `  ${transferWords(row).join('  ')}`).join('\n');
        return {
          json: { isReleased, transfers: transfers.map((row) => row.id) },
          text: isReleased ? `Released:\n${list}` : `Nothing was released yet:\n${list}\n\n${whatToCheck}`,
          hasFailed: !isReleased,
        };
      },
    }),
    explain: command({
      summary: 'Records the purpose of a treasury payment that no transfer explains: see "chains status".',
      details: "Nothing is booked: the money was the merchant's own. The audit log keeps what you say.",
      args: { txHash: option.id('the hash of its transaction') },
      options: {
        merchant: option.merchant('whose treasury it is').required(),
        network: option.code('the network').required(),
        note: option.text('TEXT', 'what it was for').required(),
      },
      async run(context, { txHash, merchant: merchantId, network: code, note }) {
        const { mode } = chosenNetwork(context, code).network;
        const payments = await rules(context).outflows.explain(
          { merchantId, mode },
          { network: code, txHash, note },
          context.actor,
        );
        return { json: { payments }, text: `Explained ${counted(payments, 'payment')}` };
      },
    }),
  },
});

const whatToCheck = `If these are sent after all, they are paid twice. Before you run the command again with --yes and --reason, check that

- none of them has left the wallet: in its history, and in the network's explorer;
- no signed transaction is left: in the wallet's queue, in the Safe's queue, in a mempool, or with a signer;
- the file or the links are deleted, wherever they are.

If the wallet has signed them, send something else with the same nonce, wait until it is final, and use --nonce instead.`;

const transferWords = ({ id, merchant_id, amount, currency, network, address }: TransferRow) => [
  ...[id, merchant_id, `${amountText(amount, currency)} on ${network}`, `to ${address}`],
];
