/**
 * Settles the transfers that treasuries have paid: as many payments as transfers of one amount to one address, no
 * doubt which. Payments beyond them may be for one that had failed, or was let go and paid by another transaction. No
 * transfer explains the rest.
 */
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import { blocksOfDay } from '../../core/chains/networks.js';
import type { Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { scopeOf } from '../../core/shared/scope.js';
import { lockTransfers, waitingTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import type { TreasuryOwners } from './owners.js';
import { canBeFor, groupsOf } from './seen-payments.js';
import { bookGas, logUnexplained } from './treasury-books.js';
import { createTreasuryReader, watchedFor, type Watched } from './watch-reads.js';
import * as store from './watch-store.js';
import type { TreasuryPaymentRow } from './tables.js';
import { endedLike } from './ended-transfers.js';

interface Pair {
  readonly transfer: TransferRow;
  readonly payment: TreasuryPaymentRow;
}

/** @returns a function that settles all that can be settled on a network */
export function createPaymentSettler(deps: TreasuryContext) {
  const { database, transfers, auditLog, isCrossChecked, log } = deps;
  /** Payments that wait, and were logged. */
  const logged = new Set<string>();

  /** The payments that the operator has not used to settle a transfer. */
  async function withoutManual(open: readonly TreasuryPaymentRow[]): Promise<TreasuryPaymentRow[]> {
    const payments: TreasuryPaymentRow[] = [];
    for (const payment of open) {
      const isManual = (await store.findSettledByHand(database.reader, payment)) !== undefined;
      if (isManual) await database.write((transaction) => assignManual(transaction, payment));
      else payments.push(payment);
    }
    return payments;
  }

  async function settleOne(on: EvmConnected, { transfer, payment }: Pair): Promise<void> {
    const { tx_hash: txHash } = payment;
    const settled = await database.write(async (transaction) => {
      // Settling a transfer by hand holds this lock too.
      const now = (await lockTransfers(transaction, [transfer.id])).get(transfer.id);
      if (await assignManual(transaction, payment)) return undefined;
      // Somebody else has ended it, or its payment was not one too many any more.
      if (now?.status !== transfer.status) return undefined;
      if (!(await store.updatePayment(transaction, payment, { transfer_id: transfer.id }))) return undefined;
      const row =
        transfer.status === 'pending'
          ? await transfers.settle(transaction, transfer.id, txHash, 0n, 'treasury')
          : await transfers.settleAnyway(transaction, transfer.id, txHash, 'treasury');
      if (row.id !== transfer.id)
        await store.updatePayment(
          transaction,
          { ...payment, transfer_id: transfer.id },
          { transfer_id: row.id },
        );
      if (transfer.status !== 'pending') {
        await auditLog.record(transaction, {
          ...scopeOf(row),
          actor: 'treasury watcher',
          action: 'transfer.paid_late',
          subjectId: row.id,
          before: { status: transfer.status === 'failed' ? 'failed' : null, paysAgain: null },
          after: { status: row.status, txHash, paysAgain: row.pays_again },
        });
      }
      await bookGas(deps, transaction, on, txHash, transfer.merchant_id, payment.gas);
      return row;
    });
    if (!settled || transfer.status === 'pending') return;
    log.error(
      { ...placeOf(on), transfer: settled.id, txHash },
      settled.id === transfer.id
        ? 'The treasury has paid a transfer that had failed. It is a success now, and taken from the balance again'
        : `The treasury has paid the transfer ${transfer.id} a second time: it was let go while a wallet could still send it. The second payment is in the books as a transfer of its own`,
    );
  }

  function warnOnce(place: NetworkRef, facts: Readonly<Record<string, unknown>>, message: string): void {
    const name = JSON.stringify([facts, message]);
    if (!logged.has(name)) log.warn({ ...place, ...facts }, message);
    logged.add(name);
  }

  /**
   * True if enough nodes report a payment for the sum that its treasury has paid recently: large transfers are easily
   * split.
   */
  async function isConfirmed(
    on: EvmConnected,
    owners: TreasuryOwners,
    transfer: TransferRow,
    payment: TreasuryPaymentRow,
    recent: readonly TreasuryPaymentRow[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { treasury, tx_hash: txHash } = payment;
    const stake = recent
      .filter((row) => row.treasury === treasury)
      .map(({ currency, amount }) => ({ currency, units: amount }));
    if (!isCrossChecked(on.network, stake)) return true;
    if (await isReportedByTwo(watchedFor(on, owners, [transfer]), payment, signal)) return true;
    warnOnce(
      placeOf(on),
      { transfers: [transfer.id], txHash },
      'One node says that the treasury has paid a large transfer. It waits until a second one says so, and none differs',
    );
    return false;
  }

  async function settleAll(
    on: EvmConnected,
    owners: TreasuryOwners,
    pairs: readonly Pair[],
    recent: readonly TreasuryPaymentRow[],
    signal: AbortSignal,
  ) {
    for (const pair of pairs) {
      if (await isConfirmed(on, owners, pair.transfer, pair.payment, recent, signal))
        await settleOne(on, pair);
    }
  }

  /** Settles payments beyond the transfers that wait. @param paid identical payments */
  async function settleRest(
    on: EvmConnected,
    owners: TreasuryOwners,
    paid: readonly TreasuryPaymentRow[],
    recent: readonly TreasuryPaymentRow[],
    signal: AbortSignal,
  ): Promise<void> {
    const [first] = paid;
    if (!first) return;
    const ended = await endedLike(database.reader, first);
    const own = ({ merchant_id: merchant }: TransferRow) => owners.ownersOf(first.treasury).has(merchant);
    const failed = match(deps, ended.failed.filter(own), paid);
    const again = match(deps, ended.again.filter(own), failed.left);
    const able = ended.failed.filter((row) => own(row) && paid.some((one) => canBeFor(deps, one, row)));
    if (able.length > paid.length && new Set(able.map((row) => row.merchant_id)).size > 1) {
      const facts = { transfers: able.map(({ id }) => id), txHashes: paid.map((row) => row.tx_hash) };
      warnOnce(
        placeOf(on),
        facts,
        'The treasury has paid a transfer that had failed, and it is not clear of which merchant',
      );
      return;
    }
    await settleAll(on, owners, [...failed.pairs, ...again.pairs], recent, signal);
    for (const payment of again.left) await tellUnexplained(placeOf(on), payment);
  }

  async function tellUnexplained(place: NetworkRef, payment: TreasuryPaymentRow): Promise<void> {
    await database.write((transaction) => store.updatePayment(transaction, payment, { may_settle: false }));
    logUnexplained(deps, place, payment);
  }

  return async (on: EvmConnected, owners: TreasuryOwners, signal: AbortSignal): Promise<void> => {
    const place = placeOf(on);
    const [open, pending, ofDay] = await database.snapshot(async (reader) => {
      const found = await store.openPayments(reader, place);
      const newest = Math.max(0, ...found.map((row) => row.block_height));
      return [
        found,
        await waitingTransfers(reader, place),
        found.length === 0 ? [] : await store.paymentsFrom(reader, place, newest - blocksOfDay(on.network)),
      ] as const;
    });
    const recent = [...open, ...ofDay.filter((row) => row.transfer_id !== null)];
    const payments = await withoutManual(open);
    const groups = groupsOf(deps, payments, pending, owners);
    for (const { waiting, paid } of groups) {
      const able = waiting.filter((transfer) => paid.some((row) => canBeFor(deps, row, transfer)));
      const { pairs, left } = match(deps, able, paid);
      const isUncertain = paid.some((row) => !row.is_certain);
      if (pairs.length < able.length || isUncertain) {
        const facts = { transfers: able.map(({ id }) => id), txHashes: paid.map((row) => row.tx_hash) };
        warnOnce(
          place,
          facts,
          isUncertain
            ? 'The treasury may have paid a transfer, and no node could show it. Look at the transaction: if it did, use "transfers settle"; if not, "transfers release"'
            : 'It is not clear which transfer the treasury has paid: settle them with "transfers settle"',
        );
        continue;
      }
      await settleAll(on, owners, pairs, recent, signal);
      await settleRest(on, owners, left, recent, signal);
    }
    // Those that no transfer waits for.
    const judged = new Set(groups.flatMap(({ paid }) => paid));
    const others = payments.filter((row) => !judged.has(row) && row.is_certain);
    for (const { paid } of groupsOf(deps, others, [], owners, true))
      await settleRest(on, owners, paid, recent, signal);
  };
}

/**
 * Pairs transfers with payments like them that were made after them. The newest comes first, with the oldest payment
 * that it can have: payments after it are after the older ones too, so that as many as possible have one.
 */
function match(
  deps: Pick<TreasuryContext, 'clock'>,
  given: readonly TransferRow[],
  paid: readonly TreasuryPaymentRow[],
): { readonly pairs: readonly Pair[]; readonly left: readonly TreasuryPaymentRow[] } {
  const left = [...paid].sort((a, b) => a.block_height - b.block_height);
  const pairs: Pair[] = [];
  for (const transfer of [...given].sort((a, b) => b.created_at - a.created_at)) {
    const index = left.findIndex((row) => canBeFor(deps, row, transfer));
    const [payment] = index < 0 ? [] : left.splice(index, 1);
    if (payment) pairs.push({ transfer, payment });
  }
  return { pairs: pairs.reverse(), left };
}

/** A payment with which the operator has settled a transfer settles no other one. @returns true if it is such a payment */
async function assignManual(transaction: Transaction, payment: TreasuryPaymentRow): Promise<boolean> {
  const transferId = await store.findSettledByHand(transaction, payment);
  if (transferId === undefined) return false;
  await store.updatePayment(transaction, payment, { transfer_id: transferId });
  return true;
}

/** True if two nodes, of different providers, have the payment in its block, and none that has the block lacks it. */
async function isReportedByTwo(
  watched: Watched,
  payment: TreasuryPaymentRow,
  signal: AbortSignal,
): Promise<boolean> {
  const height = payment.block_height;
  const range = { from: height, to: height, tip: height };
  const reader = createTreasuryReader();
  const isSame = (row: TreasuryPaymentRow) =>
    (['tx_hash', 'output_index', 'treasury', 'currency', 'address', 'amount'] as const).every(
      (name) => row[name] === payment[name],
    );
  try {
    const reports = await watched.on.evm.each(
      async (node) => ({
        provider: watched.on.evm.providerOf(node.name),
        isThere: (await reader.read(node, range, watched)).payments.some(isSame),
      }),
      signal,
    );
    const providers = new Set(reports.map(({ provider }) => provider));
    return providers.size >= 2 && reports.every(({ isThere }) => isThere);
  } catch (error) {
    // It waits, as a receipt does.
    if (error instanceof NodesUnavailable) return false;
    throw error;
  }
}
