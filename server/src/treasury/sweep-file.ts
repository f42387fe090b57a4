/** Writes the transactions of a planned sweep: as calls, and as a batch for Safe. */
import { transactionsOf, type SweepPlan, type SweepTransaction } from './plan.js';
import { safeBatch } from './safe-batch.js';

/** Ethereum takes no transaction above 16.7 million gas (EIP-7825). */
export const mostBalances = 100;

export interface WrittenSweep {
  readonly transactions: readonly SweepTransaction[];
  readonly safe: ReturnType<typeof safeBatch>;
}

/** @param most balances of one transaction @param now epoch milliseconds */
export function writeSweep(plan: SweepPlan, most: number, now: number): WrittenSweep {
  const transactions = transactionsOf(plan, most);
  return { transactions, safe: safeBatch('Sweep of deposit addresses', plan.chainId, transactions, now) };
}
