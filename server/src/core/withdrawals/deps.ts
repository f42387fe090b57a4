/** The dependencies of the rules of withdrawals. */
import type { BankAccounts } from '../bank-accounts/bank-accounts.js';
import type { Network } from '../chains/networks.js';
import type { SimulatedChains } from '../chains/simulated/simulated-chain.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { TransferRow } from '../db/schema.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Merchants } from '../merchants/merchants.js';
import type { Currencies } from '../money/currencies.js';
import type { RateSource } from '../money/rates.js';
import type { Scope } from '../shared/scope.js';
import type { WalletAddresses } from '../wallet-addresses/wallet-addresses.js';
import type { Outbox } from '../webhooks/outbox.js';

/**
 * The reasons why some transfers must not be paid now, by their ids: all code that pays transfers asks before it
 * does. Callers that decide by it in a transaction lock the available balances of their merchants first.
 * @param exportId the export that they are in, if they were reserved before
 */
export type WhyHeld = (
  reader: Reader,
  transfers: readonly TransferRow[],
  exportId?: string,
) => Promise<ReadonlyMap<string, string>>;

export interface WithdrawalsDeps extends RoomDeps {
  readonly currencies: Currencies;
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly walletAddresses: Pick<WalletAddresses, 'find' | 'findByAddress'>;
  readonly bankAccounts: Pick<BankAccounts, 'find'>;
  readonly merchants: Pick<Merchants, 'retrieve' | 'settings'>;
  readonly rates: RateSource;
  readonly simulatedChains: Pick<SimulatedChains, 'pay' | 'confirmations'>;
  /** True if a network is simulated, and pays automatically. On all others, an operator pays. */
  readonly isSimulated: (network: Network) => boolean;
  /** Before an operator ends it in any way: refuses what another room is about to pay. Problem: `invalid_state`. */
  readonly beforeSettle: (reader: Reader, transfer: TransferRow) => Promise<void>;
  /** Before it fails: of each room that sees what merchants' wallets pay. Same problem. */
  readonly beforeFail: (reader: Reader, transfer: TransferRow) => Promise<void>;
  /** Why a transfer must not be paid now, such as for a refund that is not due any more; undefined if nothing is against it. */
  readonly whyNotPaid: (
    reader: Reader,
    transfer: Pick<TransferRow, 'refund_id' | 'merchant_id' | 'mode'>,
  ) => Promise<string | undefined>;
  /** Called with a transfer as it is about to be stored, before anything of the ledger is locked. */
  readonly onTransfer: (transaction: Transaction, row: TransferRow) => Promise<void>;
  /** True if deposits to a merchant that left their blocks may still be confirmed again. */
  readonly returningDeposits: (transaction: Transaction, owner: Scope, currency: string) => Promise<boolean>;
}
