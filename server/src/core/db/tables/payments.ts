/** Payments, their time logs, deposit addresses and receipts, and the wallets whose deposits are payments. */
import { logValues, paymentFinding, type LogCode, type PaymentState } from 'crypto-checkout/contract';
import { sql, type SqlBool } from 'kysely';
import * as z from 'zod/mini';
import type { Caller, Mode } from '../../shared/scope.js';
import {
  isOpen,
  isPayable,
  mayNeedReview,
  paymentStatusIn,
  paymentStatusOf,
  reviewMark,
} from '../payment-status.js';
import { strings, unitsInJson } from '../codecs.js';
import { kept, namesOwn, ofOwn, own, ownPersonal, type DataPolicy } from '../data-policy.js';
import {
  bigint,
  counter,
  flag,
  acceptedPayments,
  growingTables,
  integer,
  json,
  record,
  reviewIndex,
  setOf,
  table,
  text,
  time,
  units,
  unspentCoins,
  unsweptForwarders,
  rowPart,
} from '../table.js';

/** Everything that a chain shows of a transfer, for every asset and network, with its block if it is in one. */
const quarantinedTransfer = z.object({
  transfer: z.object({
    txHash: z.string(),
    outputIndex: z.number(),
    currency: z.string(),
    senders: strings,
    address: z.string(),
    amount: unitsInJson,
    chainAmount: z.exactOptional(unitsInJson),
    foundAbove: z.exactOptional(z.number()),
  }),
  block: z.optional(z.object({ height: z.number(), hash: z.string(), time: z.number() })),
  /** Real time. */
  seenAt: z.number(),
});

/** A rate as a fraction, with its source and time. */
const storedRate = z.object({ dollars: z.string(), source: z.string(), at: z.number() });

const payersData = ownPersonal({
  columns: { payer: 'replaced', redirect_url: 'text', metadata: 'json' },
  payment: 'id',
  index: 'payer',
});

/** Transfers to wallets that could not be stored yet belong to nobody but the wallet of their address. */
const isToWallet = (merchantId: string) => sql<SqlBool>`payment_id is null and mode = 'test' and exists (
  select 1 from addresses join wallets on wallets.id = addresses.wallet_id
  where wallets.merchant_id = ${merchantId} and wallets.mode = 'test'
  and quarantine.transfer like '%"address":"' || addresses.address || '"%')`;

const quarantined: DataPolicy = {
  wiped: {
    rows: (merchantId) => [namesOwn(merchantId, 'payment_id', 'payments'), isToWallet(merchantId)],
    reads: ['payments', 'wallets', 'addresses'],
  },
};

export const paymentTables = {
  /** A hosted wallet. Its addresses stay watched after its deletion. */
  wallets: table(own, {
    ...record,
    currency: text(),
    label: text(),
    created_at: time(),
    deleted_at: time().nullable(),
  })
    // One for each way to list wallets, newest first. Lists leave out deleted wallets.
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'], { where: sql`deleted_at is null` })
    .index('currency', ['merchant_id', 'mode', 'currency', 'created_at', 'id'], {
      where: sql`deleted_at is null`,
    })
    .index('label', ['merchant_id', 'mode', 'label', 'created_at', 'id'], { where: sql`deleted_at is null` })
    // Finds out if there are any: while there are, every address of the mode is expected to be paid to.
    .index('mode', ['mode'], { since: growingTables }),

  payments: table(payersData, {
    id: text().primaryKey(),
    // No foreign key: it would lock the merchant's row at every insert, and merchants are never deleted.
    merchant_id: text(),
    mode: text<Mode>(),
    state: text<PaymentState>(),
    /** The findings that are true of its money in any state. */
    findings: setOf(paymentFinding.options),
    /** The kind of key that created it. Each kind has its own references, so that a stranger cannot take the server's. */
    created_by: text<Caller['kind']>(),
    tx_ref: text(),
    /** In the normalized form of browsers, encrypted if there is a data key, as the metadata is: db/personal-data.ts. */
    redirect_url: text(),
    /**
     * 1 if the page may go to `redirect_url` automatically: the merchant's server chose it, or the merchant allows
     * its origin.
     */
    is_redirect_trusted: flag(),
    /** The merchant's own keys and values, as a JSON object of strings; null if there are none. */
    metadata: text().nullable(),
    base_currency: text(),
    base_amount: units(),
    fee_basis_points: integer(),
    /** The codes of the currencies that it may be paid in, null if all are accepted. */
    accepted_currencies: json(strings).nullable(),
    /** The description and the payer's email, name and phone number as JSON, encrypted if there is a data key: db/personal-data.ts. */
    payer: text(),
    /** The index that finds the email, in any case; null if there is none. */
    payer_index: text().nullable(),
    currency: text().nullable(),
    network: text().nullable(),
    /** The deposit address and its id, copied from the `addresses` row; null until the lock. */
    address_id: text().nullable(),
    address: text().nullable(),
    amount: units().nullable(),
    fee: units().nullable(),
    /** The locked dollar rates of the paying and the base currency. */
    quote: json(z.object({ asset: storedRate, base: storedRate })).nullable(),
    /**
     * The confirmations that its receipts need, by its amount; null if their blocks must be final, or no currency is
     * set.
     */
    required_confirmations: integer().nullable(),
    locked_at: time().nullable(),
    expires_at: time(),
    cancelled_at: time().nullable(),
    /** When the payment first succeeded. Stays set if a settled receipt is lost later. */
    settled_at: time().nullable(),
    /** When the shop took less than was due, and the sum that counted then; null if it did not. */
    accepted_at: time().nullable().since(acceptedPayments),
    accepted_amount: units().nullable().since(acceptedPayments),
    /** The wallet of a deposit; null for other payments. */
    wallet_id: text().nullable().references('wallets.id'),
    /** The number of changes that were made with a public key in the hour that began at `public_changes_since`. */
    public_changes: integer(),
    public_changes_since: time().nullable(),
    /** Counts the changes of its receipts and its log, so that cached reads of them are repeated only after one. */
    parts_version: integer(),
    created_at: time(),
    updated_at: time(),
  })
    .longList({
      filters: {
        status: (row) => paymentStatusIn(`${row}state`),
        currency: rowPart('currency'),
        network: rowPart('network'),
      },
    })
    .unique('reference', ['merchant_id', 'mode', 'tx_ref', 'created_by'])
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    // One for each filter of the list, in the list's order. Most payments never get to a currency, and many have no email.
    .index('status', ['merchant_id', 'mode', paymentStatusOf, 'created_at', 'id'])
    .index('customer', ['merchant_id', 'mode', 'payer_index', 'created_at', 'id'], {
      where: sql`payer_index is not null`,
    })
    .index('currency', ['merchant_id', 'mode', 'currency', 'created_at', 'id'], {
      where: sql`currency is not null`,
    })
    .index('network', ['merchant_id', 'mode', 'network', 'created_at', 'id'], {
      where: sql`network is not null`,
    })
    // One for all reasons of a review: PostgreSQL locks each index of a table whose row it changes, and keeps 16 locks fast. Its
    // third column is 1 in all rows: without it, SQLite would read the whole list by `newest`, which is narrower.
    .index('review', ['merchant_id', 'mode', reviewMark, 'created_at', 'id', 'findings', 'state'], {
      where: mayNeedReview,
      since: reviewIndex,
    })
    // The deposits to a wallet, which are looked for before it is deleted.
    .index('wallet', ['wallet_id'], { where: sql`wallet_id is not null`, since: growingTables })
    // The sums paid on each day, without the rows.
    .index('paid', ['merchant_id', 'mode', 'settled_at', 'base_currency', 'base_amount'], {
      where: sql`settled_at is not null`,
    })
    // No index begins with the state: SQLite and PostgreSQL would read all open payments by it for the next page of the payable ones.
    .index('expiry', ['expires_at', 'id'], { where: isOpen })
    // Finds payments that wait for money on a network, by merchant: their balances are compared with the books.
    .index('payable', ['mode', 'network', 'merchant_id', 'id'], { where: isPayable })
    // Finds the payments that a merchant's moved test clock has made overdue.
    .index('test_expiry', ['merchant_id', 'expires_at', 'id'], { where: sql`mode = 'test' and ${isOpen}` }),

  log_entries: table(ofOwn({ payment_id: 'payments' }), {
    id: counter(),
    // No foreign key: rows are only written in a transaction that holds the payment's lock, so the payment exists.
    payment_id: text(),
    time: time(),
    type: text<'event' | 'success' | 'error'>(),
    event: text(),
    code: text<LogCode>(),
    /** The amounts, codes and counts that `event` names. */
    entry_values: json(logValues),
  }).index('payment', ['payment_id', 'id']),

  /** A deposit address of one payment or wallet. It is never reused for another. */
  addresses: table(ofOwn({ payment_id: 'payments', wallet_id: 'wallets' }), {
    /** Counted by the database, so that each process can read what others have added since. */
    sequence: counter(),
    id: text().unique(),
    mode: text<Mode>(),
    payment_id: text().nullable().references('payments.id'),
    wallet_id: text().nullable().references('wallets.id'),
    currency: text(),
    network: text(),
    /** In the form shown to the payer. Unique within a mode, because funds can reach it on every network of its family. */
    address: text(),
    /** The address source and the index that it was derived from. */
    source_id: text(),
    derivation_index: integer(),
    created_at: time(),
  })
    // It belongs to a payment or to a wallet, never to both or neither.
    .check('owner', sql`(payment_id is null) <> (wallet_id is null)`)
    .unique('address', ['address', 'mode'])
    // Each address is in one of the two. A payment has one at most.
    .unique('payment', ['payment_id'], { where: sql`payment_id is not null` })
    .unique('wallet', ['wallet_id', 'currency', 'network'], { where: sql`wallet_id is not null` })
    // The round through all addresses of a network.
    .index('round', ['mode', 'network', 'sequence'], { since: unsweptForwarders }),

  /** The next unused child index of each address source. */
  derivations: table(kept('no address is given out twice'), {
    source_id: text().primaryKey(),
    next_index: integer(),
  }),

  /** A transfer to one of our addresses, as seen on a chain. */
  receipts: table(own, {
    id: text().primaryKey(),
    payment_id: text().references('payments.id'),
    merchant_id: text(),
    mode: text<Mode>(),
    network: text(),
    address: text(),
    currency: text(),
    tx_hash: text(),
    /** The index of the output, log or transfer in the transaction. */
    output_index: integer(),
    amount: units(),
    /** The amount in the chain's own decimals, which may be more than the books have. */
    chain_amount: units(),
    /** Null if it was read on the chain; otherwise the balance showed it, and it came in a block above this height. */
    found_above: bigint().nullable(),
    /** The addresses that it came from. */
    senders: json(strings),
    /** When we first saw it, or its block's time if that is earlier, on the merchant's clock. */
    first_seen_at: time(),
    block_height: bigint().nullable(),
    block_hash: text().nullable(),
    /**
     * seen: waits for a block or for confirmations; confirmed: has enough confirmations; dropped: disappeared before it
     * was confirmed; reversed: disappeared after it was confirmed.
     */
    status: text<'seen' | 'confirmed' | 'dropped' | 'reversed'>(),
    confirmed_at: time().nullable(),
    /**
     * The time until which its payment, which it reached in time, waits for it to get into a block, on the merchant's
     * clock: 0 if it is dust. Without end while it is in one.
     */
    awaited_until: time(),
    /**
     * 1 if it is too small to be listed: less than the network's smallest amount, and not a hundredth of the amount
     * due.
     */
    is_dust: flag(),
    /** As its payment's; more if it is worth more, or turned out to be a part of more when it was due. Null: until it is final. */
    required_confirmations: integer().nullable(),
    /** 1 if the last scan found it deep enough, and left it because no second node had confirmed it. */
    awaits_check: flag(),
    /** The block in which two nodes have confirmed it. */
    checked_hash: text().nullable(),
    /**
     * The number of times that it was confirmed and then lost. Part of its ledger keys, so that each confirmation is
     * posted once.
     */
    reversals: integer(),
    /** 1 if it was moved from unallocated to the merchant's available balance. */
    is_credited: flag(),
    /** Its share of the fee that was taken when it was credited, given back if it is lost; 0 unless credited. */
    credited_fee: units(),
    /** Its value when first seen, in kobo; null if no rate was known. */
    naira_value: units().nullable(),
    /** Its value when first seen, in US cents; null if no rate was known. */
    dollar_value: units().nullable(),
    /**
     * The exact worth of one of its units when first seen, in units of the payment's base currency: an integer fraction
     * `numerator/denominator`; null if no rate was known.
     */
    base_rate: text().nullable(),
  })
    .unique('transfer', ['mode', 'network', 'tx_hash', 'output_index'])
    .index('hash', ['merchant_id', 'mode', 'tx_hash'])
    // Holds all that the sums of a payment's receipts need, so that they are read without the rows.
    .index('payment', [
      'payment_id',
      'network',
      'currency',
      'status',
      'is_credited',
      'first_seen_at',
      'awaited_until',
      'amount',
    ])
    // The newest of a payment that are listed, without the dust between them.
    .index('listed', ['payment_id', 'first_seen_at', 'block_height', 'id'], { where: sql`is_dust = 0` })
    .index('open', ['mode', 'network', 'status', 'block_height'])
    // For the sum that an address has received recently, which is computed before more of it counts.
    .index('address', ['address', 'status', 'block_height', 'mode', 'network'])
    // Finds receipts that lost their confirmation, that wait for a second node, or that a balance showed. All are few.
    // The first has more columns than it needs, so that SQLite does not prefer `open`.
    .index('unconfirmed', ['mode', 'network', 'status', 'confirmed_at'], {
      where: sql`status = 'confirmed' and confirmed_at is null`,
      since: growingTables,
    })
    .index('by_balance', ['address'], { where: sql`found_above is not null`, since: growingTables })
    .index('awaiting_check', ['mode', 'network', 'block_height'], {
      where: sql`status = 'seen' and awaits_check = 1`,
    }),

  /**
   * The addresses of treasuries that have money by the books: a receipt adds one, and the sweep of all removes it. Some
   * may be here for nothing, as after a reorganization; none is missing. So no query sums up all receipts ever.
   */
  unswept_forwarders: table(
    own,
    {
      mode: text<Mode>(),
      network: text(),
      merchant_id: text(),
      address: text(),
    },
    unsweptForwarders,
  )
    .primaryKey('mode', 'network', 'address')
    .index('merchant', ['mode', 'network', 'merchant_id', 'address']),

  /**
   * The coins of extended keys on networks of Bitcoin's kind that no confirmed PSBT has spent: a receipt adds one, a settled PSBT its
   * change, and it takes away what it spends. Some may be here for nothing, as after a reorganization; none is missing. So no payout
   * reads all coins that there ever were.
   */
  unspent_coins: table(
    own,
    {
      mode: text<Mode>(),
      network: text(),
      merchant_id: text(),
      /** The address source that its key is of. */
      source_id: text(),
      tx_hash: text(),
      output_index: integer(),
      /** In satoshis, as a number: payouts spend the largest first. */
      amount: bigint(),
      /** Its address is the account's child `branch/derivation_index`: 0 is receiving, 1 is change. */
      branch: integer<0 | 1>(),
      derivation_index: integer(),
    },
    unspentCoins,
  )
    .primaryKey('mode', 'network', 'tx_hash', 'output_index')
    .index('largest', ['mode', 'network', 'merchant_id', 'source_id', 'amount', 'tx_hash', 'output_index']),

  /**
   * Payments and transfers that a scan could not process. The network continues without them, and the scan retries each
   * when it is due. Either a payment, whose receipts are stored, or a transfer, whose receipt could not be stored.
   */
  quarantine: table(quarantined, {
    mode: text<Mode>(),
    network: text(),
    /** The id of the payment, or `transaction hash:output index` of the transfer. Unique within a network. */
    id: text(),
    /** The payment; null if it is a transfer to a wallet. */
    payment_id: text().nullable(),
    /** The transfer and its block; null if it is a payment. */
    transfer: json(quarantinedTransfer).nullable(),
    /** The message of the last error. */
    reason: text(),
    /** The number of times that it failed. */
    tries: integer(),
    /** Real time. */
    failed_at: time(),
    retry_at: time(),
  }).primaryKey('mode', 'network', 'id'),
};
