/** Transfers, payouts and suspended balances. */
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { own } from '../data-policy.js';
import { bigint, growingTables, integer, record, table, text, time, units, rowPart } from '../table.js';

export type TransferStatus = 'pending' | 'processing' | 'success' | 'failed';

export const withdrawalTables = {
  /** A request to withdraw from a balance to a wallet address. */
  transfers: table(own, {
    ...record,
    status: text<TransferStatus>(),
    /** The sender: the simulated network, automatically, or an operator. Never changes. */
    executor: text<'simulator' | 'operator'>(),
    currency: text(),
    network: text(),
    amount: units(),
    /** The merchant's fee. Amount and fee are held from the available balance. */
    fee: units(),
    /** The destination, in the network's canonical form. */
    address: text(),
    /** The saved address that named the destination, if any. */
    wallet_address_id: text().nullable(),
    /** The refund that it pays; null for withdrawals. */
    refund_id: text().nullable().unique(),
    tx_hash: text().nullable(),
    /** The source of the coins: null for the addresses that payers paid to, or if it was not sent. */
    paid_from: text<'treasury'>().nullable(),
    /** The network's fee, taken from custody in this currency; null until it is known. */
    network_fee: units().nullable(),
    failure_reason: text().nullable(),
    /** When it first succeeded. Stays set if it fails later, because the network lost and then refused it. */
    settled_at: time().nullable(),
    /** The number of times that it waited again after it had succeeded. Part of its ledger keys. */
    reversals: integer(),
    /**
     * The newest block that was read when the transfer was made, if no other has replaced it since: earlier payments were for
     * something else. Null if that is unknown.
     */
    from_height: bigint().nullable(),
    /** The transfer that this one has paid once more: the wallet had it twice, and both were mined. Null for all others. */
    pays_again: text().nullable(),
    created_at: time(),
    updated_at: time(),
  })
    .longList({ filters: { status: rowPart('status') } })
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('status', ['merchant_id', 'mode', 'status', 'created_at', 'id'])
    .index('work', ['executor', 'status', 'created_at', 'id'])
    // Payments by a treasury are matched with them.
    .index('destination', ['address', 'network', 'mode']),

  /** A payout to a wallet address, which a transfer carries out, or to a bank account. */
  payouts: table(own, {
    ...record,
    status: text<TransferStatus>(),
    currency: text(),
    amount: units(),
    fee: units(),
    /** Amount and fee as text that sorts like the numbers, in every currency and on both engines. */
    amount_order: text(),
    fee_order: text(),
    bank_account_id: text().nullable(),
    wallet_address_id: text().nullable(),
    /** The account number or address, with its middle masked. */
    destination: text(),
    transfer_id: text().nullable().unique().references('transfers.id'),
    /** Only for payouts to banks. Unique within a merchant and mode. */
    reference: text().nullable(),
    tx_hash: text().nullable(),
    failure_reason: text().nullable(),
    created_at: time(),
    updated_at: time(),
  })
    // A reference can be used for only one payout to a bank. Other payouts have none.
    .unique('reference', ['merchant_id', 'mode', 'reference'])
    // One index for each sort order. Those on status, currency and destination also serve the filters.
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('updated', ['merchant_id', 'mode', 'updated_at', 'created_at', 'id'])
    .index('amount', ['merchant_id', 'mode', 'amount_order', 'created_at', 'id'])
    .index('fee', ['merchant_id', 'mode', 'fee_order', 'created_at', 'id'])
    .index('status', ['merchant_id', 'mode', 'status', 'created_at', 'id'])
    .index('currency', ['merchant_id', 'mode', 'currency', 'created_at', 'id'])
    .index('bank_account', ['merchant_id', 'mode', 'bank_account_id', 'created_at', 'id'])
    .index('wallet_address', ['merchant_id', 'mode', 'wallet_address_id', 'created_at', 'id'])
    // Payouts to banks, for those who carry them out.
    .index('bank', ['merchant_id', 'mode', 'created_at', 'id'], {
      where: sql`transfer_id is null`,
      since: growingTables,
    }),

  /** A suspended balance: nothing can be withdrawn from it. */
  balance_suspensions: table(own, {
    merchant_id: text().references('merchants.id'),
    mode: text<Mode>(),
    currency: text(),
    created_at: time(),
  }).primaryKey('merchant_id', 'mode', 'currency'),
};
