/** Assembles balances, payouts and transfers. The server and the command line both need them. */
import { createBalances } from './balances.js';
import type { WithdrawalsDeps } from './deps.js';
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
  return { balances, payouts, settlement, transfers, testPayer: createTestPayer(deps, settlement) };
}
