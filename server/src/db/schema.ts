/**
 * The tables, in the portable subset that SQLite and PostgreSQL share: TEXT, BIGINT and INTEGER.
 * Times are epoch milliseconds. Amounts are integers in the smallest unit, stored as text because wei does not fit into
 * 64 bits. JSON is TEXT.
 */
import type { Frequency, LogCode, PaymentState, WebhookEventType } from 'crypto-checkout/contract';
import type { Generated } from 'kysely';
import type { Caller, KeyScope, Mode } from '../shared/scope.js';

export type EpochMs = number;
/** An integer in the smallest unit, as text. */
export type Units = string;

export interface MerchantTable {
  id: string;
  name: string;
  business_name: string;
  /** An https URL, or empty. */
  logo: string;
  /** The service fee in basis points: 100 is 1 %. */
  fee_basis_points: number;
  /** An https or mailto URL, or empty. */
  support_url: string;
  /** The origins that public keys may redirect to, as a JSON array; null if not set. */
  redirect_origins: string | null;
  /** Where transfers may go: to any address, or only to addresses saved for longer than 24 hours. */
  transfers: TransferPolicy;
  /** The most that may be transferred in 24 hours: a JSON object of currency codes and decimal amounts. */
  daily_limits: string;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export type TransferPolicy = 'any' | 'saved';

/** Who changed what an operator or a merchant configured. Rows are never changed or deleted: triggers refuse it. */
export interface AuditLogTable {
  id: Generated<number>;
  /** Real time. */
  time: EpochMs;
  merchant_id: string;
  /** Null for what both modes share. */
  mode: Mode | null;
  /** `key …1a2b`, `command line, user ada`, or `server`. */
  actor: string;
  action: string;
  /** The id of the record that was changed. */
  subject_id: string;
  /** The fields that changed, as JSON objects; null if there were none. Never a secret. */
  before: string | null;
  after: string | null;
}

export interface ApiKeyTable {
  id: string;
  merchant_id: string;
  kind: 'secret' | 'public';
  mode: Mode;
  /** SHA-256 of the whole key, in hex. */
  digest: string;
  /** The key itself; null for secret keys. */
  public_key: string | null;
  last4: string;
  /** What it may do. */
  scope: KeyScope;
  /** Real time; null if it never expires. */
  expires_at: EpochMs | null;
  created_at: EpochMs;
  revoked_at: EpochMs | null;
}

export interface PaymentTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  state: PaymentState;
  /** The kind of key that created it. Each kind has its own references, so that a stranger cannot take the server's. */
  created_by: Caller['kind'];
  tx_ref: string;
  description: string;
  redirect_url: string;
  /** 1 if the page may go to `redirect_url` by itself: the merchant's server chose it, or the merchant allows its origin. */
  is_redirect_trusted: 0 | 1;
  /** The merchant's own keys and values, as a JSON object of strings; null if there are none. */
  metadata: string | null;
  base_currency: string;
  base_amount: Units;
  /** In units of the base currency. */
  transaction_fees: Units;
  fee_basis_points: number;
  /** The codes of the currencies that it may be paid in, as a JSON array; null if all are accepted. */
  accepted_currencies: string | null;
  customer_email: string | null;
  customer_name: string | null;
  customer_phone: string | null;
  currency: string | null;
  network: string | null;
  /** The deposit address and its id, copied from the `addresses` row in use. */
  address_id: string | null;
  address: string | null;
  amount: Units | null;
  fee: Units | null;
  /** The locked rates as JSON: the dollar rates of the paying and the base currency, with their source and time. */
  quote: string | null;
  locked_at: EpochMs | null;
  expires_at: EpochMs;
  cancelled_at: EpochMs | null;
  /** When the payment first succeeded. Stays set if a settled receipt is lost later. */
  settled_at: EpochMs | null;
  /** The wallet of a deposit; null for other payments. */
  wallet_id: string | null;
  /** How many changes were made with a public key in the hour that began at `public_changes_since`. */
  public_changes: number;
  public_changes_since: EpochMs | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export interface LogEntryTable {
  id: Generated<number>;
  payment_id: string;
  time: EpochMs;
  type: 'event' | 'success' | 'error';
  event: string;
  code: LogCode;
  /** The amounts, codes and counts that `event` names, as a JSON object of strings. */
  entry_values: string;
}

/** A deposit address of one payment or wallet. It is never reused for another. */
export interface AddressTable {
  id: string;
  mode: Mode;
  payment_id: string | null;
  wallet_id: string | null;
  currency: string;
  network: string;
  /** As shown to the payer. Unique within a mode, because funds can reach it on every network of its family. */
  address: string;
  /** The address source and the index that it was derived from. */
  source_id: string;
  derivation_index: number;
  created_at: EpochMs;
}

/** A hosted wallet. Its addresses stay watched after its deletion. */
export interface WalletTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  currency: string;
  label: string;
  created_at: EpochMs;
  deleted_at: EpochMs | null;
}

/** A merchant's extended public key for deposit addresses on a family's real networks. */
export interface DepositKeyTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  family: 'bitcoin' | 'litecoin' | 'evm' | 'tron';
  /** As its owner gave it; null if there is a treasury instead. */
  extended_public_key: string | null;
  /** Null: the script type of the key's prefix. */
  script: 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr' | null;
  /** Where the forwarders at the addresses pay to; null if there is an extended key. */
  treasury: string | null;
  /** The address source that the key is: the id in `derivations` and `addresses`. */
  source_id: string;
  created_at: EpochMs;
  /** When another key took its place; null while it is in use. */
  replaced_at: EpochMs | null;
}

/** The next unused child index of each address source. */
export interface DerivationTable {
  source_id: string;
  next_index: number;
}

/** A transfer to one of our addresses, as seen on a chain. */
export interface ReceiptTable {
  id: string;
  payment_id: string;
  merchant_id: string;
  mode: Mode;
  network: string;
  address: string;
  currency: string;
  tx_hash: string;
  /** The index of the output, log or transfer in the transaction. */
  output_index: number;
  amount: Units;
  /** The addresses that it came from, as a JSON array. */
  senders: string;
  /** When we first saw it, or its block's time if that is earlier, on the merchant's clock. */
  first_seen_at: EpochMs;
  block_height: number | null;
  block_hash: string | null;
  /**
   * seen: waits for a block or for confirmations; confirmed: has enough confirmations; dropped: disappeared before it
   * was confirmed; reversed: disappeared after it was confirmed.
   */
  status: 'seen' | 'confirmed' | 'dropped' | 'reversed';
  confirmed_at: EpochMs | null;
  /** How often it was confirmed and then lost. Part of its ledger keys, so that each confirmation is posted once. */
  reversals: number;
  /** 1 if it was moved from unallocated to the merchant's available balance. */
  is_credited: 0 | 1;
  /** Its share of the fee that was taken when it was credited, given back if it is lost; 0 unless credited. */
  credited_fee: Units;
  /** Its value when first seen, in kobo; null if no rate was known. */
  naira_value: Units | null;
  /** The same in cents. */
  dollar_value: Units | null;
  /**
   * The exact worth of one of its units when first seen, in units of the payment's base currency: an integer fraction
   * `numerator/denominator`; null if no rate was known.
   */
  base_rate: string | null;
}

/**
 * What a scan could not process. The network goes on without it, and the scan tries it again when it is due. Either a
 * payment, whose receipts are stored, or a transfer, whose receipt could not be stored.
 */
export interface SetAsideTable {
  mode: Mode;
  network: string;
  /** The id of the payment, or `transaction hash:output index` of the transfer. Unique within a network. */
  id: string;
  /** The payment; null if it is a transfer to a wallet. */
  payment_id: string | null;
  /** The transfer and its block as JSON; null if it is a payment. */
  arrival: string | null;
  /** The message of the last error. */
  reason: string;
  /** How often it failed. */
  tries: number;
  /** Real time. */
  failed_at: EpochMs;
  retry_at: EpochMs;
}

/** How far a network was scanned. */
export interface ChainCursorTable {
  mode: Mode;
  network: string;
  height: number;
  hash: string;
  /** The height of the chain's newest block at the last scan. The scan is that many blocks behind, less `height`. */
  head_height: number;
  /** The lowest block that was ever read. Nothing is known about those below it. */
  first_height: number;
  /** Real time. Everything that was on the chain or pending at this time has been read. */
  synced_at: EpochMs;
  /** Why the last scan failed; null if it did not. */
  problem: string | null;
  /** The process that scans, and when its lease ends (real time). */
  lease_holder: string | null;
  lease_until: EpochMs;
}

/** The last scanned blocks of a network, to find the fork point after a chain reorganisation. */
export interface ScannedBlockTable {
  mode: Mode;
  network: string;
  height: number;
  hash: string;
}

export interface LedgerAccountTable {
  /** `mode/currency/kind[/network][/merchant id][/treasury][/debt]`, unique. */
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
  | 'custody'
  | 'unallocated'
  | 'available'
  | 'reserved'
  | 'fee_income'
  | 'network_fee'
  | 'gas_paid'
  | 'bank_clearing';

export interface LedgerPostingTable {
  id: string;
  /** Unique, so that nothing is posted twice: `receipt:<id>`, `settlement:<payment id>`, `hold:<transfer id>`. */
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
  /** In `idempotency_replies`; empty until the change is done. */
  reply_hash: string;
  created_at: EpochMs;
}

/** The replies of requests with an Idempotency-Key. Equal replies of one path are stored once. */
export interface IdempotencyReplyTable {
  merchant_id: string;
  mode: Mode;
  hash: string;
  /** JSON. Of a payment's lists that only grow, it has the length. */
  reply: string;
  /** When a record last referred to it. */
  created_at: EpochMs;
}

/** A webhook event: one for each change that a merchant is notified of. */
export interface OutboxTable {
  /** Also the `webhook-id`. */
  id: string;
  merchant_id: string;
  mode: Mode;
  type: WebhookEventType;
  /** The record that changed: the id of a payment, transfer, wallet deposit or subscriber. */
  subject_id: string;
  /** Increases with each event of a subject. */
  sequence: number;
  /** The event's `data` as JSON. */
  data: string;
  status: WebhookStatus;
  /** Failed attempts since the event was added or last resent. */
  tries: number;
  /** When the next attempt is due, on the merchant's clock; null unless pending. */
  due_at: EpochMs | null;
  /** The id of the current delivery's claim, and when the claim ends (real time). */
  claim: string | null;
  claimed_until: EpochMs | null;
  created_at: EpochMs;
}

export type WebhookStatus = 'pending' | 'delivered' | 'failed';

/** An attempt to deliver an event. */
export interface WebhookTryTable {
  event_id: string;
  /** Real time. */
  tried_at: EpochMs;
  duration_ms: number;
  /** HTTP status; null if no response came. */
  response_status: number | null;
  /** The start of the response, without secrets. */
  response_excerpt: string;
  /** Why the attempt failed; null if it succeeded. */
  error: string | null;
}

/** The URL that a merchant's webhooks of one mode are sent to. */
export interface WebhookEndpointTable {
  merchant_id: string;
  mode: Mode;
  url: string;
  /** `whsec_…`, in plain text, because events are signed with it. */
  secret: string;
  /** Replaced secrets, newest first: a JSON array of `{secret, until}`. Each also signs until then (real time). */
  former_secrets: string;
  /** When it responded 410 Gone; null while it is enabled. */
  disabled_at: EpochMs | null;
  updated_at: EpochMs;
}

/** A request to withdraw from a balance to a wallet address. */
export interface TransferTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  status: TransferStatus;
  /** Who sends it: the network's signer in the server, or an operator. Never changes. */
  executor: 'signer' | 'operator';
  currency: string;
  network: string;
  amount: Units;
  /** The merchant's fee. Amount and fee are held from the available balance. */
  fee: Units;
  /** The destination, in the network's canonical form. */
  address: string;
  /** The saved address that named the destination, if any. */
  wallet_address_id: string | null;
  /** The signed transaction, stored before it is broadcast. A transfer is never signed twice. */
  signed_transaction: string | null;
  tx_hash: string | null;
  /** Where the coins came from: null for the addresses that payers paid to, or if it was not sent. */
  paid_from: 'treasury' | null;
  /** The network's fee, taken from custody in this currency; null until it is known. */
  network_fee: Units | null;
  failure_reason: string | null;
  /** When it first succeeded. Stays set if it fails later, because the network lost and then refused it. */
  settled_at: EpochMs | null;
  /** When the network confirmed it (real time); null while it is not confirmed, also if it no longer is. */
  confirmed_at: EpochMs | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export type TransferStatus = 'pending' | 'processing' | 'success' | 'failed';

/** A transaction that pays several transfers of a merchant, signed by the merchant's own wallet. */
export interface PsbtTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  network: string;
  currency: string;
  /**
   * open: exported, and not signed yet; sent: signed, and followed until it is confirmed; settled: confirmed; conflicted:
   * another transaction has spent its inputs; discarded: given up.
   */
  state: PsbtState;
  /** The deposit key whose account signs, and the address source that it is. */
  key_id: string;
  source_id: string;
  /** Of the wallet's master key, and the path from there to the account; null if they were not given. */
  fingerprint: string | null;
  account_path: string | null;
  /** The child of the account's change chain that gets what is left; null if nothing was, in any version. */
  change_index: number | null;
  /** No block before this height has its transaction. */
  from_height: number;
  /** The version that was confirmed; null before that. Stays set if the chain drops it later. */
  settled_version: number | null;
  /** When the network confirmed it; null while it is not confirmed, also if it no longer is. Real time, as all times here. */
  confirmed_at: EpochMs | null;
  /** What the operator should know, in a sentence; null if nothing is wrong. */
  problem: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export type PsbtState = 'open' | 'sent' | 'settled' | 'conflicted' | 'discarded';

/** A coin that a PSBT spends. */
export interface PsbtInputTable {
  psbt_id: string;
  position: number;
  mode: Mode;
  network: string;
  tx_hash: string;
  output_index: number;
  amount: Units;
  /** Its address is the account's child `branch/derivation_index`: 0 is receiving, 1 is change. */
  branch: 0 | 1;
  derivation_index: number;
  /** 0 once another PSBT may spend it. */
  is_held: 0 | 1;
}

/** A transfer that a PSBT pays: its output has the same position. */
export interface PsbtTransferTable {
  psbt_id: string;
  position: number;
  transfer_id: string;
  /** 0 once another PSBT may pay it. */
  is_held: 0 | 1;
}

/** A PSBT as it was exported. Later versions pay a higher fee. At most one of them is ever in the chain. */
export interface PsbtVersionTable {
  psbt_id: string;
  /** From 1 on. */
  number: number;
  /** In base64. */
  psbt: string;
  fee: Units;
  virtual_size: number;
  /** "0": there is no change output. Otherwise it is the last one. */
  change_amount: Units;
  /** In hexadecimal digits, stored before it is broadcast; null until it was imported. */
  signed_transaction: string | null;
  /** Known before it is signed, except for p2pkh. */
  tx_hash: string | null;
  /** When it was imported, or seen on the network although it was not; null before. */
  imported_at: EpochMs | null;
  /** The block that it was last seen in. */
  block_hash: string | null;
  block_height: number | null;
  created_at: EpochMs;
}

/** A payout to a wallet address, which a transfer carries out, or to a bank account. */
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
  /** The account number or address, with its middle masked. */
  destination: string;
  transfer_id: string | null;
  /** Only for payouts to banks. Unique within a merchant and mode. */
  reference: string | null;
  tx_hash: string | null;
  failure_reason: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

/** A suspended balance: nothing can be withdrawn from it. */
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
  /** The codes of the currencies that it may be paid in, as a JSON array. */
  currencies: string;
  number_of_times_to_charge: number;
  is_active: 0 | 1;
  /** Cycles due before this time are not charged: the plan was inactive, or did not exist. */
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
  /** The first cycle that is neither charged nor skipped. */
  next_cycle: number;
  /** When billing processes it next; null if there is nothing left to charge. */
  charge_at: EpochMs | null;
  times_charged: number;
  times_paid: number;
  is_active: 0 | 1;
  removed_at: EpochMs | null;
  /** When cycle 0 was due: the anchor of all cycles. */
  created_at: EpochMs;
}

/** A charged cycle. Skipped cycles have no row. */
export interface SubscriberCycleTable {
  subscriber_id: string;
  cycle: number;
  /** The payment that it was charged with, or the one that was paid in its place. */
  payment_id: string;
  outcome: 'open' | 'paid' | 'unpaid';
}

/** Emails are unique within a merchant and mode, whatever their case. */
export interface CustomerTable {
  id: string;
  merchant_id: string;
  mode: Mode;
  /** As given, in its original case. */
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
  /** The bank's name, in countries whose banks are not listed. */
  bank_code: string;
  bank_name: string;
  /** ISO 3166-1 alpha-2 code. */
  country: string;
  currency: string;
  account_name: string;
  archived_at: EpochMs | null;
  created_at: EpochMs;
  updated_at: EpochMs;
}

/** The bank account that payouts go to by default. */
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
  /** Empty if it was saved without a network. */
  network: string;
  /** In canonical form. */
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

/** Lists that have checkpoints. The part after the dot is a filter on the list. */
export type CheckpointedList =
  | 'payments'
  | 'customers'
  | 'customers.allowed'
  | 'customers.blacklisted'
  | 'subscribers'
  | 'subscribers.active'
  | 'subscribers.inactive'
  | 'transfers';

/** A checkpoint: every thousandth row of a merchant's list, counted from the oldest. */
export interface ListCheckpointTable {
  list: CheckpointedList;
  merchant_id: string;
  mode: Mode;
  created_at: EpochMs;
  id: string;
  /** The number of rows up to and including this one. */
  ordinal: number;
}

export interface SettingTable {
  name: string;
  value: string;
}

/** How far a merchant has moved its test clock ahead of real time. No row: not at all. */
export interface TestClockTable {
  merchant_id: string;
  /** Milliseconds ahead of real time. */
  offset_ms: number;
  /** When it was last moved (real time). */
  moved_at: EpochMs;
}

export interface SimulatedBlockTable {
  network: string;
  height: number;
  hash: string;
  parent_hash: string;
  time: EpochMs;
}

/** Up to which block the sweeps and the payments of treasuries were read. Those blocks are final. */
export interface TreasuryCursorTable {
  mode: Mode;
  network: string;
  height: number;
}

/** What a forwarder paid to its treasury, as the chain tells it, whoever made the transaction. */
export interface SweepTable {
  mode: Mode;
  network: string;
  tx_hash: string;
  log_index: number;
  merchant_id: string;
  address: string;
  treasury: string;
  currency: string;
  amount: Units;
  block_height: number;
  block_hash: string;
  /** 1 if its block was dropped. */
  is_reversed: 0 | 1;
  /** How often its block was dropped. Part of its ledger keys. */
  reversals: number;
}

/** What a treasury paid the network for its own sweeps and payouts. */
export interface TreasuryFeeTable {
  mode: Mode;
  network: string;
  tx_hash: string;
  merchant_id: string;
  currency: string;
  amount: Units;
}

/** What a treasury paid to the destination of a transfer. */
export interface TreasuryPaymentTable {
  mode: Mode;
  network: string;
  tx_hash: string;
  output_index: number;
  merchant_id: string;
  treasury: string;
  currency: string;
  address: string;
  amount: Units;
  block_height: number;
  paid_at: EpochMs;
  /** The transfer that it settled; null if it is not known which. */
  transfer_id: string | null;
}

/** A transaction that a gas key signed. Those with the same nonce replace each other. */
export interface GasTransactionTable {
  id: string;
  mode: Mode;
  network: string;
  sender: string;
  nonce: number;
  /** 0, and one more for each replacement. */
  attempt: number;
  tx_hash: string;
  raw: string;
  call_data: string;
  /** How many balances it fetches. */
  addresses: number;
  /** The coin that gas is paid in. */
  currency: string;
  gas_limit: Units;
  /** In wei per gas. */
  max_fee: Units;
  priority_fee: Units;
  /** `open` while a transaction with its nonce may still get into a block. `lost`: another took its nonce. */
  status: 'open' | 'mined' | 'reverted' | 'lost';
  /** What it cost, in units of the coin; null if it is not in a block. */
  cost: Units | null;
  block_height: number | null;
  created_at: EpochMs;
  ended_at: EpochMs | null;
}

export interface SimulatedTransferTable {
  tx_hash: string;
  /** The merchant whose reorg may drop it; null if nobody's may: it is between two merchants. */
  merchant_id: string | null;
  network: string;
  currency: string;
  sender: string;
  address: string;
  amount: Units;
  sent_at: EpochMs;
  /** Null while it is pending. */
  block_height: number | null;
}

export interface Schema {
  merchants: MerchantTable;
  api_keys: ApiKeyTable;
  audit_log: AuditLogTable;
  payments: PaymentTable;
  log_entries: LogEntryTable;
  // Counted by the database, so that each process can read what others have added since.
  addresses: AddressTable & { sequence: Generated<number> };
  wallets: WalletTable;
  deposit_keys: DepositKeyTable;
  derivations: DerivationTable;
  receipts: ReceiptTable;
  set_aside: SetAsideTable;
  chain_cursors: ChainCursorTable;
  scanned_blocks: ScannedBlockTable;
  ledger_accounts: LedgerAccountTable;
  ledger_postings: LedgerPostingTable;
  ledger_entries: LedgerEntryTable;
  idempotency: IdempotencyTable;
  idempotency_replies: IdempotencyReplyTable;
  outbox: OutboxTable;
  webhook_tries: WebhookTryTable;
  webhook_endpoints: WebhookEndpointTable;
  payment_plans: PaymentPlanTable;
  subscribers: SubscriberTable;
  subscriber_cycles: SubscriberCycleTable;
  transfers: TransferTable;
  payouts: PayoutTable;
  psbts: PsbtTable;
  psbt_inputs: PsbtInputTable;
  psbt_transfers: PsbtTransferTable;
  psbt_versions: PsbtVersionTable;
  balance_suspensions: BalanceSuspensionTable;
  list_checkpoints: ListCheckpointTable;
  customers: CustomerTable;
  bank_accounts: BankAccountTable;
  primary_bank_accounts: PrimaryBankAccountTable;
  wallet_addresses: WalletAddressTable;
  primary_wallet_addresses: PrimaryWalletAddressTable;
  settings: SettingTable;
  test_clocks: TestClockTable;
  simulated_blocks: SimulatedBlockTable;
  simulated_transfers: SimulatedTransferTable;
  treasury_cursors: TreasuryCursorTable;
  sweeps: SweepTable;
  treasury_payments: TreasuryPaymentTable;
  treasury_fees: TreasuryFeeTable;
  gas_transactions: GasTransactionTable;
}
