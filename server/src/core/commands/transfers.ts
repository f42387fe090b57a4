/** `transfers …`: for operators, who send transfers by hand on real networks. */
import { coreApi } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { TransferRow } from '../db/schema.js';
import { command, type Group } from './command.js';
import * as option from './options.js';
import { listCommand } from './read-commands.js';
import { amountOf, amountText, recordJson, showRecord } from './records.js';

const id = option.id('the transfer, as "transfers list" shows it');

export const transferCommands: Group = {
  name: 'transfers',
  summary: "Transfers of merchants' coins, which you send by hand on real networks.",
  commands: {
    list: listCommand(coreApi.transfers.list.query, {
      summary: 'Lists the transfers, oldest first, at most 1000.',
      details: 'Send the pending ones whose executor is "operator" by hand, then settle them.',
      what: 'transfers',
      rows: ({ transfers }, filter) => transfers.listAll(filter),
      json: transferJson,
      line: transferLine,
    }),
    create: command({
      summary: "Creates a transfer from a merchant's balance, by the rules of the API.",
      options: {
        merchant: option.merchant('whose balance pays').required(),
        mode: option.mode('the mode of the balance'),
        amount: option.decimal('how much arrives').required(),
        currency: option.code('its currency').required(),
        to: option.text('ADDRESS', 'an address, or the id of a saved one').required(),
        network: option.code('the network; a saved address can have one'),
      },
      async run(context, { merchant: merchantId, mode, amount, currency, to, network }) {
        const { database, transfers, auditLog, actor } = context;
        const scope = { merchantId, mode };
        const request = { amount, currency, walletAddress: to, walletNetwork: network };
        const transfer = await database.write(async (transaction) => {
          const created = await transfers.create(transaction, scope, request);
          const change = { action: 'transfer.created', subjectId: created.id, after: request } as const;
          await auditLog.record(transaction, { ...scope, actor, ...change });
          return created;
        });
        return { json: transfer, text: `Created ${transfer.id}` };
      },
    }),
    settle: command({
      summary:
        "Marks a transfer as sent by hand, after looking the transaction up on the network: it must pay the transfer's amount to its address, and have enough confirmations.",
      details:
        "The network's fee is what the transaction cost: its part that no other transfer bears, if it was paid in the transfer's own currency. Repeating it with the same hash changes only a fee that was wrong.",
      args: { id },
      options: {
        txHash: option.text('HASH', 'hash of the transaction that paid it').required(),
        block: option.height(
          'its block, for nodes that do not find the transaction (Bitcoin Core without txindex, if all is spent)',
        ),
        networkFee: option.decimal(
          "network fee in the transfer's own currency, if no node reports it, or to correct it",
        ),
        unverified: option.flag('does not look: for transactions that no node here can see'),
      },
      async run({ transfersByHand, actor, signal }, { id: transferId, txHash, block, ...given }) {
        const { networkFee, unverified: isUnverified } = given;
        const paid = { transferId, txHash, height: block, networkFee, isUnverified, isFeeCorrected: true };
        return showRecord(transferJson(await transfersByHand.settle(paid, actor, signal)));
      },
    }),
    fail: command({
      summary: 'Marks a transfer that was not sent as failed and makes its amount available again.',
      details:
        'Running it again changes nothing. It is refused while a wallet can still pay the transfer, and if any node shows that it was paid.',
      args: { id },
      options: { reason: option.text('TEXT', 'the reason that the merchant sees').required() },
      async run({ transfersByHand, actor, signal }, given) {
        return showRecord(transferJson(await transfersByHand.fail(given.id, given.reason, actor, signal)));
      },
    }),
  },
};

function transferJson(row: TransferRow) {
  return {
    ...recordJson(row, 'id', 'merchant_id', 'mode', 'status', 'executor'),
    amount: amountOf(row.amount, row.currency),
    fee: amountOf(row.fee, row.currency),
    ...recordJson(row, 'currency', 'network', 'address'),
    ...(row.tx_hash !== null && { txHash: row.tx_hash }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    ...recordJson(row, 'created_at', 'updated_at'),
  };
}

function transferLine(row: TransferRow): string {
  const { id, mode, status, executor, currency, network, address } = row;
  const amount = `${amountText(row.amount, currency)} on ${network}`;
  return [id, mode, status, executor, amount, `to ${address}`, isoTime(row.created_at)].join('  ');
}
