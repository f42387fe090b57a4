/** `transfers …`: for operators, who send transfers by hand on networks where the server has no signer. */
import { isoTime } from '../shared/clock.js';
import type { TransferTable } from '../db/schema.js';
import { amountOf } from './amounts.js';
import { proveSettlement, type Claim } from '../withdrawals/settlement-proof.js';
import {
  oneOf,
  required,
  text,
  UsageError,
  type Command,
  type CommandContext,
  type Options,
  type Output,
} from './command.js';
import { changeByHand, showRecord } from './change-by-hand.js';
import type { Transaction } from '../db/engine.js';
import type { AuditFields } from '../merchants/audit-log.js';

export const transferCommands: Readonly<Record<string, Command>> = {
  'transfers list': {
    usage: 'transfers list [--status pending|processing|success|failed]',
    help: `Lists the transfers of all merchants, oldest first, at most 1000. Send the pending ones whose executor is "operator" by hand, then settle them.

  --status STATUS   only transfers with this status`,
    options: { status: text },
    positionals: [],
    async run({ transfers }, options) {
      const rows = await transfers.listAll(
        options['status'] === undefined
          ? undefined
          : oneOf(options, 'status', ['pending', 'processing', 'success', 'failed']),
      );
      return {
        json: rows.map(transferJson),
        text: rows.map(transferLine).join('\n') || 'There are no transfers',
      };
    },
  },
  'transfers settle': {
    usage: 'transfers settle ID --tx-hash HASH [--block HEIGHT] [--network-fee AMOUNT] [--unverified]',
    help: `Marks a transfer as sent by hand, after looking the transaction up on the network: it must pay the transfer's amount to
its address, and have enough confirmations. Repeating it with the same hash changes nothing.

  ID                        the transfer, as "transfers list" shows it
  --tx-hash HASH            hash of the transaction that paid it
  --block HEIGHT            its block, for nodes that do not find the transaction (Bitcoin Core without txindex, if all is spent)
  --network-fee AMOUNT      network fee, if it was paid in the transfer's own currency (default 0)
  --unverified              does not look: for transactions that no node here can see`,
    options: {
      'tx-hash': text,
      block: text,
      'network-fee': text,
      unverified: { type: 'boolean' },
    },
    positionals: ['ID'],
    async run(context, options, [id = '']) {
      const txHash = required(options, 'tx-hash');
      const networkFee = options['network-fee'] === undefined ? '0' : required(options, 'network-fee');
      const isUnverified = options['unverified'] === true;
      const claim = isUnverified ? undefined : await prove(context, options, id, txHash);
      const paidFrom = await placeOf(context, id);
      const change = async (transaction: Transaction) => {
        await claim?.(transaction);
        return context.transfers.settle(transaction, id, txHash, networkFee, paidFrom);
      };
      return changeTransfer(context, id, 'transfer.settled', change, isUnverified ? { isUnverified } : {});
    },
  },
  'transfers fail': {
    usage: 'transfers fail ID --reason TEXT',
    help: `Marks a transfer that was not sent as failed and makes its amount available again. Repeating it changes nothing.

  ID                        the transfer, as "transfers list" shows it
  --reason TEXT             the reason that the merchant sees`,
    options: { reason: text },
    positionals: ['ID'],
    async run(context, options, [id = '']) {
      const reason = required(options, 'reason');
      return changeTransfer(context, id, 'transfer.failed', (transaction) =>
        context.transfers.fail(transaction, id, reason),
      );
    },
  },
};

/** Changes a transfer by hand, and shows it. */
async function changeTransfer(
  context: CommandContext,
  id: string,
  action: 'transfer.settled' | 'transfer.failed',
  change: (transaction: Transaction) => Promise<TransferTable>,
  remarks: AuditFields = {},
): Promise<Output> {
  const find = (transaction: Transaction) => context.transfers.findAny(transaction, id);
  const changed = await changeByHand(context, { id, action, find, change, facts: transferFacts, remarks });
  return showRecord(transferJson(changed));
}

/** A merchant with a treasury pays from there. Without one, the coins leave the addresses that payers paid to. */
async function placeOf(
  { database, transfers, depositKeys, connected }: CommandContext,
  id: string,
): Promise<'treasury' | undefined> {
  const row = await transfers.findAny(database.reader, id);
  if (
    !row ||
    !connected.some(({ evm, network }) => evm && network.mode === row.mode && network.code === row.network)
  )
    return undefined;
  const keys = await depositKeys.list(database.reader, row.merchant_id);
  const hasTreasury = keys.some(
    (key) => key.mode === row.mode && key.replacedAt === null && key.treasury !== undefined,
  );
  return hasTreasury ? 'treasury' : undefined;
}

function transferFacts({ status, tx_hash, network_fee, failure_reason }: TransferTable): AuditFields {
  return { status, txHash: tx_hash, networkFeeUnits: network_fee, failureReason: failure_reason };
}

async function prove(
  { database, currencies, connected }: CommandContext,
  { block }: Options,
  transferId: string,
  txHash: string,
): Promise<Claim> {
  if (typeof block === 'string' && !/^\d{1,10}$/.test(block)) {
    throw new UsageError(`--block must be the height of a block, not "${block}"`);
  }
  const deps = { reader: database.reader, currencies, networks: connected };
  const height = typeof block === 'string' ? Number(block) : undefined;
  return proveSettlement(deps, { transferId, txHash, height }, new AbortController().signal);
}

function transferJson(row: TransferTable) {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    mode: row.mode,
    status: row.status,
    executor: row.executor,
    amount: amountOf(row.amount, row.currency),
    fee: amountOf(row.fee, row.currency),
    currency: row.currency,
    network: row.network,
    address: row.address,
    ...(row.tx_hash !== null && { txHash: row.tx_hash }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

function transferLine(row: TransferTable): string {
  const { id, mode, status, executor, currency, network, address } = row;
  const amount = `${amountOf(row.amount, currency)} ${currency} on ${network}`;
  return [id, mode, status, executor, amount, `to ${address}`, isoTime(row.created_at)].join('  ');
}
