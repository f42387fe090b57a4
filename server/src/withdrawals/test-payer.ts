/**
 * Pays the transfers of test mode on the simulated networks, and ends those that they confirm.
 *
 * The networks are in the database. So a transfer leaves `pending` in the transaction that pays it, and whatever is killed,
 * restarted or run twice pays it once.
 */
import type { TransferTable } from '../db/schema.js';
import { createFailures } from '../shared/failures.js';
import type { WithdrawalsDeps } from './deps.js';
import type { Settlement } from './settlement.js';
import * as store from './transfer-store.js';
import { scopeOf } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export function createTestPayer(deps: WithdrawalsDeps, settlement: Settlement) {
  const { database, currencies, ledger, simulatedChains, returningDeposits } = deps;

  async function pay(id: string): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.claimTransfer(transaction, id);
      if (row?.status !== 'pending') return;
      const cover = await coverage(transaction, row);
      if (cover === 'waiting') return;
      if (cover === 'gone') {
        await settlement.fail(transaction, row, 'The deposits that it was to be paid from left the chain');
        return;
      }
      const reason = await deps.beforePayout(transaction, row);
      if (reason !== undefined) {
        const mayReturn = await returningDeposits(transaction, scopeOf(row), row.currency);
        if (!mayReturn) await settlement.fail(transaction, row, reason);
        return;
      }
      const { merchant_id: merchantId, network, currency, address, amount } = row;
      const payment = { merchantId, network, currency, address, amount: BigInt(amount) };
      const txHash = await simulatedChains.pay(transaction, payment);
      await settlement.move(transaction, row, { status: 'processing', tx_hash: txHash });
    });
  }

  /**
   * Whether the coins of a held transfer are still there. A reorganisation can take deposits away after the hold: then it
   * waits while they may be confirmed again, and is never paid with the coins of others.
   */
  async function coverage(
    transaction: Transaction,
    row: TransferTable,
  ): Promise<'covered' | 'waiting' | 'gone'> {
    const { merchant_id: merchantId, mode, currency, network } = row;
    const owner = scopeOf(row);
    // Locks the merchant's money: whatever confirms or reverses a deposit waits until the transaction ends.
    await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
    const { held, heldHere, debt, coins } = await ledger.holdings(transaction, owner, currency, network);
    // Everything that is held is there, and so is this.
    if (debt === 0n && coins >= heldHere) return 'covered';
    const needed = BigInt(row.amount) + BigInt(row.fee);
    const moving = await store.sumProcessing(transaction, row);
    const movingInAll = [...moving.values()].reduce((sum, units) => sum + units, 0n);
    const isHere = coins - (moving.get(network) ?? 0n) >= needed;
    const isPaidFor = held - debt - movingInAll >= needed;
    if (isHere && isPaidFor) return 'covered';
    return (await returningDeposits(transaction, owner, currency)) ? 'waiting' : 'gone';
  }

  /** @param confirmations undefined if the network has refused it */
  async function end(id: string, confirmations: number | undefined): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.lockTransfer(transaction, id);
      // Another replica, or the previous run, may have ended it already.
      if (row?.status !== 'processing' || row.tx_hash === null) return;
      if (confirmations === undefined) {
        await settlement.fail(transaction, row, 'Nothing can be sent to the zero address');
        return;
      }
      await settlement.succeed(transaction, row, { txHash: row.tx_hash, networkFee: BigInt(row.fee) });
    });
  }

  return {
    /** Pays what is pending, and ends what the networks have confirmed or refused. */
    async advance(signal: AbortSignal): Promise<void> {
      const failures = createFailures();
      for await (const page of store.simulatedTransfers(database.reader, 'pending')) {
        for (const { id } of page) {
          signal.throwIfAborted();
          await failures.collect(() => pay(id));
        }
      }
      for await (const page of store.simulatedTransfers(database.reader, 'processing')) {
        const known = await simulatedChains.confirmations(page.flatMap((row) => row.tx_hash ?? []));
        for (const { id, network, tx_hash: txHash } of page) {
          signal.throwIfAborted();
          const needed = currencies.network('test', network)?.confirmations ?? Number.POSITIVE_INFINITY;
          const confirmations = known.get(txHash ?? '');
          if (confirmations !== undefined && confirmations < needed) continue;
          await failures.collect(() => end(id, confirmations));
        }
      }
      failures.report('transfers could not be processed');
    },
  };
}
