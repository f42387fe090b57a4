/** The dependencies of a payment's life. */
import type { ModuleFields, PaymentStatus } from 'crypto-checkout/contract';
import type { DepositAddresses } from '../addresses/deposit-addresses.js';
import type { IsReadable } from '../chains/availability.js';
import type { FindTransfers } from '../chains/find-transfers.js';
import type { Depths } from './depth.js';
import type { Customers } from '../customers/customers.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { MerchantTable, PaymentRow } from '../db/schema.js';
import type { Ledger } from '../ledger/ledger.js';
import type { AuditLog } from '../merchants/audit-log.js';
import type { RateSource } from '../money/rates.js';
import type { DepositTarget } from '../wallets/wallets.js';
import type { Outbox } from '../webhooks/outbox.js';
import type { FactsOf } from './payment-facts.js';
import type { PageUrls } from './view.js';
import type { PersonalData } from '../db/personal-data.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { Actor } from '../shared/scope.js';

export interface ChangedPayment extends Readonly<PaymentRow> {
  readonly status: PaymentStatus;
  /** The kind of key that has just cancelled it; undefined if its status changed in another way. */
  readonly cancelledBy: Actor['kind'] | undefined;
}

/** Called when a payment's status changes, in the same transaction. The payment is locked. */
export type OnStatusChange = (transaction: Transaction, payment: ChangedPayment) => Promise<void>;

export interface PaymentsDeps extends RoomDeps {
  readonly rates: RateSource;
  readonly personalData: PersonalData;
  readonly depths: Depths;
  readonly addresses: DepositAddresses;
  readonly isReadable: IsReadable;
  readonly findTransfers: FindTransfers;
  readonly pageUrls: PageUrls;
  readonly ledger: Ledger;
  readonly auditLog: Pick<AuditLog, 'record'>;
  readonly outbox: Outbox;
  readonly customers: Pick<Customers, 'link'>;
  /** Reads a merchant. The id comes from an API key or a stored record, so the merchant exists. */
  readonly merchant: (reader: Reader, id: string) => Promise<MerchantTable>;
  /** Reads the wallet of a deposit. It cannot be deleted until the transaction ends. */
  readonly wallet: (transaction: Transaction, id: string) => Promise<DepositTarget>;
  readonly onStatusChange: OnStatusChange;
  /** Called once a payment is stored, in the same transaction. It may refuse it. @returns the fields that modules add to its record */
  readonly onCreate: (transaction: Transaction, payment: PaymentRow) => Promise<ModuleFields>;
  /** Called before a payment gets its address. It may refuse. The payment is locked. */
  readonly beforeLock: (transaction: Transaction, payment: PaymentRow) => Promise<void>;
  readonly factsOf: FactsOf;
  readonly times: {
    /** Time to choose a currency, from creation. */
    readonly chooseSeconds: number;
    /** Time to pay, from the lock. */
    readonly paySeconds: number;
  };
  /** The changes per hour that a public key can make to one payment; undefined if there is no limit. */
  readonly publicChangesPerHour: number | undefined;
}
