/**
 * Follows the money of treasuries in final blocks: what left forwarders, whoever swept them, moves on the books from the
 * addresses to the treasury; what a treasury pays to the destination of a pending transfer settles the transfer.
 *
 * Each block is read once it has the network's confirmations. The last blocks are read again at each pass: if one was
 * dropped all the same, what was posted for it is taken back, once.
 */
import type { Logger } from 'pino';
import { addressFormat } from '../chains/addresses/formats.js';
import type { DepositKeys } from '../chains/addresses/deposit-keys.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import { toUnits } from '../chains/evm/assets.js';
import { numberOf } from '../chains/evm/replies.js';
import type { NodePool } from '../chains/rpc/node-pool.js';
import type { Database } from '../db/database.js';
import type { Transaction } from '../db/engine.js';
import type { SweepTable, TransferTable, TreasuryPaymentTable } from '../db/schema.js';
import type { AccountName, Ledger } from '../ledger/ledger.js';
import type { Currencies } from '../money/currencies.js';
import type { Clock } from '../shared/clock.js';
import { createFailures } from '../shared/failures.js';
import { nativeToken } from './factory.js';
import {
  readFees,
  readNativePayments,
  readSweptLogs,
  readTokenPayments,
  type SweptLog,
  type TransactionFee,
  type TreasuryPayment,
} from './watch-reads.js';
import * as store from './watch-store.js';

export interface TreasuryWatcher {
  /** Reads the blocks that became final. Asks no node while no merchant has a treasury. */
  advance(signal: AbortSignal): Promise<void>;
}

export interface TreasuryWatcherDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly networks: readonly (ConnectedNetwork & { readonly evm: NodePool })[];
  readonly depositKeys: Pick<DepositKeys, 'list'>;
  readonly currencies: Pick<Currencies, 'known'>;
  readonly ledger: Ledger;
  /** Ends a transfer that a treasury has paid. */
  readonly settle: (transaction: Transaction, id: string, txHash: string) => Promise<unknown>;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

/** How many blocks before the cursor are read again. */
const rereadBlocks = 64;
/** Where it starts when the first treasury is set, and how far it goes in one step. */
const firstBlocks = 1000;
const mostBlocks = 1000;
/** Native payments need each block's transactions. */
const mostNativeBlocks = 100;

const format = addressFormat('live', 'evm');
const canonical = (address: string): string => format.read(address) ?? address;

interface Read {
  readonly from: number;
  readonly to: number;
  readonly swept: readonly SweptLog[];
  readonly payments: readonly TreasuryPayment[];
  readonly fees: readonly TransactionFee[];
}

export function createTreasuryWatcher(deps: TreasuryWatcherDeps): TreasuryWatcher {
  const { database, clock, depositKeys, currencies, ledger, settle, log } = deps;
  /** Ambiguous payments that were logged. */
  const said = new Set<string>();

  type Watched = TreasuryWatcherDeps['networks'][number];
  const placeOf = ({ network: { mode, code } }: Watched) => ({ mode, network: code });

  /** The merchants of each treasury of a mode, in lower case. */
  async function readTreasuries({
    network: { mode },
  }: Watched): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const owners = new Map<string, Set<string>>();
    for (const key of await depositKeys.list(database.reader)) {
      if (key.mode !== mode || key.treasury === undefined) continue;
      const treasury = key.treasury.toLowerCase();
      owners.set(treasury, (owners.get(treasury) ?? new Set()).add(key.merchantId));
    }
    return owners;
  }

  async function advanceNetwork(watched: Watched, signal: AbortSignal): Promise<void> {
    const treasuries = await readTreasuries(watched);
    if (treasuries.size === 0) return;
    const place = placeOf(watched);
    const { evm, network } = watched;
    for (;;) {
      const head = await evm.run(
        async (node) => numberOf(await node.call('eth_blockNumber', [], signal)),
        signal,
      );
      const final = head - network.confirmations + 1;
      const cursor = await store.readCursor(database.reader, place);
      if (cursor === undefined) {
        const height = Math.max(0, final - firstBlocks);
        await database.write((transaction) => store.createCursor(transaction, place, height));
        continue;
      }
      // Also without a new block: whoever read the payments may have been stopped before it settled their transfers.
      await settlePaid(watched);
      if (final <= cursor) return;
      const pending = await store.pendingTransfers(database.reader, place);
      const read = await readBlocks(watched, treasuries, pending, cursor, final, signal);
      await apply(watched, treasuries, pending, cursor, read);
    }
  }

  async function readBlocks(
    { evm, chainAssets }: Watched,
    treasuries: ReadonlyMap<string, ReadonlySet<string>>,
    pending: readonly TransferTable[],
    cursor: number,
    final: number,
    signal: AbortSignal,
  ): Promise<Read> {
    const coin = Object.entries(chainAssets).find(([, { contract }]) => contract === undefined)?.[0];
    const native = new Map<string, Set<string>>();
    for (const [treasury, owners] of treasuries) {
      const destinations = pending.filter((row) => row.currency === coin && owners.has(row.merchant_id));
      if (destinations.length > 0)
        native.set(treasury, new Set(destinations.map(({ address }) => address.toLowerCase())));
    }
    const contracts = Object.entries(chainAssets).flatMap(([currency, { contract }]) =>
      contract !== undefined && pending.some((row) => row.currency === currency)
        ? [contract.toLowerCase()]
        : [],
    );
    const to = Math.min(final, cursor + (native.size > 0 ? mostNativeBlocks : mostBlocks));
    const from = Math.max(0, cursor + 1 - rereadBlocks);
    const fresh = { from: cursor + 1, to };
    return evm.run(async (node) => {
      const swept = await readSweptLogs(node, { from, to }, signal);
      const destinations = new Set(pending.map(({ address }) => address.toLowerCase()));
      const payments = [
        ...(await readTokenPayments(node, fresh, contracts, [...treasuries.keys()], signal)),
        ...(await readNativePayments(node, fresh, native, signal)),
      ].filter(({ address }) => destinations.has(address));
      const hashes = [
        ...swept.filter(({ height }) => height > cursor).map(({ txHash }) => txHash),
        ...payments.map(({ txHash }) => txHash),
      ];
      return { from, to, swept, payments, fees: await readFees(node, [...new Set(hashes)], signal) };
    }, signal);
  }

  async function apply(
    watched: Watched,
    treasuries: ReadonlyMap<string, ReadonlySet<string>>,
    pending: readonly TransferTable[],
    cursor: number,
    read: Read,
  ): Promise<void> {
    const place = placeOf(watched);
    const { mode } = place;
    await database.write(async (transaction) => {
      await store.createCursor(transaction, place, cursor);
      // Another replica was faster.
      if ((await store.lockCursor(transaction, place)) !== cursor) return;
      const merchants = await store.findForwarders(transaction, mode, [
        ...new Set(read.swept.map(({ forwarder }) => canonical(forwarder))),
      ]);
      const found = read.swept.flatMap((swept) => sweepRow(watched, swept, merchants) ?? []);
      const present = new Set(found.map((row) => `${row.tx_hash}/${row.log_index}/${row.block_hash}`));
      for (const row of await store.sweepsFrom(transaction, place, read.from, read.to)) {
        if (row.is_reversed === 1 || present.has(`${row.tx_hash}/${row.log_index}/${row.block_hash}`))
          continue;
        await post(transaction, row, 'back');
        await store.writeSweep(transaction, { ...row, is_reversed: 1, reversals: row.reversals + 1 });
      }
      for (const row of found) {
        const known = await store.findSweep(transaction, row);
        if (known?.is_reversed === 0) continue;
        const added = { ...row, reversals: known?.reversals ?? 0 };
        await store.writeSweep(transaction, added);
        await post(transaction, added, 'forth');
      }
      for (const payment of read.payments) {
        for (const merchantId of treasuries.get(payment.treasury) ?? []) {
          const row = paymentRow(watched, payment, merchantId);
          const isExpected = pending.some(
            (transfer) =>
              transfer.merchant_id === merchantId &&
              transfer.currency === row?.currency &&
              transfer.address === row.address &&
              transfer.amount === row.amount,
          );
          if (row && isExpected) await store.insertPayment(transaction, row);
        }
      }
      await postFees(transaction, watched, treasuries, read.fees);
      await store.moveCursor(transaction, place, read.to);
    });
  }

  function sweepRow(
    { network: { mode, code }, chainAssets }: Watched,
    { forwarder, treasury, token, amount, txHash, logIndex, height, blockHash }: SweptLog,
    merchants: ReadonlyMap<string, string>,
  ): SweepTable | undefined {
    const address = canonical(forwarder);
    const merchantId = merchants.get(address);
    const found = Object.entries(chainAssets).find(
      ([, { contract }]) => (contract ?? nativeToken).toLowerCase() === token,
    );
    if (merchantId === undefined || !found) return undefined;
    const [currency, { decimals }] = found;
    const unitDecimals = currencies.known(currency).decimals;
    return {
      ...{ mode, network: code, tx_hash: txHash, log_index: logIndex, merchant_id: merchantId, address },
      treasury: canonical(treasury),
      currency,
      amount: toUnits(amount, { currency, decimals, unitDecimals }).toString(),
      block_height: height,
      block_hash: blockHash,
      is_reversed: 0,
      reversals: 0,
    };
  }

  function paymentRow(
    { network: { mode, code }, chainAssets }: Watched,
    { txHash, outputIndex, treasury, contract, address, amount, height, time }: TreasuryPayment,
    merchantId: string,
  ): TreasuryPaymentTable | undefined {
    const found = Object.entries(chainAssets).find(([, asset]) => asset.contract?.toLowerCase() === contract);
    if (!found) return undefined;
    const [currency, { decimals }] = found;
    const unitDecimals = currencies.known(currency).decimals;
    const units = toUnits(amount, { currency, decimals, unitDecimals });
    // An exact amount: what is too small for the books would make it another one.
    const isExact = decimals <= unitDecimals || amount % 10n ** BigInt(decimals - unitDecimals) === 0n;
    if (!isExact) return undefined;
    return {
      ...{ mode, network: code, tx_hash: txHash, output_index: outputIndex, merchant_id: merchantId },
      treasury: canonical(treasury),
      currency,
      address: canonical(address),
      amount: units.toString(),
      block_height: height,
      paid_at: time,
      transfer_id: null,
    };
  }

  /** Moves a sweep's amount from the addresses to the treasury, or back. */
  async function post(transaction: Transaction, row: SweepTable, direction: 'forth' | 'back'): Promise<void> {
    const { mode, network, merchant_id: merchantId, currency, reversals } = row;
    const amount = BigInt(row.amount);
    const addresses: AccountName = { kind: 'custody', network, merchantId };
    const treasury: AccountName = { ...addresses, place: 'treasury' };
    // Whoever decides about the merchant's coins holds this lock, and must not see half of this change.
    await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
    const key = [mode, network, row.tx_hash, row.log_index, ...(reversals > 0 ? [reversals] : [])].join('/');
    await ledger.post(
      transaction,
      {
        key: `${direction === 'forth' ? 'sweep' : 'unsweep'}:${key}`,
        mode,
        currency,
        entries:
          direction === 'forth'
            ? [
                { account: treasury, debit: amount },
                { account: addresses, credit: amount },
              ]
            : [
                { account: addresses, debit: amount },
                { account: treasury, credit: amount },
              ],
      },
      clock.now({ merchantId, mode }),
    );
  }

  /** The gas that a treasury paid itself left the treasury. Whoever else paid, it was not with coins of a merchant. */
  async function postFees(
    transaction: Transaction,
    { network: { mode, code }, chainAssets }: Watched,
    treasuries: ReadonlyMap<string, ReadonlySet<string>>,
    fees: readonly TransactionFee[],
  ): Promise<void> {
    const coin = Object.entries(chainAssets).find(([, { contract }]) => contract === undefined);
    if (!coin) return;
    const [currency, { decimals }] = coin;
    for (const { txHash, payer, fee } of fees) {
      const [merchantId] = treasuries.get(payer) ?? [];
      if (merchantId === undefined) continue;
      const units = toUnits(fee, { currency, decimals, unitDecimals: currencies.known(currency).decimals });
      const row = {
        mode,
        network: code,
        tx_hash: txHash,
        merchant_id: merchantId,
        currency,
        amount: units.toString(),
      };
      if (!(await store.insertFee(transaction, row))) continue;
      await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
      await ledger.post(
        transaction,
        {
          key: `treasury-fee:${mode}/${code}/${txHash}`,
          mode,
          currency,
          entries: [
            { account: { kind: 'network_fee' }, debit: units },
            { account: { kind: 'custody', network: code, merchantId, place: 'treasury' }, credit: units },
          ],
        },
        clock.now({ merchantId, mode }),
      );
    }
  }

  /** Settles the transfers that were paid. As many payments as transfers of one amount to one address: no doubt which. */
  async function settlePaid(watched: Watched): Promise<void> {
    const place = placeOf(watched);
    const [open, transfers] = await database.snapshot(async (reader) => [
      await store.openPayments(reader, place),
      await store.pendingTransfers(reader, place),
    ]);
    const payments: TreasuryPaymentTable[] = [];
    for (const payment of open) {
      const isByHand = (await store.findSettledByHand(database.reader, payment)) !== undefined;
      if (isByHand) await database.write((transaction) => takeByHand(transaction, payment));
      else payments.push(payment);
    }
    const nameOf = ({ merchant_id, currency, address, amount }: TransferTable | TreasuryPaymentTable) =>
      [merchant_id, currency, address, amount].join('/');
    for (const name of new Set(payments.map(nameOf))) {
      const waiting = transfers.filter((row) => nameOf(row) === name);
      const paid = payments.filter(
        (row) =>
          nameOf(row) === name &&
          // A payment that was made before the transfer was for something else.
          waiting.some(
            ({ created_at, merchant_id, mode }) =>
              clock.at({ merchantId: merchant_id, mode }, row.paid_at) + graceMs >= created_at,
          ),
      );
      if (waiting.length === 0 || paid.length === 0) continue;
      if (waiting.length !== paid.length) {
        sayAmbiguous(place, waiting, paid);
        continue;
      }
      for (const [index, payment] of paid.entries()) {
        const transfer = waiting[index];
        if (!transfer) continue;
        await database.write(async (transaction) => {
          // Whoever settles a transfer by hand holds this lock too.
          await store.lockTransfer(transaction, transfer.id);
          if (await takeByHand(transaction, payment)) return;
          if (!(await store.assignPayment(transaction, payment, transfer.id))) return;
          await settle(transaction, transfer.id, payment.tx_hash);
        });
      }
    }
  }

  /** A payment with which the operator has settled a transfer settles no other one. @returns whether it is such a payment */
  async function takeByHand(transaction: Transaction, payment: TreasuryPaymentTable): Promise<boolean> {
    const transferId = await store.findSettledByHand(transaction, payment);
    if (transferId === undefined) return false;
    await store.assignPayment(transaction, payment, transferId);
    return true;
  }

  function sayAmbiguous(
    place: object,
    waiting: readonly TransferTable[],
    paid: readonly TreasuryPaymentTable[],
  ): void {
    const hashes = paid.map(({ tx_hash }) => tx_hash);
    const ids = waiting.map(({ id }) => id);
    const name = [...ids, ...hashes].join();
    if (said.has(name)) return;
    said.add(name);
    log.warn(
      { ...place, transfers: ids, txHashes: hashes },
      'It is not clear which transfer the treasury has paid: settle them with "transfers settle"',
    );
  }

  return {
    async advance(signal) {
      const failures = createFailures();
      for (const watched of deps.networks) {
        signal.throwIfAborted();
        await failures.collect(() => advanceNetwork(watched, signal));
      }
      failures.report('networks of treasuries could not be read');
    },
  };
}

/** Clocks of chains and servers differ. */
const graceMs = 120_000;
