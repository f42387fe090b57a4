/** Assembles balances, payouts and transfers. The server and the command line both need them. */
import { createBalances, type Balances } from './balances.js';
import { createPayouts, type Payouts, type PayoutsDeps } from './payouts.js';
import { createSettlement, type Settlement } from './settlement.js';
import { createExecution, type Execution, type ExecutionDeps } from './execution.js';
import { createTransfers, type Transfers, type TransfersDeps } from './transfers.js';
import type { Outbox } from '../webhooks/outbox.js';

export interface Withdrawals {
  readonly balances: Balances;
  readonly payouts: Payouts;
  readonly transfers: Transfers;
  readonly execution: Execution;
  /** For rooms that pay transfers in a way of their own. */
  readonly settlement: Settlement;
}

export type WithdrawalsDeps = Omit<PayoutsDeps, 'balances'> &
  Omit<TransfersDeps, 'balances' | 'settlement'> &
  Pick<ExecutionDeps, 'returningDeposits' | 'signers'> & { readonly outbox: Outbox };

export function createWithdrawals(deps: WithdrawalsDeps): Withdrawals {
  const balances = createBalances(deps);
  const payouts = createPayouts({ ...deps, balances });
  const settlement = createSettlement({ ...deps, payouts });
  return {
    balances,
    payouts,
    transfers: createTransfers({ ...deps, balances, settlement }),
    execution: createExecution({ ...deps, payouts, settlement }),
    settlement,
  };
}
