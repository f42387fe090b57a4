/** Assembles balances, payouts and transfers. The server and the command line both need them. */
import { createBalances, type Balances } from './balances.js';
import { createPayouts, type Payouts, type PayoutsDeps } from './payouts.js';
import { createSettlement, type Settlement, type SettlementDeps } from './settlement.js';
import { createTestPayer, type TestPayer, type TestPayerDeps } from './test-payer.js';
import { createTransfers, type Transfers, type TransfersDeps } from './transfers.js';

export interface Withdrawals {
  readonly balances: Balances;
  readonly payouts: Payouts;
  readonly transfers: Transfers;
  readonly testPayer: TestPayer;
  /** For rooms that pay transfers in a way of their own. */
  readonly settlement: Settlement;
}

export type WithdrawalsDeps = Omit<PayoutsDeps, 'balances'> &
  Omit<TransfersDeps, 'balances' | 'settlement'> &
  Pick<TestPayerDeps, 'returningDeposits' | 'simulatedChains'> &
  Pick<SettlementDeps, 'outbox' | 'onTransfer'>;

export function createWithdrawals(deps: WithdrawalsDeps): Withdrawals {
  const balances = createBalances(deps);
  const payouts = createPayouts({ ...deps, balances });
  const settlement = createSettlement({ ...deps, payouts });
  return {
    balances,
    payouts,
    transfers: createTransfers({ ...deps, balances, settlement }),
    testPayer: createTestPayer({ ...deps, settlement }),
    settlement,
  };
}
