/** Assembles balances, payouts and transfers. The server and the command line both need them. */
import { createBalances } from './balances.js';
import { createPayouts, type PayoutsDeps } from './payouts.js';
import { createSettlement, type SettlementDeps } from './settlement.js';
import { createTestPayer, type TestPayerDeps } from './test-payer.js';
import { createTransfers, type TransfersDeps } from './transfers.js';

export type WithdrawalsDeps = Omit<PayoutsDeps, 'balances'> &
  Omit<TransfersDeps, 'balances' | 'settlement'> &
  Pick<TestPayerDeps, 'returningDeposits' | 'simulatedChains'> &
  Pick<SettlementDeps, 'outbox' | 'onTransfer'>;

export function createWithdrawals(deps: WithdrawalsDeps) {
  const balances = createBalances(deps);
  const payouts = createPayouts({ ...deps, balances });
  const settlement = createSettlement({ ...deps, payouts });
  return {
    balances,
    payouts,
    transfers: createTransfers({ ...deps, balances, settlement }),
    testPayer: createTestPayer({ ...deps, settlement }),
    /** For rooms that pay transfers in a way of their own. */
    settlement,
  };
}
