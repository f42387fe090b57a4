/** What reconciliation uses, and the networks that it can work on. */
import type { Logger } from 'pino';
import type { Database } from '../db/database.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { ScanSink } from '../scanning/scan.js';
import type { BalanceSource } from '../chains/evm/balances.js';

export interface ReconcileDeps {
  readonly database: Database;
  readonly sink: ScanSink;
  readonly connected: readonly ConnectedNetwork[];
  readonly log: Logger;
  /** Real time, epoch milliseconds. */
  readonly now: () => number;
}

export type Reconciled = ConnectedNetwork & { readonly balances: BalanceSource };
