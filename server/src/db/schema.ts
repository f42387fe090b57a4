/**
 * The tables, in the portable subset that SQLite and PostgreSQL share: TEXT, BIGINT and INTEGER.
 * Times are epoch milliseconds; amounts are integers of the smallest unit written as text, since wei
 * does not fit 64 bits; JSON is TEXT.
 */
import type { Frequency, PaymentState, WebhookEventType } from 'crypto-checkout/contract';
import type { Generated } from 'kysely';
import type { Mode } from '../shared/scope.js';

export type EpochMs = number;
/** An integer of the smallest unit, as text. */
export type Units = string;

export interface MerchantTable {
  id: string;
  name: string;
  business_name: string;
  /** An https URL, or empty. */
  logo: string;
  /** The service fee in basis points: 100 is 1 %. */
  fee_basis_points: number;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export interface ApiKeyTable {
  id: string;
  merchant_id: string;
  kind: 'secret' | 'public';
  mode: Mode;
  /** SHA-256 of the whole key, in hex. */
  digest: string;
  /** The key itself: of public keys alone. */
  public_key: string | null;
  last4: string;
  created_at: EpochMs;
  revoked_at: EpochMs | null;
}

export interface PaymentTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  state: PaymentState;
  tx_ref: string;
  description: string;
  redirect_url: string;
  base_currency: string;
  base_amount: Units;
  /** In units of the base currency. */
  transaction_fees: Units;
  fee_basis_points: number;
  /** The codes it may be paid in, as a JSON array; null where every one may. */
  accepted_currencies: string | null;
  customer_email: string | null;
  customer_name: string | null;
  customer_phone: string | null;
  currency: string | null;
  network: string | null;
  /** The deposit address and its id, a copy of the `addresses` row in use. */
  address_id: string | null;
  address: string | null;
  amount: Units | null;
  fee: Units | null;
  /** The frozen rate as JSON: dollars for one unit of the paying and of the base currency, their source and time. */
  quote: string | null;
  locked_at: EpochMs | null;
  expires_at: EpochMs;
  cancelled_at: EpochMs | null;
  /** When success was first reached. It stays when a settled receipt is lost later. */
  settled_at: EpochMs | null;
  /** The wallet that a deposit came to; null for payments that were asked for. */
  wallet_id: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export interface LogEntryTable {
  id: Generated<number>;
  payment_id: string;
  time: EpochMs;
  type: 'event' | 'success' | 'error';
  event: string;
}

/** A deposit address, of a payment or of a wallet. Never given to a second one. */
export interface AddressTable {
  id: string;
  mode: Mode;
  payment_id: string | null;
  wallet_id: string | null;
  currency: string;
  network: string;
  /** As shown to the payer. Unique within a mode: it may be reached on every network of its family. */
  address: string;
  /** The address source that derived it, and from which index. */
  source_id: string;
  derivation_index: number;
  created_at: EpochMs;
}

/** A hosted wallet; its addresses outlive its deletion. */
export interface WalletTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  currency: string;
  label: string;
  created_at: EpochMs;
  deleted_at: EpochMs | null;
}

/** The next unused child index of each address source. */
export interface DerivationTable {
  source_id: string;
  next_index: number;
}

/** One transfer to one of our addresses, as seen on a chain. */
export interface ReceiptTable {
  id: string;
  payment_id: string;
  merchant_id: string;
  mode: Mode;
  network: string;
  address: string;
  currency: string;
  tx_hash: string;
  /** Which output, log or transfer of the transaction. */
  output_index: number;
  amount: Units;
  /** The addresses it came from, as a JSON array. */
  senders: string;
  /** The earlier of when we saw it and its block's time. */
  first_seen_at: EpochMs;
  block_height: number | null;
  block_hash: string | null;
  /** seen: waiting for a block or for confirmations; confirmed: credited; dropped: gone before that; reversed: gone after. */
  status: 'seen' | 'confirmed' | 'dropped' | 'reversed';
  confirmed_at: EpochMs | null;
  /** How often it was confirmed and then lost; part of its ledger keys, so that each confirmation posts once. */
  reversals: number;
  /** 1 once it was moved from unallocated to the merchant's available balance. */
  is_credited: 0 | 1;
  /** What it was worth when first seen, in units of 2 decimals; null where no rate was known. */
  naira_value: Units | null;
  dollar_value: Units | null;
  /** What it was worth in the payment's base currency when first seen, in units of that currency. */
  base_value: Units | null;
}

/** Where a network's scan stands. */
export interface ChainCursorTable {
  mode: Mode;
  network: string;
  height: number;
  hash: string;
  /** Everything that was on the chain or waiting at this time of the mode's clock has been read. */
  synced_at: EpochMs;
  /** Which process scans, until when (real time). */
  lease_holder: string | null;
  lease_until: EpochMs;
}

/** The last scanned blocks of a network, to walk back over when the chain reorganises. */
export interface ScannedBlockTable {
  mode: Mode;
  network: string;
  height: number;
  hash: string;
}

export interface LedgerAccountTable {
  /** `mode/currency/kind[/network or merchant id][/debt]`, unique. */
  id: string;
  mode: Mode;
  kind: LedgerAccountKind;
  currency: string;
  network: string | null;
  merchant_id: string | null;
  /** Signed integer: debits less credits for custody and network_fee, credits less debits for the others. */
  balance: Units;
}

export type LedgerAccountKind =
  'custody' | 'unallocated' | 'available' | 'reserved' | 'fee_income' | 'network_fee' | 'bank_clearing';

export interface LedgerPostingTable {
  id: string;
  /** What is posted, once: `receipt:<id>`, `settlement:<payment id>`, `hold:<transfer id>`. */
  key: string;
  mode: Mode;
  currency: string;
  payment_id: string | null;
  created_at: EpochMs;
}

export interface LedgerEntryTable {
  posting_id: string;
  account_id: string;
  /** Positive integers; one of the two is "0". */
  debit: Units;
  credit: Units;
}

export interface IdempotencyTable {
  merchant_id: string;
  mode: Mode;
  key_kind: 'secret' | 'public';
  method: string;
  path: string;
  idempotency_key: string;
  payload_hash: string;
  /** The whole JSON reply. */
  reply: string;
  created_at: EpochMs;
}

/** What a merchant is told of, once for each change. */
export interface OutboxTable {
  /** Also the `webhook-id`. */
  id: string;
  merchant_id: string;
  mode: Mode;
  type: WebhookEventType;
  /** Whose change it is: the id of a payment, transfer, wallet deposit or subscriber. */
  subject_id: string;
  /** Rises with each event of a subject. */
  sequence: number;
  /** The event's `data` as JSON. */
  data: string;
  status: WebhookStatus;
  /** Failed ones since the event was first or last asked to be sent. */
  tries: number;
  /** When the next try is due, on the mode's clock; null unless pending. */
  due_at: EpochMs | null;
  /** Who delivers it at the moment, until when (real time). */
  claim: string | null;
  claimed_until: EpochMs | null;
  created_at: EpochMs;
}

export type WebhookStatus = 'pending' | 'delivered' | 'failed';

/** One try to deliver an event. */
export interface WebhookTryTable {
  event_id: string;
  /** Real time. */
  tried_at: EpochMs;
  duration_ms: number;
  /** The answer's HTTP status; null where none came. */
  response_status: number | null;
  /** How the answer began, without anything secret. */
  response_excerpt: string;
  /** Why the try did not deliver; null where it did. */
  error: string | null;
}

/** Where a merchant is told. */
export interface WebhookEndpointTable {
  merchant_id: string;
  url: string;
  /** `whsec_…`, as it is: events are signed with it. */
  secret: string;
  /** Signs beside the new one until its time is over (real time). */
  former_secret: string | null;
  former_secret_until: EpochMs | null;
  /** When it answered 410 Gone; null while events are sent. */
  disabled_at: EpochMs | null;
  updated_at: EpochMs;
}

/** A request to withdraw from a balance to a wallet address. */
export interface TransferTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  status: TransferStatus;
  /** Who sends it, for ever: the server's own signer of the network, or an operator. */
  executor: 'signer' | 'operator';
  currency: string;
  network: string;
  amount: Units;
  /** What the merchant pays for it; both are held from the available balance. */
  fee: Units;
  /** Where to, in the canonical form of the network. */
  address: string;
  /** The saved address that it was given by. */
  wallet_address_id: string | null;
  /** What the signer signed, stored before it is sent. A transfer is never signed again. */
  signed_transaction: string | null;
  tx_hash: string | null;
  /** What the network takes from custody in this currency; null until it is known. */
  network_fee: Units | null;
  failure_reason: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export type TransferStatus = 'pending' | 'processing' | 'success' | 'failed';

/** What is paid out: to a wallet address by a transfer, or to a bank account. */
export interface PayoutTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  status: TransferStatus;
  currency: string;
  amount: Units;
  fee: Units;
  /** Amount and fee as text that sorts like the numbers, in every currency and on both engines. */
  amount_order: string;
  fee_order: string;
  bank_account_id: string | null;
  wallet_address_id: string | null;
  /** Account number or address, its middle masked. */
  destination: string;
  transfer_id: string | null;
  /** Of payouts to banks: unique for each merchant and mode. */
  reference: string | null;
  tx_hash: string | null;
  failure_reason: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

/** A balance that nothing may be taken from. */
export interface BalanceSuspensionTable {
  merchant_id: string;
  mode: Mode;
  currency: string;
  created_at: EpochMs;
}

export interface PaymentPlanTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  plan_name: string;
  frequency: Frequency;
  /** The currency of `amount`. */
  currency: string;
  amount: Units;
  /** The codes that it may be paid in, as a JSON array. */
  currencies: string;
  number_of_times_to_charge: number;
  is_active: 0 | 1;
  /** What was due before is not charged: the plan was off, or did not exist. */
  active_since: EpochMs;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export interface SubscriberTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  plan_id: string;
  customer_id: string;
  /** The first cycle that is neither charged nor passed over. */
  next_cycle: number;
  /** When billing looks at it next; null once nothing more is to be charged. */
  charge_at: EpochMs | null;
  times_charged: number;
  times_paid: number;
  is_active: 0 | 1;
  removed_at: EpochMs | null;
  /** When cycle 0 was due: the anchor of all cycles. */
  created_at: EpochMs;
}

/** A cycle that was charged; a number that is missing was passed over. */
export interface SubscriberCycleTable {
  subscriber_id: string;
  cycle: number;
  payment_id: string;
  outcome: 'open' | 'paid' | 'unpaid';
}

/** One for each email of a merchant and mode, whatever its case. */
export interface CustomerTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  /** As it was given. */
  email: string;
  email_lower: string;
  full_name: string | null;
  phone_number: string | null;
  is_blacklisted: 0 | 1;
  created_at: EpochMs;
}

export interface BankAccountTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  account_number: string;
  /** The name itself, in countries whose banks are not listed. */
  bank_code: string;
  bank_name: string;
  /** Two-letter code. */
  country: string;
  currency: string;
  account_name: string;
  archived_at: EpochMs | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

/** The bank account that a merchant is settled to unless another is named. */
export interface PrimaryBankAccountTable {
  merchant_id: string;
  mode: Mode;
  bank_account_id: string;
}

/** A merchant's own address, saved as a destination for transfers. */
export interface WalletAddressTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  currency: string;
  /** Empty where it was saved without one. */
  network: string;
  /** In its canonical form. */
  address: string;
  label: string | null;
  created_at: EpochMs;
}

export interface PrimaryWalletAddressTable {
  merchant_id: string;
  mode: Mode;
  currency: string;
  network: string;
  wallet_address_id: string;
}

/** Lists that have marks; after the dot, the rows of the list that a filter is for. */
export type CheckpointedList =
  | 'payments'
  | 'customers'
  | 'customers.allowed'
  | 'customers.blacklisted'
  | 'subscribers'
  | 'subscribers.active'
  | 'subscribers.inactive'
  | 'transfers';

/** Every thousandth row of a merchant's list, oldest first. */
export interface ListCheckpointTable {
  list: CheckpointedList;
  merchant_id: string;
  mode: Mode;
  created_at: EpochMs;
  id: string;
  /** How many rows there are up to this one. */
  ordinal: number;
}

export interface SettingTable {
  name: string;
  value: string;
}

export interface SimulatedBlockTable {
  network: string;
  height: number;
  hash: string;
  parent_hash: string;
  time: EpochMs;
}

export interface SimulatedTransferTable {
  tx_hash: string;
  network: string;
  currency: string;
  sender: string;
  address: string;
  amount: Units;
  sent_at: EpochMs;
  /** Null while it waits for a block. */
  block_height: number | null;
}

export interface Schema {
  merchants: MerchantTable;
  api_keys: ApiKeyTable;
  payments: PaymentTable;
  log_entries: LogEntryTable;
  addresses: AddressTable;
  wallets: WalletTable;
  derivations: DerivationTable;
  receipts: ReceiptTable;
  chain_cursors: ChainCursorTable;
  scanned_blocks: ScannedBlockTable;
  ledger_accounts: LedgerAccountTable;
  ledger_postings: LedgerPostingTable;
  ledger_entries: LedgerEntryTable;
  idempotency: IdempotencyTable;
  outbox: OutboxTable;
  webhook_tries: WebhookTryTable;
  webhook_endpoints: WebhookEndpointTable;
  payment_plans: PaymentPlanTable;
  subscribers: SubscriberTable;
  subscriber_cycles: SubscriberCycleTable;
  transfers: TransferTable;
  payouts: PayoutTable;
  balance_suspensions: BalanceSuspensionTable;
  list_checkpoints: ListCheckpointTable;
  customers: CustomerTable;
  bank_accounts: BankAccountTable;
  primary_bank_accounts: PrimaryBankAccountTable;
  wallet_addresses: WalletAddressTable;
  primary_wallet_addresses: PrimaryWalletAddressTable;
  settings: SettingTable;
  simulated_blocks: SimulatedBlockTable;
  simulated_transfers: SimulatedTransferTable;
}
