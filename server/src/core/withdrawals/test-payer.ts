/**
 * Pays the transfers of test mode on the simulated networks, and ends those that they confirm.
 *
 * The networks are in the database. So a transfer leaves `pending` in the transaction that pays it, and whatever is killed,
 * restarted or run twice pays it once.
 */
import { createFailures } from '../shared/failures.js';
import type { Job } from '../shared/feature.js';
import type { WithdrawalsDeps } from './deps.js';
import type { Coverage } from './coverage.js';
import type { Settlement } from './settlement.js';
import * as store from './transfer-store.js';
import { scopeOf } from '../shared/scope.js';

export function createTestPayer(deps: WithdrawalsDeps, settlement: Settlement, coverage: Coverage) {
  const { database, currencies, ledger, simulatedChains, returningDeposits } = deps;

  async function pay(id: string): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.claimTransfer(transaction, id);
      if (row?.status !== 'pending') return;
      const { merchant_id: merchantId, mode, network, currency, address, amount } = row;
      // Locks the merchant's money: whatever confirms or reverses a deposit waits until the transaction ends.
      await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
      const isShort = (await coverage.short(transaction, [row])).has(id);
      const reason = isShort
        ? 'The deposits that would have paid it left the chain'
        : await deps.whyNotPaid(transaction, row);
      if (reason !== undefined) {
        // It waits while they may be confirmed again.
        const mayReturn = await returningDeposits(transaction, scopeOf(row), currency);
        if (!mayReturn) await settlement.fail(transaction, row, reason);
        return;
      }
      const payment = { merchantId, network, currency, address, amount };
      const txHash = await simulatedChains.pay(transaction, payment);
      await settlement.move(transaction, row, { status: 'processing', tx_hash: txHash });
    });
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
      await settlement.succeed(transaction, row, { txHash: row.tx_hash, networkFee: row.fee });
    });
  }

  /** Pays pending transfers, and ends those that the networks have confirmed or refused. */
  async function advance(signal: AbortSignal): Promise<void> {
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
  }

  return {
    advance,
    jobs: (): readonly Job[] => [{ name: 'transfers', intervalMs: 500, run: advance }],
  };
}
