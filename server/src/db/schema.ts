/**
 * The tables, in the portable subset that SQLite and PostgreSQL share: TEXT, BIGINT and INTEGER.
 * Times are epoch milliseconds; amounts are integers of the smallest unit written as text, since wei
 * does not fit 64 bits; JSON is TEXT.
 */
import type { PaymentState, WebhookEventType } from 'crypto-checkout/contract';
import type { Generated } from 'kysely';

export type Mode = 'test' | 'live';
export type Milliseconds = number;
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
  created_at: Milliseconds;
  updated_at: Milliseconds;
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
  created_at: Milliseconds;
  revoked_at: Milliseconds | null;
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
  locked_at: Milliseconds | null;
  expires_at: Milliseconds;
  cancelled_at: Milliseconds | null;
  /** When success was first reached. It stays when a settled receipt is lost later. */
  settled_at: Milliseconds | null;
  created_at: Milliseconds;
  updated_at: Milliseconds;
}

export interface LogEntryTable {
  id: Generated<number>;
  payment_id: string;
  time: Milliseconds;
  type: 'event' | 'success' | 'error';
  event: string;
}

/** A deposit address. Never given to a second payment. */
export interface AddressTable {
  id: string;
  payment_id: string;
  currency: string;
  network: string;
  /** As shown to the payer; unique, since one address may be reached on several networks of a family. */
  address: string;
  derivation_index: number;
  created_at: Milliseconds;
}

/** The next unused child index of each address family's extended public key. */
export interface DerivationTable {
  family: string;
  next_index: number;
}

/** One transfer to one of our addresses, as seen on a chain. */
export interface ReceiptTable {
  id: string;
  payment_id: string;
  merchant_id: string;
  address: string;
  network: string;
  currency: string;
  tx_hash: string;
  /** Which output, log or transfer of the transaction. */
  output_index: number;
  amount: Units;
  /** The addresses it came from, as a JSON array. */
  senders: string;
  /** The earlier of when we saw it and its block's time. */
  first_seen_at: Milliseconds;
  block_height: number | null;
  block_hash: string | null;
  /** seen: waiting for a block or for confirmations; confirmed: credited; dropped: gone before that; reversed: gone after. */
  status: 'seen' | 'confirmed' | 'dropped' | 'reversed';
  confirmed_at: Milliseconds | null;
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
  network: string;
  height: number;
  hash: string;
  /** Everything that was on the chain or waiting at this time of the mode's clock has been read. */
  synced_at: Milliseconds;
  /** Which process scans, until when (real time). */
  lease_holder: string | null;
  lease_until: Milliseconds;
}

/** The last scanned blocks of a network, to walk back over when the chain reorganises. */
export interface ScannedBlockTable {
  network: string;
  height: number;
  hash: string;
}

export interface LedgerAccountTable {
  /** `kind/currency[/network][/merchant id]`, unique: custody, unallocated, available, reserved, fee_income, … with the mode in front. */
  id: string;
  mode: Mode;
  kind: LedgerAccountKind;
  currency: string;
  network: string | null;
  merchant_id: string | null;
  /** Signed integer: debits less credits for custody, credits less debits for the others. */
  balance: Units;
}

export type LedgerAccountKind =
  'custody' | 'unallocated' | 'available' | 'reserved' | 'fee_income' | 'network_fee' | 'bank_clearing';

export interface LedgerPostingTable {
  id: string;
  /** What is posted, once: `receipt:<id>`, `settlement:<receipt id>`. */
  key: string;
  mode: Mode;
  currency: string;
  payment_id: string | null;
  created_at: Milliseconds;
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
  created_at: Milliseconds;
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
  /** The event's `data` as JSON. */
  data: string;
  created_at: Milliseconds;
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
  time: Milliseconds;
}

export interface SimulatedTransferTable {
  tx_hash: string;
  network: string;
  currency: string;
  sender: string;
  address: string;
  amount: Units;
  sent_at: Milliseconds;
  /** Null while it waits for a block. */
  block_height: number | null;
}

export interface Schema {
  merchants: MerchantTable;
  api_keys: ApiKeyTable;
  payments: PaymentTable;
  log_entries: LogEntryTable;
  addresses: AddressTable;
  derivations: DerivationTable;
  receipts: ReceiptTable;
  chain_cursors: ChainCursorTable;
  scanned_blocks: ScannedBlockTable;
  ledger_accounts: LedgerAccountTable;
  ledger_postings: LedgerPostingTable;
  ledger_entries: LedgerEntryTable;
  idempotency: IdempotencyTable;
  outbox: OutboxTable;
  settings: SettingTable;
  simulated_blocks: SimulatedBlockTable;
  simulated_transfers: SimulatedTransferTable;
}
