/** Settles the transfers that treasuries have paid: as many payments as transfers of one amount to one address, no doubt which. */
import { NodesUnavailable } from '../rpc/node-error.js';
import type { NetworkRef } from '../chains/chain.js';
import { blocksOfDay } from '../chains/networks.js';
import type { Transaction } from '../db/engine.js';
import type { TransferTable, TreasuryPaymentTable } from '../db/schema.js';
import { lockTransfers, waitingTransfers } from '../withdrawals/waiting-transfers.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import type { TreasuryOwners } from './owners.js';
import { groupsOf } from './seen-payments.js';
import { bookGas } from './treasury-books.js';
import { createTreasuryReader, watchedFor, type Watched } from './watch-reads.js';
import * as store from './watch-store.js';

/** Clocks of chains and servers differ. */
const graceMs = 120_000;

/** @returns what settles all that can be settled on a network */
export function createPaymentSettler(deps: TreasuryContext) {
  const { database, clock, transfers, isCrossChecked, log } = deps;
  /** Payments that wait, and were logged. */
  const logged = new Set<string>();

  /** The payments that the operator has not used to settle a transfer. */
  async function withoutManual(open: readonly TreasuryPaymentTable[]): Promise<TreasuryPaymentTable[]> {
    const payments: TreasuryPaymentTable[] = [];
    for (const payment of open) {
      const isManual = (await store.findSettledByHand(database.reader, payment)) !== undefined;
      if (isManual) await database.write((transaction) => assignManual(transaction, payment));
      else payments.push(payment);
    }
    return payments;
  }

  /** A payment that was made before the transfer was for something else. */
  function isAfter(payment: TreasuryPaymentTable, { created_at, merchant_id, mode }: TransferTable): boolean {
    return clock.at({ merchantId: merchant_id, mode }, payment.paid_at) + graceMs >= created_at;
  }

  async function settleOne(
    on: EvmConnected,
    transfer: TransferTable,
    payment: TreasuryPaymentTable,
  ): Promise<void> {
    await database.write(async (transaction) => {
      // Whoever settles a transfer by hand holds this lock too.
      await lockTransfers(transaction, [transfer.id]);
      if (await assignManual(transaction, payment)) return;
      if (!(await store.updatePayment(transaction, payment, { transfer_id: transfer.id }))) return;
      await transfers.settle(transaction, transfer.id, payment.tx_hash, 0n, 'treasury');
      await bookGas(deps, transaction, on, payment.tx_hash, transfer.merchant_id, BigInt(payment.gas));
    });
  }

  function warnOnce(place: NetworkRef, facts: Readonly<Record<string, unknown>>, message: string): void {
    const name = JSON.stringify([facts, message]);
    if (!logged.has(name)) log.warn({ ...place, ...facts }, message);
    logged.add(name);
  }

  /** Whether as many nodes tell a payment as all that its treasury has paid of late asks for: large transfers are easily split. */
  async function isConfirmed(
    on: EvmConnected,
    owners: TreasuryOwners,
    transfer: TransferTable,
    payment: TreasuryPaymentTable,
    recent: readonly TreasuryPaymentTable[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { treasury, tx_hash: txHash } = payment;
    const stake = recent
      .filter((row) => row.treasury === treasury)
      .map(({ currency, amount }) => ({ currency, units: BigInt(amount) }));
    if (!isCrossChecked(on.network, stake)) return true;
    if (await isToldByTwo(watchedFor(on, owners, [transfer]), payment, signal)) return true;
    warnOnce(
      placeOf(on),
      { transfers: [transfer.id], txHash },
      'One node says that the treasury has paid a large transfer. It waits until a second one says so, and none differs',
    );
    return false;
  }

  return async (on: EvmConnected, owners: TreasuryOwners, signal: AbortSignal): Promise<void> => {
    const place = placeOf(on);
    const [open, pending, settled] = await database.snapshot(async (reader) => {
      const found = await store.openPayments(reader, place);
      const newest = Math.max(0, ...found.map((row) => row.block_height));
      return [
        found,
        await waitingTransfers(reader, place),
        found.length === 0
          ? []
          : await store.settledPayments(reader, place, newest - blocksOfDay(on.network)),
      ] as const;
    });
    const payments = await withoutManual(open);
    for (const group of groupsOf(payments, pending, owners)) {
      const { waiting } = group;
      const paid = group.paid.filter((row) => waiting.some((transfer) => isAfter(row, transfer)));
      if (waiting.length === 0 || paid.length === 0) continue;
      const isUntold = paid.some((row) => row.is_certain === 0);
      if (waiting.length !== paid.length || isUntold) {
        const facts = { transfers: waiting.map(({ id }) => id), txHashes: paid.map((row) => row.tx_hash) };
        warnOnce(
          place,
          facts,
          isUntold
            ? 'The treasury may have paid a transfer, and no node could tell. Look at the transaction: if it did, use "transfers settle"; if not, "transfers release"'
            : 'It is not clear which transfer the treasury has paid: settle them with "transfers settle"',
        );
        continue;
      }
      for (const [index, payment] of paid.entries()) {
        const transfer = waiting[index];
        if (transfer && (await isConfirmed(on, owners, transfer, payment, [...open, ...settled], signal)))
          await settleOne(on, transfer, payment);
      }
    }
  };
}

/** A payment with which the operator has settled a transfer settles no other one. @returns whether it is such a payment */
async function assignManual(transaction: Transaction, payment: TreasuryPaymentTable): Promise<boolean> {
  const transferId = await store.findSettledByHand(transaction, payment);
  if (transferId === undefined) return false;
  await store.updatePayment(transaction, payment, { transfer_id: transferId });
  return true;
}

/** Whether two nodes, of different providers, have the payment in its block, and none that has the block lacks it. */
async function isToldByTwo(
  watched: Watched,
  payment: TreasuryPaymentTable,
  signal: AbortSignal,
): Promise<boolean> {
  const height = payment.block_height;
  const range = { from: height, to: height, tip: height };
  const reader = createTreasuryReader();
  const isSame = (row: TreasuryPaymentTable) =>
    (['tx_hash', 'output_index', 'treasury', 'currency', 'address', 'amount'] as const).every(
      (name) => row[name] === payment[name],
    );
  try {
    const told = await watched.on.evm.each(
      async (node) => ({
        provider: watched.on.evm.providerOf(node.name),
        isThere: (await reader.read(node, range, watched)).payments.some(isSame),
      }),
      signal,
    );
    const providers = new Set(told.map(({ provider }) => provider));
    return providers.size >= 2 && told.every(({ isThere }) => isThere);
  } catch (error) {
    // It waits, as a receipt does.
    if (error instanceof NodesUnavailable) return false;
    throw error;
  }
}
