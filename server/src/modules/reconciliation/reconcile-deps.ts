/** The dependencies of reconciliation, the networks that it can work on, and its results. */
import type { Logger } from 'pino';
import type { Hooks } from '../../core/hooks.js';
import type { Database } from '../../core/db/database.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import type { ScanSink } from '../../core/scanning/scan.js';
import type { BalanceSource } from '../networks/evm/balances.js';

export interface ReconcileDeps {
  readonly database: Database;
  readonly sink: ScanSink;
  readonly connected: readonly ConnectedNetwork[];
  readonly log: Logger;
  readonly hooks: Pick<Hooks, 'onTrouble'>;
  /** Real time, epoch milliseconds. */
  readonly now: () => number;
}

export type Reconciled = ConnectedNetwork & { readonly balances: BalanceSource };

export const refOf = ({ chain: { mode, network } }: Reconciled): NetworkRef => ({ mode, network });

/** The rules of one comparison of a network's balances, and of the actions on differences. */
export interface Pass {
  readonly deps: ReconcileDeps;
  readonly network: Reconciled;
  readonly signal: AbortSignal;
  /** The node not to ask, if there is another. */
  readonly except?: string | undefined;
  /** Up to this block, the balances were what the books say, as far as is known. */
  readonly above: number;
  /** True if dust becomes a receipt too. */
  readonly withDust?: boolean;
}
