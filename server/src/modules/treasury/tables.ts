/**
 * Money that left deposit addresses of treasuries, payments by treasuries, exported payouts, and the transactions of
 * gas keys.
 */
import { sql } from 'kysely';
import type { Mode } from '../../core/shared/scope.js';
import type { Rows } from '../../core/db/schema.js';
import type { Values } from '../../core/db/values.js';
import { kept, ofOwn, own } from '../../core/db/data-policy.js';
import { bigint, flag, growingTables, integer, table, text, time, units } from '../../core/db/table.js';

export const treasuryTables = {
  /** Up to which block the sweeps and the payments of treasuries were read. Those blocks are final. */
  treasury_cursors: table(kept('of no merchant'), {
    mode: text<Mode>(),
    network: text(),
    height: bigint(),
  }).primaryKey('mode', 'network'),

  /** Payments of forwarders to their treasury, as the chain reports them, by any sender of the transaction. */
  sweeps: table(own, {
    mode: text<Mode>(),
    network: text(),
    tx_hash: text(),
    log_index: integer(),
    merchant_id: text(),
    address: text(),
    treasury: text(),
    currency: text(),
    amount: units(),
    /** The same as the chain counts it. */
    chain_amount: units(),
    block_height: bigint(),
    block_hash: text(),
    /** 1 if its block was dropped. */
    is_reversed: flag(),
    /** The number of times that its block was dropped. Part of its ledger keys. */
    reversals: integer(),
  })
    .primaryKey('mode', 'network', 'tx_hash', 'log_index')
    .index('merchant', ['merchant_id', 'mode', 'network', 'address'])
    .index('address', ['address', 'mode', 'network'])
    .index('height', ['mode', 'network', 'block_height']),

  /**
   * Payments that left a treasury, of any of the merchants that share it, except for gas and payments to another one
   * of their treasuries.
   */
  treasury_payments: table(ofOwn({ transfer_id: 'transfers' }), {
    mode: text<Mode>(),
    network: text(),
    tx_hash: text(),
    output_index: integer(),
    treasury: text(),
    currency: text(),
    /** Empty if a contract sent the coin, and the receiver is unknown. */
    address: text(),
    amount: units(),
    /** 1 if the amount is all of it: the chain can count smaller parts than the books, and then it is no transfer's amount. */
    is_exact: flag(),
    /** The treasury's cost for the transaction, in units of the coin; 0 if someone else paid it. */
    gas: units(),
    /** 0 if the transaction may have paid it, and no node knew. Such a one does not settle anything automatically. */
    is_certain: flag(),
    block_height: bigint(),
    block_hash: text(),
    paid_at: time(),
    /** The transfer that it settled; null if it is not known which. */
    transfer_id: text().nullable(),
    /**
     * 1 while there is a transfer that it may have been for; 0 if there is none: it is reported until someone names
     * its purpose.
     */
    may_settle: flag(),
    /** The purpose that someone has named. Then nothing waits for it any more. */
    note: text().nullable(),
    noted_by: text().nullable(),
    /** Real time. */
    noted_at: time().nullable(),
  })
    .primaryKey('mode', 'network', 'tx_hash', 'output_index')
    .index('open', ['mode', 'network', 'may_settle', 'block_height'], {
      where: sql`transfer_id is null and noted_at is null`,
    })
    .index('transfer', ['transfer_id'])
    .index('height', ['mode', 'network', 'block_height']),

  /**
   * A transfer that was exported for the wallet that pays it. Until it ends, or is released, it is not exported again and
   * cannot fail: the wallet may pay it at any time.
   */
  transfer_exports: table(ofOwn({ transfer_id: 'transfers' }), {
    /** The id of the export: the same for all transfers that were written together. */
    id: text(),
    transfer_id: text().references('transfers.id'),
    /** The person who exported it. */
    actor: text(),
    /** Real time. */
    created_at: time(),
    released_at: time().nullable(),
    /** The used nonce that proved that it cannot be mined any more; null if somebody has decided it. */
    released_nonce: bigint().nullable(),
    /** The account that it was exported for, or handed to since. Null if the merchant has no treasury, or after a restore. */
    account: text().nullable(),
    /**
     * The next nonce of the account when it was exported: no transaction signed for the export has a lower one. Null
     * if it was unknown.
     */
    first_nonce: bigint().nullable(),
    /**
     * When a page was about to ask a wallet in the browser to send it; null if none did, or if the wallet refused. If it is
     * not known which wallet has it, as after a restore, when that was noticed. Real time.
     */
    handed_at: time().nullable(),
    /** The next nonce of the account then: what the wallet has sent has no lower one. Stays if the page says that it has refused. */
    handed_nonce: bigint().nullable(),
    /** The wallet's answer: a transaction hash, or the id of a batch of calls (EIP-5792). Null if it is unknown. */
    wallet_answer: text().nullable(),
  })
    .primaryKey('id', 'transfer_id')
    .unique('held', ['transfer_id'], { where: sql`released_at is null` })
    // Those that a wallet may still send, although they were let go.
    .index('unproven', ['transfer_id'], { where: sql`released_at is not null and released_nonce is null` })
    .index('transfer', ['transfer_id'], { since: growingTables }),

  /** Network fees that a treasury paid for its own sweeps and payouts. */
  treasury_fees: table(own, {
    mode: text<Mode>(),
    network: text(),
    tx_hash: text(),
    merchant_id: text(),
    currency: text(),
    amount: units(),
    /** Its block was dropped. */
    is_reversed: flag(),
    /** The number of times that it was. */
    reversals: integer(),
  }).primaryKey('mode', 'network', 'tx_hash'),

  /** A transaction that a gas key signed. Those with the same nonce replace each other. */
  gas_transactions: table(kept('of the server’s key'), {
    id: text().primaryKey(),
    mode: text<Mode>(),
    network: text(),
    sender: text(),
    nonce: bigint(),
    /** 0, and one more for each replacement. */
    attempt: integer(),
    tx_hash: text().unique(),
    raw: text(),
    call_data: text(),
    /** The number of balances that it fetches. */
    addresses: integer(),
    /** The coin that gas is paid in. */
    currency: text(),
    gas_limit: units(),
    /** In wei per gas. */
    max_fee: units(),
    priority_fee: units(),
    /** `open` while a transaction with its nonce may still get into a block. `lost`: another took its nonce. */
    status: text<'open' | 'mined' | 'reverted' | 'lost'>(),
    /** Its cost, in units of the coin; null if it is not in a block. */
    cost: units().nullable(),
    block_height: bigint().nullable(),
    created_at: time(),
    ended_at: time().nullable(),
  })
    // A nonce is signed once, and then only replaced: two servers with one key never both take it.
    .unique('nonce', ['mode', 'network', 'sender', 'nonce', 'attempt'])
    .index('status', ['status', 'created_at']),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof treasuryTables> {}
}

export type TransferExportTable = Rows<typeof treasuryTables>['transfer_exports'];
/** Rows as their stores give them: db/values.ts. */
type ValuesOf<Name extends keyof typeof treasuryTables> = Values<(typeof treasuryTables)[Name]>;
export type SweepRow = ValuesOf<'sweeps'>;
export type TreasuryPaymentRow = ValuesOf<'treasury_payments'>;
export type TreasuryFeeRow = ValuesOf<'treasury_fees'>;
export type GasTransactionRow = ValuesOf<'gas_transactions'>;
