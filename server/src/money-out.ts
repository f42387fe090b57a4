/** Puts together what pays merchants out; the server and the command line both need it. */
import { createBalances, type Balances } from './balances/balances.js';
import { createPayouts, type Payouts, type PayoutsDependencies } from './payouts/payouts.js';
import { createEndings } from './transfers/endings.js';
import { createExecution, type Execution } from './transfers/execution.js';
import { createTransfers, type Transfers, type TransfersDependencies } from './transfers/transfers.js';
import type { Outbox } from './webhooks/outbox.js';

export interface MoneyOut {
  readonly balances: Balances;
  readonly payouts: Payouts;
  readonly transfers: Transfers;
  readonly execution: Execution;
}

export type MoneyOutDependencies = Omit<PayoutsDependencies, 'balances'> &
  Omit<TransfersDependencies, 'balances' | 'endings'> & { readonly outbox: Outbox };

export function createMoneyOut(dependencies: MoneyOutDependencies): MoneyOut {
  const balances = createBalances(dependencies);
  const payouts = createPayouts({ ...dependencies, balances });
  const endings = createEndings({ ...dependencies, payouts });
  return {
    balances,
    payouts,
    transfers: createTransfers({ ...dependencies, balances, endings }),
    execution: createExecution({ ...dependencies, payouts, endings }),
  };
}
