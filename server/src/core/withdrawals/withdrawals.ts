/** Assembles balances, payouts and transfers. The server and the command line both need them. */
import { createBalances } from './balances.js';
import { createCoverage } from './coverage.js';
import type { WhyHeld, WithdrawalsDeps } from './deps.js';
import { createPayouts } from './payouts.js';
import { createSettlement } from './settlement.js';
import { createTestPayer } from './test-payer.js';
import { createTransfers } from './transfers.js';

export function createWithdrawals(deps: WithdrawalsDeps) {
  const balances = createBalances(deps);
  const payouts = createPayouts(deps, balances);
  /** Rooms that pay transfers in a way of their own use it too. */
  const settlement = createSettlement(deps, payouts);
  const transfers = createTransfers(deps, balances, settlement);
  const coverage = createCoverage(deps);
  const testPayer = createTestPayer(deps, settlement, coverage);
  const whyHeld: WhyHeld = async (reader, rows, exportId) => {
    const reasons = new Map(await coverage.short(reader, rows, exportId));
    for (const row of rows) {
      const reason = reasons.get(row.id) ?? (await deps.whyNotPaid(reader, row));
      if (reason !== undefined) reasons.set(row.id, reason);
    }
    return reasons;
  };
  return { balances, payouts, settlement, transfers, testPayer, whyHeld };
}
